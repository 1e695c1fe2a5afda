"""Job slices of entity resolution: a limited number of names each, repeated while work is left."""

from __future__ import annotations

from typing import NoReturn

import structlog

from vicw_runtime.operations import Memory
from vicw_runtime.schedule.cron import Schedule
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.settings import ResolveSettings
from vicw_sleep.resolve.service import EntityResolver, ResolveBookmark, ResolveReport, ResolveRules
from vicw_sleep.schedule.scheduler import SLICE_SECONDS, run_on_schedule, run_slices

_log = structlog.get_logger()


def resolver_of(memory: Memory) -> EntityResolver:
    """Return what merges the entities of a memory."""
    return EntityResolver(memory.graph, memory.registry)


def rules_of(settings: ResolveSettings) -> ResolveRules:
    """Return the conditions of a merge."""
    return ResolveRules(threshold=settings.threshold, shared=settings.shared, names=settings.names)


async def resolve_slice(
    resolve: EntityResolver, settings: ResolveSettings, start: ResolveBookmark | None, seconds: float = SLICE_SECONDS
) -> ResolveReport | None:
    """Judge at most ``settings.pairs`` pairs for ``seconds``; return the result. A failure is logged: None."""
    try:
        done = await resolve.run(
            rules_of(settings),
            now=now(),
            start=start,
            max_pairs=settings.pairs,
            names=settings.names,
            seconds=seconds,
        )
    except VicwError as error:
        _log.warning("resolving stopped; completed merges are kept", error=error.detail)
        return None
    if done.merged or done.split:
        _log.info("merged entities", names=done.names, merged=done.merged, left=done.left, split=done.split)
    return done


async def keep_resolving(memory: Memory, schedule: Schedule) -> NoReturn:
    """Run slices when they are due, for ever."""
    resolver = resolver_of(memory)
    slices = run_slices(lambda mark: resolve_slice(resolver, memory.settings.resolve, mark))
    await run_on_schedule(schedule, slices, "resolve", memory.graph.log)
