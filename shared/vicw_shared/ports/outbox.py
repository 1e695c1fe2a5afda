"""The port to the outbox: which points of the vector store lag behind the graph, and who works on them.

Its entries are written by the graph's transactions, so none is lost. Work on one is a claim with a lease: whoever
holds it and dies loses it when the lease is over (design: "Write path").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from vicw_shared.model import Node


class PendingKind(StrEnum):
    """What the vector store still lacks of a point."""

    UPSERT = "upsert"
    PAYLOAD = "payload"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class PendingPoint:
    """A claimed entry: a Chunk whose point lags behind, its item, and what the item's edges say of it.

    The Chunk's ``statements`` have points of their own, which are made, rewritten and missed together with its own.
    ``about`` are the names and uids of the item's ABOUT targets, ``tags`` and ``buckets`` the names of its TAGGED
    targets; names that they had before are among them. ``seq`` is that of the latest change, ``tries`` counts the
    failures since. For DELETE both nodes are None.
    """

    seq: int
    point_id: str
    kind: PendingKind
    chunk: Node | None
    item: Node | None
    about: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    tries: int = 0
    statements: tuple[Node, ...] = ()
    passage: Node | None = None
    """The Chunk that a statement is of; a Chunk's own is itself."""

    @property
    def told(self) -> Node:
        """What tells how the text came about: the item; of a consolidated item its passage, which keeps that."""
        assert self.chunk is not None
        assert self.item is not None
        return (self.passage or self.chunk) if self.item.is_macro else self.item

    @property
    def parts(self) -> tuple[PendingPoint, ...]:
        """Return one for each point: the Chunk's own, then those of its statements, with the statement as ``chunk``."""
        if not self.statements:
            return (self,)
        own = replace(self, statements=())
        return own, *(replace(own, point_id=said.uid, chunk=said, passage=self.chunk) for said in self.statements)


@dataclass(frozen=True, slots=True)
class IndexFailure:
    """An entry that failed ``tries`` times since an instant, with the last error.

    ``item`` is its item's uid, ``source_id`` the caller's id of it. What is ``dead`` is tried no more.
    """

    point_id: str
    tenant: str
    context: str
    item: str
    source_id: str | None
    tries: int
    error: str
    since: datetime
    dead: bool


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many points lag behind, how many of those have failed at least once, and how many are dead besides."""

    waiting: int
    failing: int
    dead: int = 0


@dataclass(frozen=True, slots=True)
class Unsettled:
    """How many Chunks still wait for the vector store, and how many wait no more: dead entries."""

    waiting: int
    dead: int


class Outbox(Protocol):
    """The entries of all tenants. A point has one at most."""

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingPoint]:
        """Return due entries and hold them for ``seconds``: no other claim returns them before.

        Tenants take turns, so that a small one does not wait for a large one; in each the oldest come first. With
        ``items`` only the passages of these items are claimed, due or resting after a failure, if nobody holds them.
        What is dead is never claimed.
        """
        ...

    async def renew(self, points: Sequence[PendingPoint], *, seconds: float) -> int:
        """Hold claimed entries for ``seconds`` from now; return how many of them the caller still held."""
        ...

    async def settle(self, points: Sequence[PendingPoint]) -> set[str]:
        """Acknowledge claimed work: the points are in the vector store, the nodes they stand for ``indexed``.

        An entry that has changed since it was claimed stays, and is due at once. Returns the points, those of
        statements among them, that stand for nothing any more: what went while somebody was at work on it has no entry
        that would remove them, so whoever has written them has to.
        """
        ...

    async def postpone(
        self, points: Sequence[PendingPoint], *, seconds: float | None, error: str | None = None
    ) -> None:
        """Give claimed entries back; they are due in ``seconds``. With an ``error`` that is one more failed try.

        None: they are dead, until they change or are replayed.
        """
        ...

    async def unsettled(self, tenant: str, item_uids: Sequence[str]) -> Unsettled:
        """Return how many Chunks of these items the vector store lacks or has an old payload of."""
        ...

    async def failures(
        self, tenant: str | None, limit: int, *, items: Sequence[str] | None = None
    ) -> list[IndexFailure]:
        """Return entries that have failed, most tries first: of a tenant or of all, of these items or of all."""
        ...

    async def replay(self, points: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        """Make entries that have failed, dead ones too, due now and their tries forgotten; return how many.

        These points, or all there are; of a tenant, or of all.
        """
        ...

    async def backlog(self, tenant: str | None = None) -> Backlog:
        """Return what waits, of a tenant or of all; figures that may be some seconds old."""
        ...

    async def requeue(self, chunk_uids: Sequence[str], kind: PendingKind = PendingKind.UPSERT) -> int:
        """Make the points of these Chunks, or their payloads (PAYLOAD), pending and due; return how many.

        A point that waits to be made as a whole goes on waiting for that.
        """
        ...

    async def queued(self, chunk_uids: Sequence[str], *, failing: bool = True) -> set[str]:
        """Return which of these Chunks have an entry, with those whose entry has failed, dead ones too, or without."""
        ...

    async def any_indexed(self) -> bool:
        """Tell whether any Chunk is in the vector store."""
        ...
