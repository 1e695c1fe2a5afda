"""Item views (an item with the data of its edges) and passage changes, for copies outside a store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.model import Node


@dataclass(frozen=True, slots=True)
class ItemView:
    """A live item with the data of its edges.

    ``passages`` are the Chunks that prove it, in uid order; for a Macro-Event those of its summary and of the items it
    consolidates. ``tags`` and ``buckets`` are the names of its TAGGED targets, except those that only another item's
    extraction reported. ``about`` holds the names, earlier names and uids of its ABOUT targets. ``auto_tags`` are the
    names of its AUTO_TAGGED targets, which no caller gave. All names are sorted and distinct.
    """

    item: Node
    passages: tuple[Node, ...] = ()
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    auto_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageChange:
    """The latest change of a Chunk or of its payload data; ``at`` is by the engine's clock.

    Two changes of the same Chunk have different ``seq``. The Chunk may no longer exist.
    """

    uid: str
    at: datetime
    seq: int
