"""The folder of uploaded files: each process has one of its own in it, and removes those of processes that died."""

from __future__ import annotations

import os
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from vicw_core.files import lock, open_lock_file
from vicw_shared.errors import StorageFullError

_LOCK = "lock"


class UploadFolder:
    """Folders of uploads, gone when their import ends; made when the first is needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own: Path | None = None
        self._lock: int | None = None

    def remove_leftovers(self) -> None:
        """Remove the files of processes that died. Those of processes that live are locked."""
        with suppress(FileNotFoundError):
            for folder in list(self._path.iterdir()):
                if folder != self._own and folder.is_dir() and not folder.is_symlink() and _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)

    def make(self, name: str) -> Path:
        """Make an empty folder, for its owner alone. Raises StorageFullError if that is not possible."""
        try:
            own = self._own or self._open()
            folder = own / name
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise StorageFullError(
                f"{self._path} cannot take uploaded files ({error.strerror}): free some space, or set "
                "VICW_IMPORT_FOLDER to a folder that this server may write to"
            ) from error
        return folder

    def close(self) -> None:
        """Remove all of it. Safe to call twice."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            self._own = None

    def _open(self) -> Path:
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = self._path / uuid.uuid4().hex
        own.mkdir(mode=0o700)
        self._lock = open_lock_file(own / _LOCK)
        lock(self._lock)
        self._own = own
        return own


def _is_left(folder: Path) -> bool:
    """Return whether no process holds the lock of a folder."""
    try:
        held = open_lock_file(folder / _LOCK, create=False)
    except OSError:  # its process died before it made the lock, or is about to
        return False
    try:
        lock(held)
    except OSError:
        return False
    finally:
        os.close(held)
    return True
