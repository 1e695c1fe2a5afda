"""An item whose reading is to be stored, and what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_ingest.extraction.model import TextExtraction
from vicw_shared.model import Edge, Node, Sensitivity


@dataclass(frozen=True, slots=True)
class ItemExtraction:
    """An item as it is stored, with what was read in it.

    ``speaker``, ``addressee`` and ``previous``, the item before: None where nobody, or nothing, is known.
    ``statements`` are its sentences that are stored already, by their texts.
    """

    item: Node
    chunks: Sequence[Node]
    extraction: TextExtraction
    speaker: Node | None = None
    addressee: Node | None = None
    previous: Node | None = None
    addressees: Sequence[Node] = ()
    statements: Mapping[str, Node] = field(default_factory=dict)

    @property
    def shares_events(self) -> bool:
        """Tell whether others may see what this item tells of: only then may its events be those of other items."""
        item = self.item
        return (
            item.sensitivity is Sensitivity.PUBLIC and item.portable and item.expires_at is None and not self.addressees
        )


@dataclass(slots=True)
class LinkedExtraction:
    """What is stored of a reading: named things, slots of attributes, events with the time they are of, and edges."""

    named: list[Node] = field(default_factory=list)
    slots: list[Node] = field(default_factory=list)
    events: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
