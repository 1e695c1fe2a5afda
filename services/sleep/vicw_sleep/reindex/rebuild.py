"""Repair of the index in use: what it lacks comes from the graph (decision 0012)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from vicw_runtime.indexes import Index, Indexes
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.ports import Store
from vicw_sleep.reconcile.model import ReconcileBookmark
from vicw_sleep.reconcile.service import reconcile

_log = structlog.get_logger()
_POLL_SECONDS = 1.0
_REST_SECONDS = 300.0
"""Longest pause between two comparisons while passages wait: they would only find those."""


async def mark_lost(graph: Store) -> None:
    """Mark the index of the model in use, which is about to be rebuilt, as incomplete."""
    if await graph.outbox.any_indexed():
        await graph.record.mark_rebuilding(now())


async def bring_to_agreement(graph: Store, index: Index, settle: Callable[[int], Awaitable[None]]) -> None:
    """Reconcile the index in use with the graph and ``settle`` the differences until there are none; lift the mark.

    Returns at once if another index is in use.
    """
    while (models := await graph.record.models()).used == index.model:
        result = await reconcile(
            graph.outbox, graph.audit, index.vectors, start=ReconcileBookmark(lost_at=models.rebuilding)
        )
        if result.rebuilt is not None:
            await graph.record.clear_rebuilding(result.rebuilt)
        differing = result.missing + result.stale
        if not differing and result.rebuilt == models.rebuilding:
            return
        await settle(differing)


async def rebuild(graph: Store, indexes: Indexes, on_complete: Callable[[Index], None]) -> None:
    """Reconcile the lost index in use until it is complete, while an indexer runs.

    Errors are logged and the work is retried.
    """

    async def rest(_: int) -> None:
        """Return when no passage is waiting, or after ``_REST_SECONDS``."""
        waiting, until = True, time.monotonic() + _REST_SECONDS
        while waiting and time.monotonic() < until:
            await asyncio.sleep(_POLL_SECONDS)
            waiting = (await graph.outbox.backlog()).waiting > 0

    while indexes.rebuilding is not None and (index := indexes.read_index).model.has_vectors:
        try:
            await bring_to_agreement(graph, index, rest)
            on_complete(index)
            await indexes.refresh()
        except Exception as error:
            level = _log.warning if isinstance(error, VicwError) else _log.error
            level("rebuilding the vector index failed, will be tried again", error=str(error))
            await asyncio.sleep(_POLL_SECONDS)
