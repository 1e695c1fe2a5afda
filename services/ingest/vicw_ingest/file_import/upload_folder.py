"""The folder of uploaded files: each process has one of its own in it, and removes those of processes that died."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import uuid
from contextlib import suppress
from pathlib import Path

import structlog

from vicw_core.files import lock, open_lock_file
from vicw_shared.errors import StorageFullError

_log = structlog.get_logger()
_LOCK = "vicw-uploads.lock"
_NAME = re.compile(r"[0-9a-f]{32}")


class UploadFolder:
    """Folders of uploads, gone when their import ends; made when the first is needed."""

    def __init__(self, path: Path) -> None:
        # As readers resolve it: what they name is told relative to it, and they run in another folder.
        self._path = path.expanduser().resolve()
        self._own: Path | None = None
        self._lock: int | None = None

    def remove_leftovers(self) -> None:
        """Remove the files of processes that died. Those of processes that live are locked; others are no uploads."""
        with suppress(OSError):
            for folder in list(self._path.iterdir()):
                if folder != self._own and _NAME.fullmatch(folder.name) and _is_left(folder):
                    self.remove(folder)

    def make(self, name: str) -> Path:
        """Make an empty folder, for its owner alone. Raises StorageFullError if that is not possible."""
        try:
            own = self._own if self._own is not None and self._own.is_dir() else self._open()
            folder = own / name
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise StorageFullError(
                f"{self._path} cannot take uploaded files ({error.strerror}): free some space, or set "
                "VICW_IMPORT_FOLDER to a folder that this server may write to"
            ) from error
        return folder

    def remove(self, folder: Path) -> None:
        """Remove a folder with all in it; what cannot be removed is left, and logged."""
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except Exception as error:  # neither a start nor an import may depend on it
            _log.warning("uploaded files could not be removed", folder=str(folder), error=str(error))

    def close(self) -> None:
        """Remove all of it. Safe to call twice."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if self._own is not None:
            self.remove(self._own)
            self._own = None

    def _open(self) -> Path:
        self.close()  # something that cleans temporary folders may have removed it
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(self._path)
        own = self._path / uuid.uuid4().hex
        own.mkdir(mode=0o700)
        self._lock = open_lock_file(own / _LOCK)
        lock(self._lock)
        self._own = own
        return own


def _require_own(path: Path) -> None:
    """Refuse a folder that another user made where everybody may make one: its maker can replace what is in it."""
    if hasattr(os, "getuid") and path.parent.stat().st_mode & stat.S_IWOTH and path.stat().st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it belongs to another user")


def _is_left(folder: Path) -> bool:
    """Return whether a folder has a lock that no process holds."""
    if folder.is_symlink():
        return False
    try:
        held = open_lock_file(folder / _LOCK, create=False)
    except OSError:  # its process died before it made the lock, or is about to; or it is no folder of ours
        return False
    try:
        lock(held)
    except OSError:
        return False
    finally:
        os.close(held)
    return True
