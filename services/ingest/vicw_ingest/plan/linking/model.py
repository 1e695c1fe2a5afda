"""Input and output of entity linking for one item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_shared.model import Edge, Node, Sensitivity
from vicw_shared.model.extraction import TextExtraction


@dataclass(frozen=True, slots=True)
class ItemExtraction:
    """An item as stored, with its extraction.

    ``speaker`` and ``previous`` (the previous turn) are None if unknown. ``about`` are the people
    who may see it. ``statements`` are the item's statements that are stored already, by text.
    """

    item: Node
    chunks: Sequence[Node]
    extraction: TextExtraction
    speaker: Node | None = None
    previous: Node | None = None
    about: Sequence[Node] = ()
    statements: Mapping[str, Node] = field(default_factory=dict)

    @property
    def shares_events(self) -> bool:
        """Whether other items may share its events: only if the item is visible without restriction."""
        item = self.item
        return item.sensitivity is Sensitivity.PUBLIC and item.portable and item.expires_at is None and not self.about


@dataclass(slots=True)
class LinkedExtraction:
    """The nodes and edges of one extraction: entities and concepts, attribute slots, events with their time, edges."""

    entities: list[Node] = field(default_factory=list)
    slots: list[Node] = field(default_factory=list)
    events: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
