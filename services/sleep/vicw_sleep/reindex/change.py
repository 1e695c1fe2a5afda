"""Fill an index from the graph, put it into use, and reconcile it with the graph (decision 0009).

After a kill at any point the index in use stays, and the next run continues with the points of the new index.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import batched

import structlog

from vicw_core.index.diff import compare
from vicw_core.index.points import PassagePointBuilder
from vicw_runtime.indexes import Index
from vicw_shared.clock import now, to_us
from vicw_shared.errors import FatalError, RetryableError
from vicw_shared.model import Label
from vicw_shared.ports import ModelChange, ModelIdentity, Passages, PendingPoint, Store
from vicw_shared.progress import Progress
from vicw_sleep.reindex.lock import ChangeLock
from vicw_sleep.reindex.model import ReindexReport
from vicw_sleep.reindex.port import IndexEngine, NewIndex
from vicw_sleep.reindex.rebuild import bring_to_agreement

_log = structlog.get_logger()
_PAGE = 500
_POLL_SECONDS = 0.2
_PAUSE_US = 60_000_000
"""Microseconds for which indexing is paused: the pause ends by itself if its holder is killed."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 15.0


@dataclass(slots=True)
class Reindexer:
    """Brings a ``new`` index to agreement with the graph, and into use."""

    graph: Store
    engine: IndexEngine
    new: NewIndex
    progress: Progress
    timeout_seconds: float = 300.0
    lock_seconds: float = 15.0
    _embedded: int = 0
    _held_until: int = 0
    _target: Index = field(init=False)
    _lock: ChangeLock = field(init=False)
    _point_builder: PassagePointBuilder = field(init=False)

    def __post_init__(self) -> None:
        self._target = self.new.index
        self._lock = ChangeLock(self.graph.record, self.lock_seconds)
        self._point_builder = PassagePointBuilder(self._target.embedder)

    async def run(self) -> ReindexReport:
        """Run the change, or resume it.

        Raises StateConflictError while another run holds the lock, FatalError for faults that need a person,
        RetryableError if an engine is unavailable for longer than ``timeout_seconds``; another run resumes.
        """
        async with self._lock.held():
            used = (await self.graph.record.models()).used
            before = used if used != self._target.model else None
            if before is None:
                await self._lock.set_model(self._target.model)  # an unfinished change to another model is abandoned
            else:
                await self._note(before)
                await self._fill()
                await self._swap(before)
            await self.engine.known()
            until = time.monotonic() + self.timeout_seconds

            async def settle(differing: int) -> None:
                nonlocal until
                if await self._retrying(lambda: self._drain(differing)):
                    until = time.monotonic() + self.timeout_seconds
                elif time.monotonic() > until:
                    raise FatalError(
                        "Some passages were not indexed in time. See the log, then run `vicw reindex` again"
                    )
                await asyncio.sleep(_POLL_SECONDS)

            await self._retrying(lambda: bring_to_agreement(self.graph, self._target, settle))
            passages = await self.graph.audit.count(Label.CHUNK)
        return ReindexReport(self._target.model, before, self._embedded, passages)

    async def _retrying[T](self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of ``work``, which must be repeatable: retryable errors are retried."""
        pause, until = _FIRST_PAUSE_SECONDS, time.monotonic() + self.timeout_seconds
        while True:
            began = time.monotonic()
            try:
                return await work()
            except RetryableError as error:
                if time.monotonic() - began > _LONGEST_PAUSE_SECONDS:  # it made progress
                    pause, until = _FIRST_PAUSE_SECONDS, time.monotonic() + self.timeout_seconds
                if time.monotonic() + pause > until:
                    raise
                _log.warning("reindexing waits for an engine", error=error.detail, pause_seconds=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _fill(self) -> None:
        """Repeat passes until one changes little: the last pass runs while indexing is paused."""
        before = float("inf")
        while self.new.writer.batch < (changed := await self._pass()) < before:
            before = changed

    async def _pass(self, held: ModelIdentity | None = None) -> int:
        """Compare the index with the graph, page by page, and repair differences; return their number.

        A pass stores no bookmark: the next pass finds the work of a killed one done. ``held``: the model in use, whose
        indexing is paused meanwhile.
        """
        total, done, changed, after = await self._retrying(lambda: self.graph.audit.count(Label.CHUNK)), 0, 0, None
        while page := await self._retrying(lambda after=after: self.graph.scan(Passages(), after=after, limit=_PAGE)):  # type: ignore[misc]
            changed += await self._retrying(lambda page=page, done=done: self._mend(page, done, total))  # type: ignore[misc]
            after, done = page[-1].point_id, done + len(page)
            if held is not None and 0 < self._held_until - to_us(now()) < _PAUSE_US // 2:
                await self._note(held, hold=True)
        return changed

    async def _mend(self, page: Sequence[PendingPoint], done: int, total: int) -> int:
        difference, vectors = await compare(page, self._target.vectors), self._target.vectors
        compared = done + len(page) - len(difference.to_embed)
        for part in batched(difference.to_embed, self.new.writer.batch):
            embedded = await self._point_builder.make(part)
            for point, reason in embedded.failed:
                if point.chunk is not None and point.chunk.indexed:
                    raise FatalError(
                        f"Passage {point.point_id} cannot be embedded with {self._target.model.name}: {reason}. "
                        "The index in use has it and stays in use; choose another model"
                    )
            self._require()
            await vectors.upsert([part for parts in embedded.points.values() for part in parts])
            self._embedded += len(embedded.points)
            compared += len(part)
            self.progress("embedding", compared, max(total, compared))
        self._require()
        if difference.stale:
            await vectors.set_payload(
                {uid: payload for stale in difference.stale.values() for uid, payload in stale.items()}
            )
        if difference.unwanted:
            await vectors.delete(difference.unwanted)
        self.progress("embedding", compared, max(total, compared))
        return len(difference.ids)

    def _require(self) -> None:
        self._lock.require()
        self.new.writer.require_room()

    async def _note(self, used: ModelIdentity, *, hold: bool = False) -> None:
        """Record the change; ``hold``: pause indexing for a while, except by this run."""
        until = to_us(now()) + _PAUSE_US if hold else 0
        await self._lock.set_model(used, ModelChange(self._target.model, self.new.source, until))
        if hold:
            await self.engine.known()
        self._held_until = until

    async def _swap(self, used: ModelIdentity) -> None:
        """Put the filled index into use, after a pass with indexing paused has made it complete."""

        async def swap() -> None:
            self._lock.require()  # on each try: one may take longer than the lock lasts
            await self.engine.swap(self.new)

        while to_us(now()) >= self._held_until:  # repeated if the pass outlasted the pause
            await self._note(used, hold=True)
            await self._pass(used)
            await self._retrying(swap)
        await self._lock.set_model(self._target.model)
        _log.info("the new index is in use", model=str(self._target.model))

    async def _drain(self, differing: int) -> int:
        """Index until nothing is due; return the number of settled entries."""
        before = self._embedded

        def count(entries: int) -> None:
            self._lock.require()
            self._embedded += entries
            settled = self._embedded - before
            self.progress("catching up", settled, max(settled, differing))

        await self.new.writer.drain(count)
        return self._embedded - before
