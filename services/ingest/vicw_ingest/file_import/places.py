"""The places of uploads: how many there may be at once, how large together, and that the disk has room for them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from vicw_ingest.file_import.upload_folder import UploadFolder
from vicw_shared.errors import LimitExceededError, OverloadedError
from vicw_shared.settings import ImportSettings

_RETRY_SECONDS = 5
_ROOM_BYTES = 4 * 2**20
"""Bytes between two looks at the free room of the disk."""


@dataclass(slots=True)
class UploadPlace:
    """The place of an upload: its folder, and what it takes of the limits until its job ends."""

    job: str
    tenant: str
    folder: Path
    bytes: int = 0
    is_begun: bool = False

    @property
    def files(self) -> Path:
        """Where the files go."""
        return self.folder / "files"


class UploadPlaces:
    """The places of a process. ``require_room`` raises StorageFullError while the disk is too full to write to."""

    def __init__(self, settings: ImportSettings, folder: Path, require_room: Callable[[], None]) -> None:
        self._settings = settings
        self._uploads = UploadFolder(folder)
        self._require_room = require_room
        self._taken: dict[str, UploadPlace] = {}

    async def open(self) -> None:
        """Remove the uploads of processes that died."""
        await asyncio.to_thread(self._uploads.remove_leftovers)

    async def close(self) -> None:
        """Remove all files."""
        await asyncio.to_thread(self._uploads.close)

    @asynccontextmanager
    async def place(self, tenant: str, declared: int | None = None) -> AsyncIterator[UploadPlace]:
        """Give an upload its place; unless its job has begun it is free again, and its files gone, afterwards.

        ``declared``: the size that the caller says it has. Raises LimitExceededError if that is too much,
        OverloadedError if as many imports are under way as may be, StorageFullError.
        """
        settings = self._settings
        if declared is not None and declared > settings.upload_mb * 2**20:
            raise too_large(settings)
        of_tenant = sum(one.tenant == tenant for one in self._taken.values())
        if settings.tenant_jobs is not None and of_tenant >= settings.tenant_jobs:
            raise _overloaded("too many imports of this tenant are under way (VICW_IMPORT_TENANT_JOBS)")
        if len(self._taken) >= settings.jobs:
            raise _overloaded("too many imports are under way (VICW_IMPORT_JOBS)")
        self._require_total(declared or 0, others=bool(self._taken))
        self._require_room()
        job = str(uuid.uuid4())
        place = UploadPlace(job, tenant, self._uploads.make(job))
        place.files.mkdir(mode=0o700)
        self._taken[job] = place
        try:
            yield place
        finally:
            if not place.is_begun:
                await self.free(place)

    def take(self, place: UploadPlace, size: int) -> None:
        """Count bytes of an upload.

        Raises OverloadedError if all uploads together are too large, StorageFullError.
        """
        before, place.bytes = place.bytes, place.bytes + size
        self._require_total(0, others=len(self._taken) > 1)
        if before // _ROOM_BYTES != place.bytes // _ROOM_BYTES:
            self._require_room()

    async def free(self, place: UploadPlace) -> None:
        """Remove the files of an upload, and give its place to another."""
        try:
            await asyncio.to_thread(self._uploads.remove, place.folder)
        finally:
            self._taken.pop(place.job, None)

    def _require_total(self, more: int, *, others: bool) -> None:
        total = more + sum(one.bytes for one in self._taken.values())
        if others and total > self._settings.total_mb * 2**20:
            raise _overloaded("body: with the other uploads it is too large (VICW_IMPORT_TOTAL_MB)")


def too_large(settings: ImportSettings) -> LimitExceededError:
    """Return the refusal of an upload over its limit."""
    return LimitExceededError(
        f"body: over {settings.upload_mb} MiB (VICW_IMPORT_UPLOAD_MB). Send fewer files at once, raise the "
        "limit, or read them where they are: vicw ingest PATH"
    )


def _overloaded(reason: str) -> OverloadedError:
    """Return a refusal for now. It has no figures: they would tell of other tenants."""
    return OverloadedError(f"{reason}. Send it again when an import is done", retry_after_seconds=_RETRY_SECONDS)
