"""The port to items with all that a reader wants, and to what has changed of them: for copies outside a store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.model import Node


@dataclass(frozen=True, slots=True)
class ItemView:
    """A live item and what its edges say of it.

    ``passages`` are the Chunks that prove it, in the order of their uids; those of a Macro-Event are its summary's and
    those of what it stands for. ``tags`` and ``buckets`` are the names of its TAGGED targets, but of those that only
    another item told of; ``about`` the names, earlier names and uids of its ABOUT targets. All of them are in order,
    each once. ``auto_tags`` are those of its AUTO_TAGGED targets, which nobody gave.
    """

    item: Node
    passages: tuple[Node, ...] = ()
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    auto_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageChange:
    """The latest change of a Chunk, or of what its payload says: ``at`` by the engine's clock.

    ``seq`` differs from change to change of one Chunk. The Chunk may be gone.
    """

    uid: str
    at: datetime
    seq: int
