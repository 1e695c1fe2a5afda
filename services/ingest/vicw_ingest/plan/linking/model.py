"""Input and output of entity linking for one item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_shared.model import Edge, Node
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


@dataclass(slots=True)
class LinkedExtraction:
    """The nodes and edges of one extraction: entities and concepts, attribute slots, events with their time, edges."""

    entities: list[Node] = field(default_factory=list)
    slots: list[Node] = field(default_factory=list)
    events: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
