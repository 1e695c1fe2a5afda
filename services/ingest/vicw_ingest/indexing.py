"""The indexer: brings the vector store to what the graph says (design: "Write path").

It claims entries of the outbox, tenants taking turns, and has two batches under way so that the embedder never idles
while points are written. Whatever fails stays pending and is tried again; a passage that fails alone, while
others of its batch do not, rests for a while and holds nobody up.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import structlog
from prometheus_client import Counter, Gauge

from vicw_shared.errors import RetryableError, UnavailableError, VicwError
from vicw_shared.payload import payload_of
from vicw_shared.ports import Embedder, Lane, Outbox, PendingKind, PendingPoint, Point, VectorStore
from vicw_shared.sparse import encode_document
from vicw_shared.wrapper import wrap

_log = structlog.get_logger()
_UNDER_WAY = 2
_MAX_PAUSE_SECONDS = 30.0
_PATIENCE = 3
_ITEMS_AT_ONCE = 256
_LOOK_AGAIN_SECONDS = 5.0
_ASK_AGAIN_SECONDS = 1.0
_FIRST_REST_SECONDS = 30.0
_LONGEST_REST_SECONDS = 3600.0
INDEXED = Counter("vicw_index_points_total", "Points brought to the vector store", ["kind"])
FAILURES = Counter("vicw_index_failures_total", "Batches that could not be indexed and stay pending")
BACKLOG = Gauge("vicw_index_backlog_points", "Passages that the vector store lacks or has an old payload of")


def wrapped(point: PendingPoint) -> str:
    """Return the text that is embedded for a passage."""
    assert point.chunk is not None
    assert point.item is not None
    item = point.item
    return wrap(point.chunk.text or "", domain=item.domain, subtype=item.subtype, name=item.title or item.speaker)


def lexical(point: PendingPoint) -> str:
    """Return the text that BM25 sees of a passage: ``name or speaker: text``."""
    assert point.chunk is not None
    assert point.item is not None
    head = point.item.title or point.item.speaker
    return f"{head}: {point.chunk.text}" if head else point.chunk.text or ""


class _Lease:
    """A claim that is renewed while its holder works, however slow the model is."""

    def __init__(self, outbox: Outbox, points: Sequence[PendingPoint], seconds: float) -> None:
        self._outbox = outbox
        self._points = points
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def require(self) -> None:
        """Raise if the claim has run out: another may have written newer states of these points by now."""
        if time.monotonic() > self._until:
            raise UnavailableError("graph", "the claim on a batch could not be renewed in time")

    @contextlib.asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Renew the claim in the background."""
        task = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            task.cancel()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / 3)
            asked = time.monotonic()
            with contextlib.suppress(VicwError):  # tried again in a moment; ``require`` judges
                await self._outbox.renew(self._points, seconds=self._seconds)
                self._until = asked + self._seconds


