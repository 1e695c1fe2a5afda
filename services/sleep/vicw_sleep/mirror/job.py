"""Job of the mirror: it follows all changes of the store, by callers and by the sleep cycle."""

from __future__ import annotations

import asyncio
from typing import NoReturn

import structlog

from vicw_runtime.job_runs import SLICE_SECONDS, record_run
from vicw_shared.clock import now
from vicw_shared.errors import StateConflictError, VicwError
from vicw_shared.ports import Store
from vicw_shared.settings import MirrorSettings
from vicw_sleep.mirror.relocation import EDITS
from vicw_sleep.mirror.service import Mirror

_log = structlog.get_logger()


async def sync_mirror(graph: Store, settings: MirrorSettings) -> None:
    """Update the mirror, if there is one and its rest is over. A failure is logged and left to the next run."""
    mirror, began = Mirror.of(graph, settings), now()
    if mirror is None:
        return
    try:
        if mirror.rests():
            return
        with SLICE_SECONDS.labels("mirror").time():
            done = await mirror.sync()
    except StateConflictError as error:
        _log.info("another process writes the mirror", reason=error.detail)
    except VicwError as error:
        _log.warning("the mirror could not be updated", error=error.detail)
        await record_run(graph.log, "mirror", began, error.detail)
    else:
        if done.built:
            _log.info("the mirror is up to date", pages=done.pages, atoms=done.atoms)
            await record_run(graph.log, "mirror", began)
        for page in done.edited:
            _log.warning(f"a page of the mirror was edited; the edit is kept in {EDITS}", page=page)


async def keep_mirrored(graph: Store, settings: MirrorSettings) -> NoReturn:
    """Update the mirror at every poll, for ever."""
    while True:
        try:
            await sync_mirror(graph, settings)
        except Exception:
            _log.exception("the mirror could not be updated")
        await asyncio.sleep(settings.poll_seconds)
