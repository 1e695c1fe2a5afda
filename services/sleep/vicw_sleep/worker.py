"""The sleep worker: Celery tasks of the sleep cycle. ``celery -A vicw_sleep.worker worker -Q sleep``.

Every task may be lost, run twice, or run twice concurrently.
"""

from __future__ import annotations

from vicw_runtime.telemetry.shared_metrics import share_metrics

share_metrics()  # before any other import loads Prometheus' client

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import structlog
from celery import Task
from redis.exceptions import RedisError

from vicw_runtime.job_runs import recorded_run
from vicw_runtime.queue.celery_queue import (
    CATCH_UP,
    CONSOLIDATE,
    DREAM,
    MIRROR,
    RECONCILE,
    RESOLVE,
    WATCH,
    connect,
    make_celery,
    send,
)
from vicw_runtime.queue.celery_runtime import Runtime, prepare_worker
from vicw_shared.clock import from_us, now, to_us
from vicw_shared.errors import RetryableError, UnavailableError
from vicw_sleep.consolidation.job import CatchUpResult, ContextRun, catch_up
from vicw_sleep.consolidation.job import consolidate_slice as run_consolidation_slice
from vicw_sleep.consolidation.service import ConsolidationReport
from vicw_sleep.consolidation.source_reader import FlowBookmark
from vicw_sleep.dream.job import dream_slice as run_dream_slice
from vicw_sleep.dream.service import DreamBookmark, DreamReport
from vicw_sleep.mirror.job import sync_mirror
from vicw_sleep.reconcile.model import ReconcileBookmark, ReconcileReport, ReconcileSide
from vicw_sleep.reconcile.receipts import forget_receipts
from vicw_sleep.reconcile.service import reconcile as reconcile_page
from vicw_sleep.resolve.job import resolve_slice as run_resolve_slice
from vicw_sleep.resolve.service import ResolveBookmark, ResolveReport
from vicw_sleep.schedule.job_lock import SECONDS, JobLock
from vicw_sleep.schedule.jobs import ScheduledJob
from vicw_sleep.schedule.scheduler import Slice
from vicw_sleep.settings import SleepServiceSettings
from vicw_sleep.wiring import SleepWiring

_settings = SleepServiceSettings.read()
app = make_celery("vicw_sleep", _settings.redis)
_runtime = Runtime(lambda: SleepWiring(_settings, gives_way=True))
_chain = JobLock(connect(_settings.redis), RECONCILE)
_FORGET_SECONDS = 10.0
_REST_SECONDS = 300
"""Cool-down between two comparisons of the stores while passages wait and a lost index is being rebuilt."""
_log = structlog.get_logger()
prepare_worker(
    app,
    _runtime,
    service="vicw-sleep-worker",
    worker=_settings.worker,
    log=_settings.log,
    metrics=_settings.metrics,
    traces=_settings.traces,
    nice=_settings.sleep.nice,
)


class TaskProgress(Protocol):
    """Where a task continues, in the form of a message."""

    @property
    def written(self) -> list[object]:
        """The JSON form that the next task reads."""
        ...


type SlicedTask[M: TaskProgress] = Callable[[SleepWiring, M | None], Awaitable[Slice[M] | None]]


@app.task(name=RECONCILE, bind=True)
def reconcile(
    self: Task[Any, Any],
    side: str = ReconcileSide.PASSAGES,
    after: str | None = None,
    lost_at: int | None = None,
    of: str | None = None,
) -> None:
    """Compare a limited number of pages of the two stores; a follow-up task with the same chain id ``of`` does the
    rest.
    """

    def work(chain: str) -> int | None:
        start = ReconcileBookmark(ReconcileSide(side), after, from_us(lost_at))
        done, lacking = _runtime.run(self.request, partial(_reconcile, start=start, first=of is None))
        if any(done.counts.values()) or done.next is None:
            _log.info("reconciled", **done.counts, all=done.next is None)
        if (bookmark := done.next) is not None:
            follow_up = {
                "side": bookmark.side.value,
                "after": bookmark.after,
                "lost_at": to_us(bookmark.lost_at),
                "of": chain,
            }
            if send(app, RECONCILE, expires=SECONDS, kwargs=follow_up):
                return None
        return _REST_SECONDS if lacking else 0

    _run_slice(_chain, of, work, "comparing the stores")


@app.task(name=WATCH, bind=True)
def watch(self: Task[Any, Any]) -> None:
    """Rebuild the vector index if it was lost; start a comparison at once, and repeat it until the index is complete.

    While passages wait, a comparison would only find these, so a cool-down separates two comparisons.
    """
    try:
        lacking, waiting = _runtime.run(self.request, _watch)
        if lacking and _chain.may_begin(rested=not waiting):
            send(app, RECONCILE, expires=SECONDS)
    except RetryableError as error:
        _log.warning("the vector index could not be checked", error=error.detail)
    except RedisError as error:
        _log.warning("a lost vector index is left to the next check: Redis does not answer", error=str(error))


@app.task(name=MIRROR, bind=True)
def mirror(self: Task[Any, Any]) -> None:
    """Update the mirror, if there is one. A failure is logged and left to the next run."""
    if _settings.sleep.paused:
        return
    try:
        _runtime.run(self.request, lambda wiring: sync_mirror(wiring.graph, _settings.mirror))
    except RetryableError as error:
        _log.warning("the mirror could not be updated", error=error.detail)


