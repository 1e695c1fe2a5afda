"""How a task of the sleep cycle runs by itself inside another process: turn by turn, at night."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import NoReturn

import structlog

from vicw_shared.clock import now
from vicw_sleep.schedule import Schedule

_log = structlog.get_logger()
LOOK_SECONDS = 20.0
"""How often it is looked whether it is time."""
REST_SECONDS = 1.0
"""Rest between two turns: whoever asks goes first."""


async def keep_taking_turns(schedule: Schedule, night: Callable[[], AsyncIterator[None]], what: str) -> NoReturn:
    """Go through a ``night`` of ``what`` whenever it is due, for ever: it yields after each turn that is not its last.

    Whatever a night raises is logged, and the next one comes all the same.
    """
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if not schedule.due(now()):
            continue
        try:
            async for _ in night():
                await asyncio.sleep(REST_SECONDS)
        except Exception:
            _log.exception(f"{what} failed; what it has done stands")