@dataclass(slots=True)
class Indexer:
    """Indexes what it claims of the outbox: first what somebody waits for, then (with ``everything``) the rest.

    Several may run at once, in one process or in many: what one holds no other claims. ``require_room`` raises while
    the vector store has no room to grow; passages then stay pending.
    """

    outbox: Outbox
    vectors: VectorStore
    embedder: Embedder
    batch: int
    lease_seconds: float = 30.0
    everything: bool = True
    require_room: Callable[[], None] = lambda: None
    _wanted: deque[str] = field(default_factory=deque)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _progress: asyncio.Condition = field(default_factory=asyncio.Condition)
    _failures: int = 0

    async def wake(self) -> None:
        """Tell this indexer that there is work: it is the WorkQueue of a single process."""
        self._wake.set()

    async def run(self) -> None:
        """Index whatever is pending, for ever."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_UNDER_WAY):
                group.create_task(self._run())

    async def drain(
        self, on_progress: Callable[[int], None] = lambda settled: None, *, seconds: float = float("inf")
    ) -> bool:
        """Index until nothing is due, or for so many ``seconds``; return whether there may be more.

        ``on_progress`` is told how many entries each batch settled. Raises the first error.
        """
        until = time.monotonic() + seconds

        async def work() -> None:
            while time.monotonic() < until and (batch := await self._claim()):
                on_progress(await self._index(batch))

        results = await asyncio.gather(*(work() for _ in range(_UNDER_WAY)), return_exceptions=True)
        if errors := [result for result in results if result is not None]:
            raise errors[0]
        return time.monotonic() >= until

    async def finish(self, tenant: str, items: Sequence[str], timeout_seconds: float) -> bool:
        """Wait for these items' passages, ahead of all that nobody waits for; False if the time is over first.

        Passages that another indexer holds are waited for, and claimed should it die.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                while await self.outbox.unsettled(tenant, items):
                    self._wanted.extend(items)
                    self._wake.set()
                    await self._progressed(tenant, items)
                return True
        return False

    async def _progressed(self, tenant: str, items: Sequence[str]) -> None:
        """Return when all is settled or it is time to ask for these items again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ASK_AGAIN_SECONDS), self._progress:
                while await self.outbox.unsettled(tenant, items):
                    await self._progress.wait()

    async def _run(self) -> None:
        while True:
            self._wake.clear()  # before the look: what is written from now on wakes us again
            try:
                batch = await self._claim()
                if batch:
                    await self._index(batch)
                    self._failures = 0
            except Exception as error:
                await self._pause(error)
                continue
            if not batch:
                with contextlib.suppress(TimeoutError):  # a passage that has rested wakes nobody
                    await asyncio.wait_for(self._wake.wait(), _LOOK_AGAIN_SECONDS)

    async def _pause(self, error: Exception) -> None:
        self._failures += 1
        seconds = min(_MAX_PAUSE_SECONDS, 0.125 * 2 ** min(self._failures, 10))
        level = _log.warning if isinstance(error, VicwError) else _log.error
        level("indexing failed, will be tried again", error=str(error), pause_seconds=seconds)
        await asyncio.sleep(seconds)

    async def _claim(self) -> list[PendingPoint]:
        while self._wanted:
            items = [self._wanted.popleft() for _ in range(min(len(self._wanted), _ITEMS_AT_ONCE))]
            batch = await self.outbox.claim(self.batch, seconds=self.lease_seconds, items=items)
            if len(batch) == self.batch:
                self._wanted.extendleft(reversed(items))  # there may be more of these
            if batch:
                return batch
        if not self.everything:
            return []
        batch = await self.outbox.claim(self.batch, seconds=self.lease_seconds)
        if batch:
            BACKLOG.set((await self.outbox.backlog()).waiting)
        return batch

    async def _index(self, batch: Sequence[PendingPoint]) -> int:
        """Index a claimed batch and settle it; return how many of it were. What fails is pending again."""
        lease = _Lease(self.outbox, batch, self.lease_seconds)
        try:
            async with lease.kept():
                done = await self._write(batch, lease)
        except BaseException:
            FAILURES.inc()
            # Cancelled or failed as a whole: no passage's own fault, so none of them rests.
            with contextlib.suppress(VicwError):
                await self.outbox.postpone(batch, seconds=0)
            raise
        await self.outbox.settle(done)
        for point in done:
            INDEXED.labels(point.kind.value).inc()
        async with self._progress:
            self._progress.notify_all()
        return len(done)

    async def _write(self, batch: Sequence[PendingPoint], lease: _Lease) -> list[PendingPoint]:
        """Bring the vector store to what these entries say; return those that it now agrees with."""
        done = [point for point in batch if point.kind is not PendingKind.UPSERT]
        upserts = [point for point in batch if point.kind is PendingKind.UPSERT]
        if upserts:
            self.require_room()  # before the work of embedding
            points = await self._embed(upserts)
            self.require_room()  # embedding took its time
            lease.require()
            await self.vectors.upsert(list(points.values()))
            done += [point for point in upserts if point.point_id in points]
        payloads = {
            point.point_id: payload_of(point)
            for point in batch
            if point.kind is PendingKind.PAYLOAD and point.chunk is not None and point.item is not None
        }
        if payloads:
            await self.vectors.set_payload(payloads)
        deletes = [point.point_id for point in batch if point.kind is PendingKind.DELETE]
        if deletes:
            await self.vectors.delete(deletes)
        return done

    async def _embed(self, pending: Sequence[PendingPoint]) -> dict[str, Point]:
        """Return the points by id, without those of passages that the embedder fails at; these rest."""
        try:
            return await self._points(pending)
        except VicwError as error:
            if isinstance(error, RetryableError) and self._failures < _PATIENCE:
                raise  # the embedder may be away
            return await self._one_by_one(pending, error)

    async def _points(self, pending: Sequence[PendingPoint]) -> dict[str, Point]:
        texts = [wrapped(point) for point in pending]
        distinct = list(dict.fromkeys(texts))
        rows = dict(zip(distinct, await self.embedder.embed(distinct, Lane.BULK), strict=True))
        return {
            point.point_id: Point(point.point_id, rows[text], encode_document(lexical(point)), payload_of(point))
            for point, text in zip(pending, texts, strict=True)
        }

    async def _one_by_one(self, pending: Sequence[PendingPoint], error: VicwError) -> dict[str, Point]:
        """Find the text that an embedder fails at, so that it does not hold up the others; it stays pending."""
        points: dict[str, Point] = {}
        failed: list[tuple[PendingPoint, str]] = []
        for point in pending:
            try:
                points |= await self._points([point])
            except VicwError as failure:
                failed.append((point, str(failure)))
                if isinstance(failure, RetryableError) and len(failed) > _PATIENCE and not points:
                    raise  # it is the embedder, not the text
        if not points and isinstance(error, RetryableError):
            raise error
        for point, reason in failed:
            await self._rest(point, reason)
        return points

    async def _rest(self, point: PendingPoint, reason: str) -> None:
        seconds = min(_LONGEST_REST_SECONDS, _FIRST_REST_SECONDS * 2 ** min(point.tries, 20))
        _log.warning("the embedder fails at a passage", point=point.point_id, error=reason, again_in_seconds=seconds)
        await self.outbox.postpone([point], seconds=seconds, error=reason)
