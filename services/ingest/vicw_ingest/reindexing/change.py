"""The change of a store's model: fill the other index, let it join, swap, let the old one leave.

Killed at any point, the index in use goes on, and the next run takes up from what the other index has by then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import batched

import structlog

from vicw_ingest.indexing import Indexer
from vicw_ingest.reindexing.lock import ChangeLock
from vicw_ingest.reindexing.passes import Filler, Graph, Pass, Patience, requeue_differences
from vicw_shared.errors import FatalError, UnavailableError
from vicw_shared.indexes import Index
from vicw_shared.ports import ChangePhase, ModelChange, ModelIdentity
from vicw_shared.progress import Progress

_log = structlog.get_logger()
_ROUNDS = 10
_TURN_SECONDS = 2.0
_LOOK_SECONDS = 0.2
_MOST_FAILURES = 10_000
_PART = 1000


async def _nothing(_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What is particular to where the stores are.

    ``everybody_knows`` returns when all that write or read vectors act on what the record said when it was called.
    ``swap`` lets whoever does not read the record find the new index; ``swapped`` is told of what has to be kept of
    the change before it is over. Both may run twice.
    """

    everybody_knows: Callable[[], Awaitable[None]]
    swap: Callable[[Index], Awaitable[None]] = _nothing
    swapped: Callable[[ModelChange], Awaitable[None]] = _nothing


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What was done: passages ``embedded`` by this run; ``passages`` and ``points`` there are in the end.

    ``before`` is the model that was in use, None if it still is.
    """

    model: ModelIdentity
    before: ModelIdentity | None
    embedded: int
    passages: int
    points: int


@dataclass(slots=True)
class Reindex:
    """Brings ``target`` to agreement with the graph, and into use. ``indexer`` writes to all that has to be written.

    ``source`` is what the setting of the model has to say for the new one, where that is not its name.
    """

    graph: Graph
    target: Index
    indexer: Indexer
    steps: Steps
    progress: Progress
    source: str | None = None
    patience_seconds: float = 300.0
    _embedded: int = 0
    _failed: set[str] = field(default_factory=set)
    _patience: Patience = field(init=False)
    _lock: ChangeLock = field(init=False)

    def __post_init__(self) -> None:
        self._patience = Patience(self.patience_seconds)
        self._lock = ChangeLock(self.graph)

    async def run(self) -> Reindexed:
        """Do it, or what is left of it.

        Raises ConflictError while another is at work, FatalError where a person has to look, RetryableError when an
        engine is away for longer than ``patience_seconds``; run again, it goes on.
        """
        async with self._lock.held():
            await self._end_last()
            models = await self.graph.models()
            if models.used is None or models.used == self.target.model:
                await self._lock.set_model(self.target.model)  # another change is given up
                await self.steps.everybody_knows()
                last = await self._catch_up()
                if models.rebuilding is not None and not await self._failing():
                    await self.graph.clear_rebuilding(models.rebuilding)
                return Reindexed(self.target.model, None, self._embedded, last.passages, last.points)
            if self.target.model not in models.written:
                await self._note(models.used, ChangePhase.BUILDING)
                await self._fill()
                await self._note(models.used, ChangePhase.JOINING)
            await self.steps.everybody_knows()
            last = await self._catch_up()
            await self._swap(models.used)
            return Reindexed(self.target.model, models.used, self._embedded, last.passages, last.points)

    async def _note(self, used: ModelIdentity, phase: ChangePhase) -> None:
        _log.info("reindexing", phase=phase.value, model=str(self.target.model))
        await self._lock.set_model(used, ModelChange(self.target.model, phase, self.source))

    async def _fill(self) -> None:
        """Pass over everything until a pass has little to do: the rest is done together with those who write."""

        def require() -> None:
            self._lock.require()
            self.indexer.require_room()

        filler = Filler(self.graph, self.target, self.indexer.batch, self._patience, require)
        before: int | None = None
        while True:
            done = await filler.run(self.progress)
            self._embedded += done.embedded
            if done.missed:
                point, reason = next((p, done.failed[p]) for p in sorted(done.missed))
                raise FatalError(
                    f"{len(done.missed)} passages cannot be embedded with {self.target.model.name}, the first of them "
                    f"is {point}: {reason}. The index in use stays; choose another model"
                )
            self._failed |= done.failed.keys()
            if done.changed <= self.indexer.batch or (before is not None and done.changed >= before):
                return
            before = done.changed

    async def _catch_up(self) -> Pass:
        """Return when the index agrees with the graph, but for what is being written."""
        # What fails in the index in use, too, is no reason to wait.
        hopeless = await self._failing() | self._failed
        for number in range(_ROUNDS):
            done, queued = await requeue_differences(
                self.graph,
                self.target.vectors,
                self._patience,
                self.progress,
                # At first also what is queued: a claim from before all knew must not settle what it has not written.
                settled_only=number > 0,
            )
            if number and not queued:
                return done
            await self._settle(queued - hopeless)
        raise FatalError(
            f"The new index does not come to agreement with the graph: {len(queued)} passages still differ after "
            f"{_ROUNDS} comparisons. The index in use stays; see the log, and run it again"
        )

    async def _failing(self) -> set[str]:
        return {failure.point_id for failure in await self.graph.failures(None, _MOST_FAILURES)}

    async def _settle(self, passages: set[str]) -> None:
        """Index until nothing of these is queued any more; what others hold is theirs."""
        left, until = passages, time.monotonic() + self.patience_seconds
        while left:
            self._lock.require()
            settled = await self._patience(self._drain)
            waiting = await self._queued(left)
            self.progress("catching up", len(passages) - len(waiting), len(passages))
            if len(waiting) < len(left) or (settled and not waiting <= await self._failing()):
                until = time.monotonic() + self.patience_seconds
            elif time.monotonic() > until:
                failures = await self.graph.failures(None, 1)
                told = f": {failures[0].error}" if failures else ""
                raise UnavailableError("vectors", f"{len(waiting)} passages are not indexed in time{told}")
            left = waiting
            await asyncio.sleep(_LOOK_SECONDS if left else 0)

    async def _queued(self, passages: set[str]) -> set[str]:
        found: set[str] = set()
        for part in batched(sorted(passages), _PART):
            found |= await self._patience(lambda part=part: self.graph.queued(part))  # type: ignore[misc]
        return found

    async def _drain(self) -> int:
        settled = 0

        def count(entries: int) -> None:
            nonlocal settled
            settled += entries

        try:
            await self.indexer.drain(count, seconds=_TURN_SECONDS)
        finally:
            self._embedded += settled
        return settled

    async def _swap(self, used: ModelIdentity) -> None:
        async def swap() -> None:
            self._lock.require()  # each time: it may take longer than the right lasts
            await self.steps.swap(self.target)

        await self._patience(swap)
        await self._lock.set_model(self.target.model, ModelChange(used, ChangePhase.LEAVING, self.source))
        _log.info("the new index is in use", model=str(self.target.model))
        await self._end_last()

    async def _end_last(self) -> None:
        """End the change that has swapped the indexes already: from now on the old one is not written any more."""
        models = await self.graph.models()
        if models.used is None or models.change is None or models.change.phase is not ChangePhase.LEAVING:
            return
        await self.steps.everybody_knows()
        await self.steps.swapped(models.change)
        await self._lock.set_model(models.used)
        await self.steps.everybody_knows()
