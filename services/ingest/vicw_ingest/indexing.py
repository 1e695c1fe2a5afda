"""The indexer: brings the vector store to what the graph says (design: "Write path").

It works through the graph's pending points in order of arrival, in batches, two of them under way at a time so
that the embedder never idles while points are written. Whatever fails stays pending and is tried again; a passage
that fails alone, while others of its batch do not, rests for a while and holds nobody up.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog
from prometheus_client import Counter, Gauge

from vicw_shared.errors import RetryableError, VicwError
from vicw_shared.payload import payload_of
from vicw_shared.ports import Embedder, GraphStore, Lane, PendingKind, PendingPoint, Point, VectorStore
from vicw_shared.sparse import encode_document
from vicw_shared.wrapper import wrap

_log = structlog.get_logger()
_PAGE_BATCHES = 8
_UNDER_WAY = 2
_MAX_PAUSE_SECONDS = 30.0
_PATIENCE = 3
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


@dataclass(frozen=True, slots=True)
class _Rest:
    until: float
    times: int


@dataclass(slots=True)
class Indexer:
    """Runs until cancelled; ``wake`` it after a write, await ``settled`` for an item's passages.

    ``require_room`` raises while the vector store has no room to grow; passages then stay pending.
    """

    graph: GraphStore
    vectors: VectorStore
    embedder: Embedder
    batch: int
    require_room: Callable[[], None] = lambda: None
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _progress: asyncio.Condition = field(default_factory=asyncio.Condition)
    _failures: int = 0
    _resting: dict[str, _Rest] = field(default_factory=dict)

    def wake(self) -> None:
        """Tell the indexer that there is work."""
        self._wake.set()

    async def run(self) -> None:
        """Index whatever is pending, for ever."""
        while True:
            self._wake.clear()  # before the look: what is written from now on wakes us again
            try:
                done = await self.drain()
            except Exception as error:
                FAILURES.inc()
                self._failures += 1
                pause = min(_MAX_PAUSE_SECONDS, 0.125 * 2 ** min(self._failures, 10))
                level = _log.warning if isinstance(error, VicwError) else _log.error
                level("indexing failed, will be tried again", error=str(error), pause_seconds=pause)
                await asyncio.sleep(pause)
                continue
            self._failures = 0
            if not done:
                await self._wait()

    async def _wait(self) -> None:
        """Return when there is new work, or the first passage has rested enough."""
        soonest = min((rest.until for rest in self._resting.values()), default=None)
        timeout = None if soonest is None else max(0.1, soonest - time.monotonic())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), timeout)

    async def drain(self) -> int:
        """Index one page of pending points; return how many."""
        instant = time.monotonic()
        resting = {point for point, rest in self._resting.items() if rest.until > instant}
        found = await self.graph.pending(self.batch * _PAGE_BATCHES + len(resting))
        page = [point for point in found if point.point_id not in resting]
        BACKLOG.set(await self.graph.waiting() if found else 0)
        batches = [page[start : start + self.batch] for start in range(0, len(page), self.batch)]
        gate = asyncio.Semaphore(_UNDER_WAY)

        async def work(batch: Sequence[PendingPoint]) -> None:
            async with gate:
                await self._index(batch)

        results = await asyncio.gather(*(work(batch) for batch in batches), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return len(page)

    async def settled(self, tenant: str, items: Sequence[str], timeout_seconds: float) -> bool:
        """Wait until every passage of these items is indexed; False if the time is over first."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while True:
                    async with self._progress:
                        if await self.graph.unsettled(tenant, items) == 0:
                            return True
                        await self._progress.wait()
        except TimeoutError:
            return False

    async def _index(self, batch: Sequence[PendingPoint]) -> None:
        upserts = [point for point in batch if point.kind is PendingKind.UPSERT]
        if upserts:
            self.require_room()  # before the work of embedding
            try:
                points = await self._points(upserts)
            except VicwError as error:
                if isinstance(error, RetryableError) and self._failures < _PATIENCE:
                    raise  # the embedder may be away
                points = await self._one_by_one(upserts, error)
                kept = {point.id for point in points}
                batch = [p for p in batch if p.kind is not PendingKind.UPSERT or p.point_id in kept]
            self.require_room()  # embedding took its time
            await self.vectors.upsert(points)
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
        await self.graph.settle([point.seq for point in batch])
        for point in batch:
            INDEXED.labels(point.kind.value).inc()
        async with self._progress:
            self._progress.notify_all()

    async def _points(self, pending: Sequence[PendingPoint]) -> list[Point]:
        texts = [wrapped(point) for point in pending]
        distinct = list(dict.fromkeys(texts))
        rows = dict(zip(distinct, await self.embedder.embed(distinct, Lane.BULK), strict=True))
        points = []
        for point, text in zip(pending, texts, strict=True):
            points.append(Point(point.point_id, rows[text], encode_document(lexical(point)), payload_of(point)))
        return points

    async def _one_by_one(self, pending: Sequence[PendingPoint], error: VicwError) -> list[Point]:
        """Find the text that an embedder fails at, so that it does not hold up the others; it stays pending."""
        points: list[Point] = []
        failed: list[str] = []
        for point in pending:
            try:
                points += await self._points([point])
            except RetryableError:
                failed.append(point.point_id)
                if len(failed) > _PATIENCE and not points:
                    raise  # it is the embedder, not the text
            except VicwError:
                failed.append(point.point_id)
        if not points and isinstance(error, RetryableError):
            raise error
        for point_id in failed:
            self._rest(point_id, error)
        for done in points:
            self._resting.pop(done.id, None)
        return points

    def _rest(self, point_id: str, error: VicwError) -> None:
        times = self._resting[point_id].times + 1 if point_id in self._resting else 1
        seconds = min(_LONGEST_REST_SECONDS, _FIRST_REST_SECONDS * 2 ** (times - 1))
        self._resting[point_id] = _Rest(time.monotonic() + seconds, times)
        _log.warning("the embedder fails at a passage", point=point_id, error=str(error), again_in_seconds=seconds)
