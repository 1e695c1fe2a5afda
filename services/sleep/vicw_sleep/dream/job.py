"""Job slices of dreaming: a limited number of items each, repeated while work is left."""

from __future__ import annotations

from typing import NoReturn

import structlog

from vicw_runtime.operations import Memory
from vicw_runtime.schedule.cron import Schedule
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.extensions import load_extractor
from vicw_shared.settings import DreamSettings
from vicw_sleep.dream.service import DreamBookmark, Dreamer, DreamReport, DreamRules
from vicw_sleep.schedule.scheduler import SLICE_SECONDS, run_on_schedule, run_slices

_log = structlog.get_logger()


def dreamer_of(memory: Memory) -> Dreamer:
    """Return what dreams in a memory."""
    extractor = load_extractor(memory.settings.ingest.extractor)
    return Dreamer(memory.graph, memory.indexes, memory.registry, memory.queue, extractor)


def rules_of(settings: DreamSettings) -> DreamRules:
    """Return the current conditions of dreaming."""
    return DreamRules(before=settings.before(now()), tags=settings.tags, certainty=settings.certainty)


async def dream_slice(
    dream: Dreamer, settings: DreamSettings, start: DreamBookmark | None, seconds: float = SLICE_SECONDS
) -> DreamReport | None:
    """Process at most ``settings.items`` items for ``seconds``; return the result. A failure is logged: None."""
    try:
        done = await dream.run(rules_of(settings), now=now(), start=start, max_items=settings.items, seconds=seconds)
    except VicwError as error:
        _log.warning("dreaming stopped; tags added so far are kept", error=error.detail)
        return None
    if done.dreamt:
        _log.info("dreamt", items=done.items, of=done.dreamt, tags=done.tags)
    return done


async def keep_dreaming(memory: Memory, schedule: Schedule) -> NoReturn:
    """Run slices when they are due, for ever."""
    dreamer = dreamer_of(memory)
    slices = run_slices(lambda mark: dream_slice(dreamer, memory.settings.dream, mark))
    await run_on_schedule(schedule, slices, "dream", memory.graph.log)