async def _consolidate(wiring: SleepWiring, start: FlowBookmark | None) -> ConsolidationReport | None:
    return await run_consolidation_slice(wiring.consolidation(), _settings.consolidation, start)


async def _catch_up(wiring: SleepWiring, start: ContextRun | None) -> CatchUpResult:
    return await catch_up(wiring.consolidation(), _settings.consolidation, start)


async def _dream(wiring: SleepWiring, start: DreamBookmark | None) -> DreamReport | None:
    return await run_dream_slice(wiring.dream(), _settings.dream, start)


async def _resolve(wiring: SleepWiring, start: ResolveBookmark | None) -> ResolveReport | None:
    return await run_resolve_slice(wiring.resolve(), _settings.resolve, start)


def _register_sliced_task[M: TaskProgress](
    name: str,
    what: str,
    run_slice: SlicedTask[M],
    read: Callable[[Sequence[Any]], M],
    scheduled: ScheduledJob | None = None,
) -> None:
    """Register a task that runs one slice and sends a follow-up task with the same chain id ``of`` for the rest.

    The runs of a ``scheduled`` job are recorded.
    """
    chain_lock = JobLock(connect(_settings.redis), name)

    async def run_recorded(wiring: SleepWiring, start: M | None) -> Slice[M] | None:
        if scheduled is None:
            return await run_slice(wiring, start)
        async with recorded_run(wiring.graph.log, scheduled, first=start is None) as run:
            done = await run_slice(wiring, start)
            run.failed, run.more = done is None, done is not None and done.next is not None
            return done

    @app.task(name=name, bind=True)
    def task(self: Task[Any, Any], after: list[Any] | None = None, of: str | None = None) -> None:
        def work(chain: str) -> int | None:
            start = read(after) if after is not None else None
            done = _runtime.run(self.request, lambda wiring: run_recorded(wiring, start))
            if done is None or (mark := done.next) is None:
                return 0
            return None if send(app, name, expires=SECONDS, kwargs={"after": mark.written, "of": chain}) else 0

        if not _settings.sleep.paused:
            _run_slice(chain_lock, of, work, what)


def _run_slice(chain_lock: JobLock, of: str | None, work: Callable[[str], int | None], what: str) -> None:
    """Run ``work(chain_id)`` if the chain ``of`` holds the lock.

    ``work`` returns the cool-down in seconds before another chain may start, or None if the chain continues.
    """
    try:
        chain = chain_lock.hold(of)
    except RedisError as error:
        _log.warning(f"{what} is left to the next run: Redis does not answer", error=str(error))
        return
    if chain is None:
        _log.info(f"{what} is under way in another chain of tasks, or was a moment ago")
        return
    rest: int | None = 0
    try:
        rest = work(chain)
    except RetryableError as error:
        _log.warning(f"{what} failed; the next run tries again", error=error.detail)
    finally:
        if rest is not None:
            with suppress(RedisError):  # then the lock expires
                chain_lock.end(chain, rest_seconds=rest)


async def _watch(wiring: SleepWiring) -> tuple[bool, bool]:
    """Return whether the index lacks points, and whether passages wait for it."""
    engines = wiring.engines
    await engines.restore_index()
    lacking = engines.indexes.rebuilding is not None
    return lacking, lacking and (await engines.graph.outbox.backlog()).waiting > 0


async def _reconcile(wiring: SleepWiring, *, start: ReconcileBookmark, first: bool) -> tuple[ReconcileReport, bool]:
    """Return the result, and whether the index is still known to lack points."""
    graph, indexes = wiring.engines.graph, wiring.engines.indexes  # repairs are not throttled
    if first:
        before = _settings.ingest.receipts_before(now())
        if forgotten := await forget_receipts(graph.record, before, seconds=_FORGET_SECONDS):
            _log.info("forgot old receipts", receipts=forgotten)
        await wiring.engines.restore_index()
        start = replace(start, lost_at=indexes.rebuilding)
    else:
        await indexes.refresh()
    if indexes.read_index.model != indexes.models.used:
        raise UnavailableError("embedding", indexes.behind or "the model in use has just changed")
    vectors = indexes.read_index.vectors
    async with recorded_run(graph.log, "reconcile", first=first) as run:
        done = await reconcile_page(
            graph.outbox, graph.audit, vectors, start=start, pages=_settings.sleep.reconcile_pages
        )
        run.more = done.next is not None
    if done.rebuilt is not None:
        await graph.record.clear_rebuilding(done.rebuilt)
        await indexes.refresh()
    return done, indexes.rebuilding is not None


_register_sliced_task(CONSOLIDATE, "consolidation", _consolidate, FlowBookmark.read, ScheduledJob.CONSOLIDATION)
_register_sliced_task(CATCH_UP, "consolidation of contexts with new items", _catch_up, ContextRun.read)
_register_sliced_task(DREAM, "dreaming", _dream, DreamBookmark.read, ScheduledJob.DREAM)
_register_sliced_task(RESOLVE, "resolving", _resolve, ResolveBookmark.read, ScheduledJob.RESOLVE)
