"""The index of a data directory that was lost: marked before it is made anew, compared until it has everything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from vicw_shared.adapters.edge import EdgeVectorStore
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.indexes import Indexes
from vicw_sleep.reconcile import Place, reconcile

_log = structlog.get_logger()
_LOOK_SECONDS = 1.0
_REST_SECONDS = 300.0


async def mark_lost(graph: SqliteGraphStore) -> None:
    """Note that the index of the model in use, which is about to be made, lacks what was in the last one."""
    if await graph.any_indexed():
        await graph.mark_rebuilding(now())


async def rebuild(graph: SqliteGraphStore, indexes: Indexes, in_use: Callable[[], EdgeVectorStore | None]) -> None:
    """Queue what the index in use lacks; return when it has everything from before it was lost, and the mark is gone.

    While passages wait, a comparison would find just that, so it rests a while between two.
    """
    while (lost_at := (await graph.models()).rebuilding) is not None:
        try:
            if (vectors := in_use()) is None:
                break  # there are none to rebuild any more
            done = await reconcile(graph, graph, vectors, start=Place(lost_at=lost_at))
            vectors.agreed()
            _log.info("compared the stores after a loss", missing=done.missing, orphaned=done.orphaned)
            if done.rebuilt is not None:
                await graph.clear_rebuilding(done.rebuilt)
            else:
                await _rest(graph)
        except Exception as error:
            level = _log.warning if isinstance(error, VicwError) else _log.error
            level("rebuilding the vector index failed, will be tried again", error=str(error))
            await asyncio.sleep(_LOOK_SECONDS)
    await indexes.look()


async def _rest(graph: SqliteGraphStore) -> None:
    """Return when no passage waits any more, or after a while."""
    waiting, until = True, time.monotonic() + _REST_SECONDS
    while waiting and time.monotonic() < until:
        await asyncio.sleep(_LOOK_SECONDS)
        waiting = (await graph.backlog()).waiting > 0
