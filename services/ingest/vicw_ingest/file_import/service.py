"""Imports of uploaded files as jobs: the use case behind ``POST /import``.

The upload is on this process's disk, so the job runs in this process: a child reads the files, a thread makes requests
of their items, and the write path's own use case stores them. Its state is in the store, so that every process of the
service can tell of it and cancel it. If this process dies the job is interrupted: its files are gone, what it has
stored stays, and the same upload again stores nothing twice.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from vicw_ingest.file_import.job_record import JobRecord
from vicw_ingest.file_import.own_store import OwnStore, StopRequestedError
from vicw_ingest.file_import.places import UploadPlace, UploadPlaces
from vicw_ingest.file_import.reading import Reading, ReadingEndedError, ReadingProcess
from vicw_ingest.file_import.run import UploadImport
from vicw_ingest.pipeline import IngestPorts
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.model.receipts import IMPORT_DEAD_AFTER
from vicw_shared.settings import ImportSettings
from vicw_shared.wire.file_import import ImportJob, ImportQuery, ImportReport

_log = structlog.get_logger()
BEAT_SECONDS = 2.0
"""Interval at which the state of a job is stored, and a wish to cancel it noticed."""
_INTERRUPTED = "the server ended during it. Send the same files again: nothing is stored twice"
_UNEXPECTED = "an unexpected error: the server's log has it. What was stored stays"

type Open = Callable[[Sequence[Path], Mapping[str, object], Path], Reading]
"""Begins to read paths with options; the folder is for temporary files."""


@dataclass(slots=True)
class _Running:
    stop: threading.Event = field(default_factory=threading.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """``stop``, for who waits on the loop."""
    reason: str | None = None
    """Status that the job ends with if it is stopped."""
    task: asyncio.Task[None] | None = None


class ImportJobs:
    """The imports of a process, and the states of all. Call ``close`` before the stores are closed."""

    def __init__(
        self,
        ports: IngestPorts,
        settings: ImportSettings,
        folder: Path,
        *,
        alone: bool,
        reading: Open | None = None,
        require_room: Callable[[], None] = lambda: None,
    ) -> None:
        """``folder`` is that of the uploads. ``alone``: no other process has the store open.

        ``require_room`` raises StorageFullError while the disk of the store is too full to write to.
        """
        self.settings = settings
        self._ports = ports
        self._record = JobRecord(ports.graph, ports.record)
        self.places = UploadPlaces(settings, settings.folder or folder, require_room)
        self._alone = alone
        self._open = reading or partial(_read_in_process, settings.memory_mb)
        self._running: dict[str, _Running] = {}
        self._threads = ThreadPoolExecutor(settings.jobs, "import")

    async def begin(
        self,
        place: UploadPlace,
        paths: Sequence[Path],
        query: ImportQuery,
        *,
        uploaded: int,
        key: str | None = None,
    ) -> ImportJob:
        """Begin to import the files at a place, and return the job. ``key``: the id of the caller's key."""
        at = now()
        state = ImportJob(
            job=place.job,
            address=f"/import/{place.job}",
            status="running",
            created_at=at,
            updated_at=at,
            uploaded=uploaded,
            bytes=place.bytes,
            report=ImportReport(dry_run=query.dry_run),
        )
        await self._record.put(place.tenant, state)
        running = self._running[place.job] = _Running()
        place.is_begun = True
        work = self._work_off(state, place, paths, query, key, running)
        running.task = asyncio.create_task(work, name=f"import {place.job}")
        return state

    async def status(self, tenant: str, job: str) -> ImportJob:
        """Return how far an import is. Raises MissingRecordError for one that the tenant does not have."""
        return self._seen(await self._record.get(tenant, job))

    async def cancel(self, tenant: str, job: str) -> ImportJob:
        """Have an import end, unless it has; what it has stored stays. Raises MissingRecordError."""
        state = self._seen(await self._record.cancel(tenant, job))
        if not state.is_over and job in self._running:
            self._stop(job, "cancelled")
        return state

    async def close(self) -> None:
        """End all imports, which are then interrupted, and remove their files. Safe to call twice."""
        for job in list(self._running):
            self._stop(job, "interrupted")
        tasks = {one.task for one in self._running.values() if one.task is not None}
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.to_thread(self._threads.shutdown)
        await self.places.close()

    def _seen(self, state: ImportJob) -> ImportJob:
        """Return a state as it is seen from here: nobody works on a job whose process is gone."""
        if state.is_over or state.job in self._running:
            return state
        if not self._alone and now() - state.updated_at < IMPORT_DEAD_AFTER:
            return state
        return state.model_copy(update={"status": "interrupted", "error": _INTERRUPTED})

    def _stop(self, job: str, status: str) -> None:
        running = self._running[job]
        running.reason = running.reason or status
        running.stop.set()
        running.stopping.set()

    async def _work_off(
        self,
        state: ImportJob,
        place: UploadPlace,
        paths: Sequence[Path],
        query: ImportQuery,
        key: str | None,
        running: _Running,
    ) -> None:
        try:
            ended = await self._import(state, place, paths, query, key, running)
        except Exception:  # the job must not stay running for ever
            _log.exception("an import ended by an unexpected error", job=state.job)
            ended = state.model_copy(update={"status": "failed", "error": _UNEXPECTED})
        finally:
            await self.places.free(place)  # first: who is told of the end may send the next upload
        try:
            await self._record.end(place.tenant, ended.model_copy(update={"updated_at": now()}))
        except VicwError as error:
            _log.warning("the end of an import could not be recorded", job=state.job, error=error.detail)
        finally:
            del self._running[state.job]

    async def _import(
        self,
        state: ImportJob,
        place: UploadPlace,
        paths: Sequence[Path],
        query: ImportQuery,
        key: str | None,
        running: _Running,
    ) -> ImportJob:
        """Import, and return the state at the end."""
        scratch = place.folder / "scratch"
        scratch.mkdir(mode=0o700)
        loop, options = asyncio.get_running_loop(), query.model_dump(mode="json", exclude={"dry_run"})
        reading = await asyncio.to_thread(self._open, paths, options, scratch)
        run = UploadImport(
            reading,
            OwnStore(self._ports, place.tenant, key, loop, running.stop),
            running.stop,
            root=f"{place.files}/",
            dry_run=query.dry_run,
            max_items=self._ports.limits.items,
            limits=self.settings,
        )
        work = loop.run_in_executor(self._threads, run.carry_out)
        try:
            await self._watch(work, run, state, place.tenant, running)
        finally:
            # Whatever happened: nothing is read and stored for a job that has ended, and no process stays behind.
            running.stop.set()
            await asyncio.to_thread(reading.close)
            await asyncio.wait({work})
        status, error = _end_of(work, running.reason, self.settings)
        return state.model_copy(
            update={"status": status, "error": error, "report": await asyncio.to_thread(run.report)}
        )

    async def _watch(
        self, work: asyncio.Future[bool], run: UploadImport, state: ImportJob, tenant: str, running: _Running
    ) -> None:
        """Tell how far an import is, until it has ended or is to stop."""
        until = time.monotonic() + self.settings.seconds
        while not work.done() and not running.stop.is_set():
            stopping = asyncio.create_task(running.stopping.wait())
            waited_for: set[asyncio.Future[Any]] = {work, stopping}
            await asyncio.wait(waited_for, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if time.monotonic() > until:
                self._stop(state.job, "failed")
            elif not work.done() and not running.stop.is_set():
                with suppress(VicwError):  # the work itself meets the error, too
                    told = {"report": run.report(brief=True), "updated_at": now()}
                    if (await self._record.advance(tenant, state.model_copy(update=told))).status == "cancelling":
                        self._stop(state.job, "cancelled")


def _end_of(work: asyncio.Future[bool], reason: str | None, settings: ImportSettings) -> tuple[str, str | None]:
    """Return the status of an import that has ended, and why it did not do all."""
    try:
        if work.result():
            return "done", None
    except StopRequestedError:
        pass
    except (ReadingEndedError, VicwError) as error:
        return "failed", str(error)
    if reason == "failed":
        return "failed", f"takes over {settings.seconds:g} seconds (VICW_IMPORT_SECONDS). Send it again to go on"
    return (reason or "failed"), _INTERRUPTED if reason == "interrupted" else None


def _read_in_process(memory_mb: int, paths: Sequence[Path], options: Mapping[str, object], scratch: Path) -> Reading:
    return ReadingProcess(paths, options, scratch=scratch, memory_mb=memory_mb)
