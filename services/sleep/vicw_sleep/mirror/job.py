"""A turn of the mirror: it follows what is stored, whoever has stored it: callers, or the sleep cycle."""

from __future__ import annotations

import asyncio
import time
from typing import NoReturn

import structlog

from vicw_shared.clock import now
from vicw_shared.errors import StateConflictError, VicwError
from vicw_shared.job_runs import TURN_SECONDS, note
from vicw_shared.ports import Store
from vicw_shared.settings import MirrorSettings
from vicw_sleep.mirror.relocation import EDITS
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.mirror.visibility import MirrorVisibility

_log = structlog.get_logger()
_MOST_REST_SECONDS = 60.0
_REST = 10
"""How many times as long as a turn took the next one waits at least: a tenth of one processor is the most that goes."""


async def turn(graph: Store, settings: MirrorSettings) -> None:
    """Bring the mirror up to date, if one is wanted. What goes wrong is logged, and is for the next turn."""
    if settings.path is None:
        return
    mirror, began = Mirror(graph, settings.path, settings.tenant, MirrorVisibility(settings.viewer or "")), now()
    try:
        with TURN_SECONDS.labels("mirror").time():
            done = await mirror.sync()
    except StateConflictError as error:
        _log.info("the mirror is left to whoever writes to it", reason=error.detail)
    except VicwError as error:
        _log.warning("the mirror could not be brought up to date", error=error.detail)
        await note(graph.log, "mirror", began, error.detail)
    else:
        if done.pages or done.removed:
            told = {"pages": done.pages, "removed": done.removed, "atoms": done.atoms, "anew": done.built}
            _log.info("the mirror is up to date", **told)
            await note(graph.log, "mirror", began)
        for page in done.edited:
            _log.warning(f"a page of the mirror was edited; the edit is kept in {EDITS}", page=page)


async def keep_mirrored(graph: Store, settings: MirrorSettings) -> NoReturn:
    """Take turns, for ever."""
    while True:
        began = time.monotonic()
        try:
            await turn(graph, settings)
        except Exception:
            _log.exception("the mirror could not be brought up to date")
        rest = min(_REST * (time.monotonic() - began), _MOST_REST_SECONDS)
        await asyncio.sleep(max(settings.look_seconds, rest))
