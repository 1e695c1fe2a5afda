"""Indexer: updates the vector index to match the graph.

A batch is claimed from the outbox, embedded, written to the index, and written back: the graph gets the bridges of new
passages, and the entries are settled. Tenants alternate, and two batches are processed at once, so that the embedder
never idles while points are written. A failed batch stays pending and is retried. A passage that fails alone is
postponed and does not block the others of its batch. After ``max_tries`` failures its entry is dead.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog
from prometheus_client import Counter, Gauge

from vicw_core.index.points import PassagePointBuilder, lexical_point, payload_of
from vicw_ingest.index.claims import ClaimedEntries, Lease, Waiter, Waiters
from vicw_ingest.knowledge.bridges.builder import BridgeBuilder
from vicw_ingest.knowledge.bridges.candidates import NewPassage
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.ports import Outbox, PendingKind, PendingPoint, Point
from vicw_shared.telemetry.spans import SpanRole, entry_span
from vicw_shared.telemetry.stages import Stages

_log = structlog.get_logger()
_CONCURRENT_BATCHES = 2
_MAX_PAUSE_SECONDS = 30.0
_IDLE_SECONDS = 5.0
_POLL_SECONDS = 1.0
_FIRST_DELAY_SECONDS = 30.0
_MAX_DELAY_SECONDS = 3600.0
indexing = Stages("index", "Time of an indexing stage")
INDEXED = Counter("vicw_index_points_total", "Outbox entries processed", ["kind"])
FAILURES = Counter("vicw_index_failures_total", "Batches that could not be indexed and stay pending")
RESTING = Counter("vicw_index_passages_failed_total", "Embedding failures of single passages; retried later")
_NEWEST: Final = "livemostrecent"  # the newest value counts: a worker's processes all read one outbox
BACKLOG = Gauge(
    "vicw_index_backlog_points",
    "Passages that the vector store lacks or has an old payload of",
    multiprocess_mode=_NEWEST,
)
FAILING = Gauge("vicw_index_failing_points", "Backlog passages that failed at least once", multiprocess_mode=_NEWEST)
DEAD = Gauge("vicw_index_dead_points", "Passages given up; not counted in the backlog", multiprocess_mode=_NEWEST)


@dataclass(frozen=True, slots=True)
class _WrittenEntries:
    """The entries that the index now matches, and the passages among them that are new in it."""

    entries: Sequence[PendingPoint]
    passages: Sequence[NewPassage]


@dataclass(slots=True)
class Indexer:
    """Index claimed outbox entries: first those that requests wait for, then (with ``everything``) all others.

    Several indexers may run at once, in one process or many: an entry held by one is not claimed by another.
    A passage that the embedder fails on is tried ``max_tries`` times. ``require_room`` raises while the vector store
    has no room to grow; passages then stay pending.
    """

    outbox: Outbox
    indexes: Indexes
    batch: int
    max_tries: int
    lease_seconds: float = 30.0
    everything: bool = True
    require_room: Callable[[], None] = lambda: None
    bridges: BridgeBuilder | None = None
    count_seconds: float = 5.0
    """Minimum seconds between two counts of the queue for the metrics."""
    _waiters: Waiters = field(default_factory=Waiters)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _progress: asyncio.Condition = field(default_factory=asyncio.Condition)
    _settled: int = 0
    _pauses: int = 0
    _counted_at: float = float("-inf")
    _point_builder: PassagePointBuilder | None = None

    async def wake(self) -> None:
        """Wake this indexer for new work. This makes it the WorkQueue of a single process."""
        self._wake.set()

    async def run(self) -> None:
        """Index pending entries forever. The wiring starts this in the background; a worker's task calls ``drain``."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_CONCURRENT_BATCHES):
                group.create_task(self._run())

    async def drain(
        self, on_progress: Callable[[int], None] = lambda settled: None, *, seconds: float = float("inf")
    ) -> bool:
        """Index until no entry is due, or for ``seconds``. Return whether entries may be left.

        ``on_progress`` receives the number of settled entries of each batch. Raises the first error.
        """
        until = time.monotonic() + seconds

        async def work() -> None:
            while time.monotonic() < until and (claim := await self._claim()).points:
                on_progress(await self._index(claim))

        results = await asyncio.gather(*(work() for _ in range(_CONCURRENT_BATCHES)), return_exceptions=True)
        if errors := [result for result in results if result is not None]:
            raise errors[0]
        await self._count()
        return time.monotonic() >= until

    async def discard(self, points: Sequence[str]) -> None:
        """Delete points without a node. A failure is logged: answers omit them, and reconciliation removes them."""
        if not points:
            return
        try:
            await (await self.indexes.write_index()).vectors.delete(points)
        except VicwError as error:
            _log.warning("points are left to the reconciler", points=len(points), error=error.detail)

    async def wait_until_indexed(self, tenant: str, items: Sequence[str], timeout_seconds: float) -> bool:
        """Wake the background loop (``run``), and wait until it has settled the passages of these items.

        The loop claims them before entries that no request waits for; waiting requests alternate. Nothing is indexed
        here: without a running ``run``, this times out, unless another indexer does the work. Passages that another
        indexer holds are awaited, and claimed if it dies. Returns False on timeout, or if all remaining entries are
        dead.
        """
        waiter = Waiter()
        self._waiters.append(waiter)
        ask_at, pause = float("-inf"), _POLL_SECONDS
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_seconds):
                    while True:
                        seen = self._settled  # before the query: a batch that settles during it ends the wait at once
                        unindexed = await self.outbox.count_unindexed(tenant, items)
                        if not unindexed.waiting:
                            return not unindexed.dead
                        if time.monotonic() >= ask_at:
                            waiter.items.update(dict.fromkeys(items))
                            self._wake.set()
                            ask_at, pause = time.monotonic() + pause, 2 * pause
                        await self._progressed(seen)
            return False
        finally:
            self._waiters.remove(waiter)

    async def _progressed(self, seen: int) -> None:
        """Return when more than ``seen`` batches were settled, or after ``_POLL_SECONDS``."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS), self._progress:
                await self._progress.wait_for(lambda: self._settled != seen)

    async def _run(self) -> None:
        while True:
            self._wake.clear()  # before the claim: entries written from now on set it again
            try:
                claim = await self._claim()
                if claim.points:
                    await self._index(claim)
                    self._pauses = 0
            except Exception as error:
                await self._pause(error)
                continue
            await self._count()
            if not claim.points:
                with contextlib.suppress(TimeoutError):  # no event signals that a postponed passage is due
                    await asyncio.wait_for(self._wake.wait(), _IDLE_SECONDS)

    async def _pause(self, error: Exception) -> None:
        self._pauses += 1
        seconds = min(_MAX_PAUSE_SECONDS, 0.125 * 2 ** min(self._pauses, 10))
        level = _log.warning if isinstance(error, VicwError) else _log.error
        level("indexing failed; retried after a pause", error=str(error), pause_seconds=seconds)
        await self._count()
        await asyncio.sleep(seconds)

    async def _count(self) -> None:
        if time.monotonic() - self._counted_at > self.count_seconds:
            self._counted_at = time.monotonic()
            with contextlib.suppress(VicwError):
                backlog = await self.outbox.backlog()
                BACKLOG.set(backlog.waiting)
                FAILING.set(backlog.failing)
                DEAD.set(backlog.dead)

    async def _claim(self) -> ClaimedEntries:
        with indexing("claim"):
            since = time.monotonic()
            points, trace = await self._waiters.claim(self.outbox, self.batch, self.lease_seconds)
            if not points and self.everything:
                since = time.monotonic()
                points = await self.outbox.claim(self.batch, seconds=self.lease_seconds)
        return ClaimedEntries(points, since, trace)

    async def _index(self, claim: ClaimedEntries) -> int:
        """Index and settle a claimed batch. Return the number of settled entries; failed ones become pending again."""
        with entry_span("index.batch", SpanRole.INTERNAL, claim.trace):
            return await self._process(claim)

    async def _process(self, claim: ClaimedEntries) -> int:
        lease = Lease(self.outbox, claim, self.lease_seconds)
        try:
            async with lease.renewed():
                # After the claim: a change of the model relies on this order (docs/decisions/0009).
                index = await self.indexes.acknowledge_index()
                written = await self._write_vectors(claim.points, lease, index)
                await self._write_back(written, index)
        except BaseException:
            FAILURES.inc()
            # Cancelled or failed as a whole: no single passage is at fault, so the held entries become due at once.
            with contextlib.suppress(VicwError):
                await self.outbox.postpone(lease.points, seconds=0)
            raise
        for point in written.entries:
            INDEXED.labels(point.kind.value).inc()
        async with self._progress:
            self._settled += 1
            self._progress.notify_all()
        return len(written.entries)

    async def _write_vectors(self, batch: Sequence[PendingPoint], lease: Lease, index: Index) -> _WrittenEntries:
        """Apply these entries to the index."""
        entries = [point for point in batch if point.kind is not PendingKind.UPSERT]
        upserts = [point for point in batch if point.kind is PendingKind.UPSERT]
        passages: list[NewPassage] = []
        if upserts:
            self.require_room()  # before the work of embedding
            with indexing("embed"):
                points_by_entry = await self._make_points(index, upserts, lease)
            upserts = [point for point in upserts if point.point_id in points_by_entry]
            self.require_room()  # again: embedding takes long
            if (await self.indexes.acknowledge_index()).model != index.model:
                raise UnavailableError("vectors", "another index has taken over meanwhile")
            lease.require()
            with indexing("upsert"):
                await index.vectors.upsert([part for point in upserts for part in points_by_entry[point.point_id]])
            found = [(point, point.item, points_by_entry[point.point_id]) for point in upserts]
            passages = [NewPassage(point, item, points) for point, item, points in found if item is not None]
        await self._apply_changes(batch, lease, index)
        return _WrittenEntries([*entries, *upserts], passages)

    async def _write_back(self, written: _WrittenEntries, index: Index) -> None:
        """Write to the graph what follows from the index: bridges of new passages, and that entries are settled.

        Settled last: after a crash in between, the work is repeated.
        """
        if self.bridges is not None and written.passages:
            with indexing("bridge"):
                await self.bridges.draw(written.passages, index.vectors)
        with indexing("settle"):
            obsolete = await self.outbox.acknowledge(written.entries)
        await self.discard(sorted(obsolete))

    async def _apply_changes(self, batch: Sequence[PendingPoint], lease: Lease, index: Index) -> None:
        """Apply changes that need no embedding: rewrite payloads, drop vectors of light points, delete points."""
        changed = [point for point in batch if point.kind is PendingKind.PAYLOAD and point.item is not None]
        parts = [part for point in changed for part in point.parts if part.chunk is not None]
        light = [lexical_point(part) for part in parts if part.chunk is not None and part.chunk.is_light]
        lightened = {point.id for point in light}
        payloads = {part.point_id: payload_of(part) for part in parts if part.point_id not in lightened}
        deletes = [point.point_id for point in batch if point.kind is PendingKind.DELETE]
        if light and index.model.has_vectors:
            lease.require()
            with indexing("lighten"):
                await index.vectors.upsert(light)
        if payloads:
            lease.require()
            with indexing("payload"):
                await index.vectors.set_payload(payloads)
        if deletes:
            lease.require()
            with indexing("delete"):
                await index.vectors.delete(deletes)

    async def _make_points(self, index: Index, upserts: Sequence[PendingPoint], lease: Lease) -> dict[str, list[Point]]:
        """Return the index's points by entry id. Postpone the entries whose text the embedder fails on."""
        if not index.model.has_vectors:
            return {point.point_id: [] for point in upserts}
        if self._point_builder is None or self._point_builder.embedder is not index.embedder:
            self._point_builder = PassagePointBuilder(index.embedder)
        result = await self._point_builder.make(upserts)
        for point, reason in result.failed:
            await self._postpone(point, reason)
        lease.release({point.point_id for point, _ in result.failed})
        return result.points

    async def _postpone(self, point: PendingPoint, reason: str) -> None:
        if point.tries + 1 >= self.max_tries:
            _log.error("the embedder fails at a passage, which is given up", point=point.point_id, error=reason)
            await self.outbox.postpone([point], seconds=None, error=reason)
            return
        seconds = min(_MAX_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2 ** min(point.tries, 20))
        _log.warning("the embedder fails at a passage", point=point.point_id, error=reason, again_in_seconds=seconds)
        RESTING.inc()
        await self.outbox.postpone([point], seconds=seconds, error=reason)
