"""Eviction job: erases one batch per slice, so that other jobs run in between."""

from __future__ import annotations

import structlog

from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.eviction.policy import EvictionPolicy
from vicw_ingest.eviction.service import Eviction
from vicw_runtime.operations import Memory
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.settings import EvictionSettings

_log = structlog.get_logger()


def eviction_of(memory: Memory) -> Eviction:
    """Return the eviction of a memory."""
    return Eviction(memory.graph, Eraser(memory.graph, memory.indexes, memory.registry), memory.queue)


async def evict_slice(eviction: Eviction, settings: EvictionSettings) -> bool:
    """Evict up to ``settings.batch`` items per tenant. Return whether more must go. Errors are logged, not raised."""
    if not settings.items:
        return False
    try:
        done = await eviction.run(EvictionPolicy.of(settings), now=now(), limit=settings.batch)
    except VicwError as error:
        _log.warning("eviction stopped; what it has done stands", error=error.detail)
        return False
    if done.erased:
        _log.info("evicted items for lack of space", erased=done.erased)
    return done.more
