"""Outbox port: the points of the vector store that lag behind the graph, and the claims on them.

The graph's transactions write the entries, so none is lost. A worker claims entries with a lease; when the worker dies,
its claim ends with the lease.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from vicw_shared.model import Node
from vicw_shared.ports.term_counts import TermScope


class PendingKind(StrEnum):
    """The write that the vector store still needs for a point."""

    UPSERT = "upsert"
    PAYLOAD = "payload"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class PendingPoint:
    """A claimed entry: a Chunk with an outdated point, its item, and the data of the item's edges.

    One entry yields the Chunk's point and one per statement of it (``parts``): the ``statements`` have points of their
    own, which are written and deleted together with the Chunk's. In a statement's part, ``chunk`` is the statement,
    the node that the point is of, and ``passage`` its Chunk.
    ``about`` holds the names and uids of the item's ABOUT targets, ``tags`` and ``buckets`` the names of its TAGGED
    targets; earlier names are included. ``seq`` is the number of the latest change, ``tries`` counts the failures
    since. For DELETE both nodes are None.
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
    """The Chunk of a statement; None for a Chunk's own entry."""

    @property
    def text_source(self) -> Node:
        """The node with the text's speaker and time: the item, or the passage of a consolidated item."""
        assert self.chunk is not None
        assert self.item is not None
        return (self.passage or self.chunk) if self.item.is_macro else self.item

    @property
    def parts(self) -> tuple[PendingPoint, ...]:
        """Return one entry per point: the Chunk's own, then one per statement, with the statement as ``chunk``."""
        if not self.statements:
            return (self,)
        own = replace(self, statements=())
        return own, *(replace(own, point_id=s.uid, chunk=s, passage=self.chunk) for s in self.statements)


@dataclass(frozen=True, slots=True)
class IndexFailure:
    """An entry that failed ``tries`` times, the first time at ``since``, with the last error.

    ``item`` is its item's uid, ``source_id`` the caller's id of the item. A ``dead`` entry is not retried.
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
    """Counts of the entries that wait, of those that failed at least once, and of dead entries."""

    waiting: int
    failing: int
    dead: int = 0


@dataclass(frozen=True, slots=True)
class UnindexedCounts:
    """Counts of Chunks that wait for the vector store, and of those with a dead entry, which no longer wait."""

    waiting: int
    dead: int


class Outbox(Protocol):
    """Outbox entries of all tenants, at most one per point."""

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingPoint]:
        """Claim up to ``limit`` due entries for ``seconds``: no other claim returns them before that time.

        Tenants are served round-robin, so that a small one does not wait for a large one; the oldest entries of a
        tenant come first. With ``items``, only the passages of these items are claimed, due or backing off after a
        failure, unless already claimed. Dead entries are never claimed.
        """
        ...

    async def renew(self, points: Sequence[PendingPoint], *, seconds: float) -> int:
        """Extend the claims to ``seconds`` from now; return how many of them had not been lost."""
        ...

    async def acknowledge(self, points: Sequence[PendingPoint]) -> set[str]:
        """Acknowledge claimed work: the points are in the vector store, their nodes ``indexed``, their terms counted.

        An entry that has changed since the claim stays and is due at once. Returns the orphaned points, those of
        statements included: a node deleted during the work has no entry that would delete its point, so the caller has
        to.
        """
        ...

    async def postpone(
        self, points: Sequence[PendingPoint], *, seconds: float | None, error: str | None = None
    ) -> None:
        """Release claimed entries; they are due again in ``seconds``. An ``error`` counts as one more failed try.

        ``seconds`` None: they are dead until they change or are replayed.
        """
        ...

    async def count_unindexed(self, tenant: str, item_uids: Sequence[str]) -> UnindexedCounts:
        """Count the Chunks of these items with a missing point or an outdated payload in the vector store."""
        ...

    async def waiting(self, tenant: str, *, contexts: Sequence[str] | None = None, limit: int) -> list[str]:
        """Return up to ``limit`` live Chunks of these contexts, or all, that wait for their points, in no order.

        One look-up in an index, however many wait elsewhere. Outdated payloads do not count: their points are found.
        """
        ...

    async def failures(
        self, tenant: str | None, limit: int, *, items: Sequence[str] | None = None
    ) -> list[IndexFailure]:
        """Return failed entries, dead ones included, most tries first: of one tenant or all, of these items or all."""
        ...

    async def replay(self, points: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        """Make failed entries, dead ones included, due now and reset their tries; return how many.

        Restricted to these points, or all; to one tenant, or all.
        """
        ...

    async def backlog(self, tenant: str | None = None) -> Backlog:
        """Return the backlog of one tenant or all; the counts may be some seconds old."""
        ...

    async def requeue(self, chunk_uids: Sequence[str], kind: PendingKind = PendingKind.UPSERT) -> int:
        """Make the points of these Chunks, or only their payloads (PAYLOAD), pending and due; return how many.

        PAYLOAD does not downgrade a pending full write.
        """
        ...

    async def queued(self, chunk_uids: Sequence[str], *, failing: bool = True) -> set[str]:
        """Return which of these Chunks have an entry; ``failing`` includes failed entries, dead ones too."""
        ...

    async def recount(self, scope: TermScope) -> None:
        """Make the counts of terms of a scope those of its passages, and counts that are kept those of its items."""
        ...

    async def any_indexed(self) -> bool:
        """Return whether any Chunk is in the vector store."""
        ...


class WorkQueue(Protocol):
    """Wakes workers. The work itself is in the outbox, so a lost wake-up loses no work."""

    async def wake(self) -> None:
        """Wake the indexers. Never raises: indexers also poll the outbox."""
        ...
