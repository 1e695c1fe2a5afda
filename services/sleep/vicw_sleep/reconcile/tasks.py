"""Tasks that compare the two stores and repair the vector store; one looks often whether its index was lost."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import structlog
from celery import Task, shared_task
from redis.exceptions import RedisError

from vicw_core.changes import forget_changes
from vicw_runtime.job_runs import recorded_run
from vicw_runtime.queue.celery_queue import RECONCILE, WATCH, send
from vicw_runtime.queue.celery_runtime import worker_of
from vicw_runtime.upkeep.drift import COMPARISON, of_stored, record_drift
from vicw_shared.clock import from_us, now, to_us
from vicw_shared.errors import RetryableError, UnavailableError
from vicw_sleep.reconcile import service
from vicw_sleep.reconcile.model import ReconcileBookmark, ReconcileReport, ReconcileSide
from vicw_sleep.reconcile.receipts import forget_receipts
from vicw_sleep.schedule.job_lock import SECONDS
from vicw_sleep.schedule.task_chain import chain_lock, run_link
from vicw_sleep.wiring import SleepWiring

_FORGET_SECONDS = 10.0
_REST_SECONDS = 300
"""Cool-down between two comparisons of the stores while passages wait and a lost index is being rebuilt."""
_log = structlog.get_logger()


@shared_task(name=RECONCILE, bind=True)
def reconcile(
    self: Task[..., None],
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
        done, lacking = worker_of(self).runtime.run(self.request, partial(_compare, start=start, first=of is None))
        if any(done.counts.values()) or done.next is None:
            _log.info("reconciled", **done.counts, all=done.next is None)
        if (bookmark := done.next) is not None:
            follow_up = {
                "side": bookmark.side.value,
                "after": bookmark.after,
                "lost_at": to_us(bookmark.lost_at),
                "of": chain,
            }
            if send(self.app, RECONCILE, expires=SECONDS, kwargs=follow_up):
                return None
        return _REST_SECONDS if lacking else 0

    run_link(self, of, work, "comparing the stores")


async def _compare(wiring: SleepWiring, *, start: ReconcileBookmark, first: bool) -> tuple[ReconcileReport, bool]:
    """Return the result, and whether the index is still known to lack points."""
    graph, indexes = wiring.engines.graph, wiring.engines.indexes  # repairs are not throttled
    if first:
        before = wiring.settings.ingest.receipts_before(now())
        if forgotten := await forget_receipts(graph.record, before, seconds=_FORGET_SECONDS):
            _log.info("forgot old receipts", receipts=forgotten)
        await forget_changes(graph, wiring.settings.ingest.audit_before(now()))
        await wiring.engines.restore_index()
        start = replace(start, lost_at=indexes.rebuilding)
    else:
        await indexes.refresh()
    if indexes.read_index.model != indexes.models.used:
        raise UnavailableError("embedding", indexes.behind or "the model in use has just changed")
    vectors = indexes.read_index.vectors
    async with recorded_run(graph.log, COMPARISON, first=first) as run:
        done = await service.reconcile(
            graph.outbox, graph.audit, vectors, start=start, pages=wiring.settings.sleep.reconcile_pages
        )
        await record_drift(graph.log, done.counts, await of_stored(graph, done.tenants))
        run.more = done.next is not None
    if done.rebuilt is not None:
        await graph.record.clear_rebuilding(done.rebuilt)
        await indexes.refresh()
    return done, indexes.rebuilding is not None


@shared_task(name=WATCH, bind=True)
def watch(self: Task[..., None]) -> None:
    """Rebuild the vector index if it was lost; start a comparison at once, and repeat it until the index is complete.

    While passages wait, a comparison would only find these, so a cool-down separates two comparisons.
    """
    try:
        lacking, waiting = worker_of(self).runtime.run(self.request, _restore)
        if lacking and chain_lock(self, RECONCILE).may_begin(rested=not waiting):
            send(self.app, RECONCILE, expires=SECONDS)
    except RetryableError as error:
        _log.warning("the vector index could not be checked", error=error.detail)
    except RedisError as error:
        _log.warning("a lost vector index is left to the next check: Redis does not answer", error=str(error))


async def _restore(wiring: SleepWiring) -> tuple[bool, bool]:
    """Return whether the index lacks points, and whether passages wait for it."""
    engines = wiring.engines
    await engines.restore_index()
    lacking = engines.indexes.rebuilding is not None
    return lacking, lacking and (await engines.graph.outbox.backlog()).waiting > 0
