"""Scheduled jobs of this process: the sleep cycle, reconciliation and the mirror."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from functools import partial
from typing import NoReturn

import structlog

from vicw_ingest.eviction.job import evict_slice
from vicw_runtime.indexes import Indexes
from vicw_shared.clock import now
from vicw_sleep.consolidation.job import keep_consolidating
from vicw_sleep.dream.job import keep_dreaming
from vicw_sleep.mirror.job import keep_mirrored
from vicw_sleep.reconcile.model import ReconcileBookmark
from vicw_sleep.reconcile.receipts import forget_receipts
from vicw_sleep.reconcile.service import reconcile
from vicw_sleep.resolve.job import keep_resolving
from vicw_sleep.schedule.cron import Schedule
from vicw_sleep.schedule.jobs import ScheduledJob
from vicw_sleep.schedule.scheduler import SLICE_SECONDS, run_on_schedule
from vicw_standalone.maintenance import Maintenance
from vicw_standalone.settings import StandaloneSettings

_log = structlog.get_logger()
type Work = tuple[str, Coroutine[None, None, NoReturn]]


def work(
    settings: StandaloneSettings, asleep: Maintenance, schedules: Mapping[ScheduledJob, Schedule]
) -> Iterator[Work]:
    """Yield the coroutine of each job, with its name, over open stores."""
    comparing = schedules[ScheduledJob.RECONCILE]
    yield "reconcile", run_on_schedule(comparing, partial(compare, settings, asleep), "reconcile", asleep.graph.log)
    if settings.sleep.paused:
        return
    if asleep.indexes.read_index.model.has_vectors:  # consolidation saves vectors, dreams compare them
        consolidation, dreaming = schedules[ScheduledJob.CONSOLIDATION], schedules[ScheduledJob.DREAM]
        yield (
            "consolidation",
            keep_consolidating(asleep.consolidation, settings.consolidation, consolidation, asleep.graph.log),
        )
        yield "dream", keep_dreaming(asleep.dream, settings.dream, dreaming, asleep.graph.log)
    if settings.eviction.items:
        eviction = schedules[ScheduledJob.EVICTION]
        yield (
            "eviction",
            run_on_schedule(eviction, partial(_evict, settings, asleep), "eviction", asleep.graph.log),
        )
    yield "resolve", keep_resolving(asleep.resolve, settings.resolve, schedules[ScheduledJob.RESOLVE], asleep.graph.log)
    if settings.mirror.path is not None:
        yield "mirror", keep_mirrored(asleep.graph, settings.mirror)


async def compare(settings: StandaloneSettings, asleep: Maintenance) -> AsyncIterator[None]:
    """Delete old receipts, then reconcile the stores, unless an index is being rebuilt: that reconciles itself."""
    graph, indexes = asleep.graph, asleep.indexes
    await forget_receipts(graph.record, settings.ingest.receipts_before(now()), seconds=SLICE_SECONDS)
    bookmark = ReconcileBookmark()
    while _is_whole(indexes):
        result = await reconcile(
            graph.outbox, graph.audit, indexes.read_index.vectors, start=bookmark, pages=settings.sleep.reconcile_pages
        )
        if any(result.counts.values()):
            _log.warning("the stores differed; the vector store is repaired", **result.counts)
        if result.next is None:
            return
        bookmark = result.next
        yield


def _is_whole(indexes: Indexes) -> bool:
    used = indexes.read_index.model
    return used.has_vectors and used == indexes.models.used and indexes.rebuilding is None


async def _evict(settings: StandaloneSettings, asleep: Maintenance) -> AsyncIterator[None]:
    while await evict_slice(asleep.capacity(), settings.eviction):
        yield
