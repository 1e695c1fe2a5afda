"""Passes over everything: each compares an index with the graph, page by page, and mends what differs.

A pass keeps no place: what a killed one has done is found done by the next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Protocol

import structlog

from vicw_ingest.points import PointMaker
from vicw_shared.comparing import Differences, compare
from vicw_shared.errors import RetryableError
from vicw_shared.indexes import Index
from vicw_shared.model import Label
from vicw_shared.ports import GraphAudit, Outbox, PendingPoint, StoreRecord, VectorStore
from vicw_shared.progress import Progress

_log = structlog.get_logger()
_PAGE = 500
_UNDER_WAY = 2
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 15.0


class Graph(GraphAudit, Outbox, StoreRecord, Protocol):
    """What a new index is made from."""


@dataclass(slots=True)
class Patience:
    """Tries again what fails for a passing reason, for so many ``seconds``."""

    seconds: float

    async def __call__[T](self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what ``work`` does; it must be safe to do twice."""
        pause, until = _FIRST_PAUSE_SECONDS, time.monotonic() + self.seconds
        while True:
            try:
                return await work()
            except RetryableError as error:
                if time.monotonic() + pause > until:
                    raise
                _log.warning("reindexing waits for an engine", error=error.detail, pause_seconds=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


@dataclass(slots=True)
class Pass:
    """What a pass came across. ``failed`` are the passages that the embedder fails at, with its words."""

    passages: int = 0
    points: int = 0
    embedded: int = 0
    changed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)
    """Those of ``failed`` that the index in use has."""


class Filler:
    """Fills an index that nobody else writes to."""

    def __init__(
        self, graph: GraphAudit, index: Index, batch: int, patience: Patience, require: Callable[[], None]
    ) -> None:
        """``require`` raises when nothing may be written any more."""
        self._graph = graph
        self._index = index
        self._batch = batch
        self._patience = patience
        self._require = require
        self._maker = PointMaker(index.embedder)
        self._embedding = asyncio.Semaphore(_UNDER_WAY)

    async def run(self, progress: Progress) -> Pass:
        """Go over all passages, then over all points, and mend what differs."""
        total, done = await self._patience(lambda: self._graph.count(Label.CHUNK)), Pass()

        def report(passages: int) -> None:
            progress("embedding", passages, max(total, passages))

        after: str | None = None
        while page := await self._patience(lambda after=after: self._graph.passages(after=after, limit=_PAGE)):  # type: ignore[misc]
            await self._patience(lambda page=page: self._mend(page, done, report))  # type: ignore[misc]
            after = page[-1].point_id
            done.passages += len(page)
            report(done.passages)
        dropped, done.points = await drop_orphans(self._graph, self._index.vectors, self._patience)
        done.changed += dropped
        return done

    async def _mend(self, page: Sequence[PendingPoint], done: Pass, report: Callable[[int], None]) -> None:
        found = await compare(page, self._index.vectors)
        lacking = [point for point in found.lacking if point.point_id not in done.failed]
        past = done.passages + len(page) - len(lacking)

        async def embed(part: Sequence[PendingPoint]) -> None:
            nonlocal past
            await self._embed(part, done)
            past += len(part)
            report(past)

        parts = batched(lacking, self._batch)
        results = await asyncio.gather(*(embed(part) for part in parts), return_exceptions=True)
        if errors := [result for result in results if result is not None]:
            raise errors[0]
        await self._rewrite(found)
        done.changed += len(found.stale) + len(found.unwanted)

    async def _embed(self, part: Sequence[PendingPoint], done: Pass) -> None:
        async with self._embedding:
            made = await self._maker.make(part)
            self._require()
            await self._index.vectors.upsert([part for parts in made.points.values() for part in parts])
        done.embedded += len(made.points)
        done.changed += len(made.points)
        for point, reason in made.failed:
            done.failed[point.point_id] = reason
            if point.chunk is not None and point.chunk.indexed:
                done.missed.add(point.point_id)

    async def _rewrite(self, found: Differences) -> None:
        self._require()
        if found.stale:
            payloads = {part: payload for stale in found.stale.values() for part, payload in stale.items()}
            await self._index.vectors.set_payload(payloads)
        if found.unwanted:
            await self._index.vectors.delete(found.unwanted)


async def requeue_differences(
    graph: Graph,
    vectors: VectorStore,
    patience: Patience,
    progress: Progress,
    *,
    settled_only: bool,
) -> tuple[Pass, set[str]]:
    """Queue again the passages in which an index that others write to differs; return which they are.

    With ``settled_only`` passages are left out that wait for their points as it is.
    """
    total, done, queued = await patience(lambda: graph.count(Label.CHUNK)), Pass(), set[str]()
    after: str | None = None
    while page := await patience(lambda after=after: graph.passages(after=after, limit=_PAGE)):  # type: ignore[misc]

        async def work(page: Sequence[PendingPoint] = page, after: str | None = after) -> set[str]:
            found = (await compare(page, vectors)).ids
            if settled_only and found:
                # Once more: somebody may have been at work on one between the two looks.
                again = await graph.passages(after=after, limit=_PAGE)
                found &= (await compare(again, vectors)).ids
                found -= await graph.queued(sorted(found))
            if found:
                await graph.requeue(sorted(found))
            return found

        queued |= await patience(work)
        after = page[-1].point_id
        done.passages += len(page)
        progress("verifying" if settled_only else "catching up", done.passages, max(total, done.passages))
    dropped, done.points = await drop_orphans(graph, vectors, patience)
    done.changed = len(queued) + dropped
    return done, queued


async def drop_orphans(graph: GraphAudit, vectors: VectorStore, patience: Patience) -> tuple[int, int]:
    """Remove points without a passage; return how many, and how many points are left."""
    dropped = points = 0
    after: str | None = None
    while page := await patience(lambda after=after: vectors.ids(after=after, limit=2 * _PAGE)):  # type: ignore[misc]

        async def work(page: Sequence[str] = page) -> int:
            orphans = sorted(set(page) - await graph.known(page))
            if orphans:
                await vectors.delete(orphans)
            return len(orphans)

        removed = await patience(work)
        dropped, points = dropped + removed, points + len(page) - removed
        after = page[-1]
    return dropped, points
