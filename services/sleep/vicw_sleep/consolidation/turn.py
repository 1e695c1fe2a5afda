"""A turn of consolidation: so many batches, then it is somebody else's; again while there is more, when it is due."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import NoReturn

import structlog

from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.settings import ConsolidationSettings
from vicw_sleep.consolidation.batching import LEAST, Rules
from vicw_sleep.consolidation.consolidating import Consolidated, Consolidation
from vicw_sleep.schedule import Schedule
from vicw_sleep.taking_turns import keep_taking_turns

_log = structlog.get_logger()


def rules_of(settings: ConsolidationSettings) -> Rules:
    """Return what may be folded now."""
    return Rules(
        before=settings.before(now()),
        size=settings.size,
        least=min(settings.size, LEAST),
        pause=timedelta(minutes=settings.pause_minutes),
        weight=settings.importance,
        levels=settings.levels,
        rest=timedelta(hours=settings.rest_hours),
        used_since=settings.used_since(now()),
    )


async def turn(consolidation: Consolidation, settings: ConsolidationSettings) -> Consolidated | None:
    """Fold ``settings.batches`` batches at most; return what was done. What fails is logged: None."""
    try:
        done = await consolidation.run(rules_of(settings), now=now(), most=settings.batches)
    except VicwError as error:
        _log.warning("consolidation stopped; what it has done stands", error=error.detail)
        return None
    if done.macros or done.refused:
        told = {"events": done.events, "macros": done.macros, "refused": done.refused, "changed": done.changed}
        _log.info("consolidated", flows=done.flows, **told)
    return done


def is_all(done: Consolidated | None, settings: ConsolidationSettings) -> bool:
    """Tell whether a turn has left nothing for the next one."""
    return done is None or done.macros < settings.batches


async def keep_consolidating(
    opened: Callable[[], Consolidation], settings: ConsolidationSettings, schedule: Schedule
) -> NoReturn:
    """Take turns when they are due, for ever."""

    async def night() -> AsyncIterator[None]:
        while not is_all(await turn(opened(), settings), settings):
            yield

    await keep_taking_turns(schedule, night, "consolidation")
