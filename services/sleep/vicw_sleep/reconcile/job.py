"""Job slices of the comparison of the stores: a limited number of pages each, repeated while pages are left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import NoReturn

import structlog

from vicw_core.changes import forget_changes
from vicw_runtime.indexes import Indexes
from vicw_runtime.operations import Memory
from vicw_runtime.schedule.cron import Schedule
from vicw_runtime.upkeep.drift import COMPARISON, of_stored, record_drift
from vicw_shared.clock import now
from vicw_sleep.reconcile.model import ReconcileBookmark
from vicw_sleep.reconcile.receipts import forget_receipts
from vicw_sleep.reconcile.service import reconcile
from vicw_sleep.schedule.scheduler import SLICE_SECONDS, run_on_schedule

_log = structlog.get_logger()


async def compare(memory: Memory) -> AsyncIterator[None]:
    """Delete old receipts and records of changes, then reconcile the stores.

    Not while an index is being rebuilt: that reconciles itself.
    """
    graph, indexes, settings = memory.graph, memory.indexes, memory.settings
    await forget_receipts(graph.record, settings.ingest.receipts_before(now()), seconds=SLICE_SECONDS)
    await forget_changes(graph, settings.ingest.audit_before(now()))
    bookmark = ReconcileBookmark()
    while _is_whole(indexes):
        result = await reconcile(
            graph.outbox, graph.audit, indexes.read_index.vectors, start=bookmark, pages=settings.sleep.reconcile_pages
        )
        await record_drift(graph.log, result.counts, await of_stored(graph, result.tenants))
        if any(result.counts.values()):
            _log.warning("the stores differed; the vector store is repaired", **result.counts)
        if result.next is None:
            return
        bookmark = result.next
        yield


def _is_whole(indexes: Indexes) -> bool:
    used = indexes.read_index.model
    return used.has_vectors and used == indexes.models.used and indexes.rebuilding is None


async def keep_reconciling(memory: Memory, schedule: Schedule) -> NoReturn:
    """Run slices when they are due, for ever."""
    await run_on_schedule(schedule, partial(compare, memory), COMPARISON, memory.graph.log)
