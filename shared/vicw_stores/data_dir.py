"""The data directory of the embedded stores: private, and opened by one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

from vicw_shared.errors import DataDirError, StorageFullError

_LOCK = "vicw.lock"
_OWN_FILES = {_LOCK, "graph.sqlite3", "models", "vicw.env"}
_INDEX_SHARE = 0.5


class DataDir:
    """Holds the directory's lock from ``open`` to ``close``; the kernel drops it if the process dies."""

    def __init__(self, path: Path, *, min_free_mb: int = 0) -> None:
        self.path = path
        self._min_free_bytes = min_free_mb * 1024 * 1024
        self._lock: int | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Create the directory (mode 0700) and lock it.

        Raises DataDirError if another process has it open, if it holds other files, or if it cannot be written.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._require_own()
            self.path.chmod(0o700)
            lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DataDirError(f"{self.path} cannot be used as data directory: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _read_lock_file(lock)[0] or "unknown"
            os.close(lock)
            raise DataDirError(
                f"{self.path} is in use by another VICW process (pid {holder}). "
                "Stop it, talk to it over HTTP, or name another directory with --data-dir"
            ) from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        self._lock = lock

    def record_address(self, url: str) -> None:
        """Record the address of this process, for commands that cannot open the directory while it is in use."""
        if self._lock is not None:
            os.pwrite(self._lock, f"{os.getpid()}\n{url}\n".encode(), 0)

    @staticmethod
    def read_address(path: Path) -> str | None:
        """Return the address of the process that has the directory at ``path`` open, or None."""
        try:
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return _read_lock_file(lock)[1] or None
        finally:
            os.close(lock)
        return None

    def _require_own(self) -> None:
        """Refuse a directory with other contents, such as a home directory or /tmp.

        Otherwise a wrong path would make it private and mix the store's files into it.
        """
        entries = {entry.name for entry in self.path.iterdir()} - {"lost+found"}
        if entries and entries.isdisjoint(_OWN_FILES):
            raise DataDirError(f"{self.path} holds other files. Name a directory that is new, empty or VICW's own")

    def close(self) -> None:
        """Release the lock. Safe to call twice."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def require_room(self) -> None:
        """Raise StorageFullError while less than the minimum is free.

        The vector index writes through memory maps, where a full disk kills the process instead of returning an error:
        so writes stop before the disk is full.
        """
        self._require(self._min_free_bytes, "Make room; nothing of this request was stored")

    def require_room_to_index(self) -> None:
        """Raise StorageFullError while less than half the minimum is free.

        This is less than a request needs, so that items acknowledged at the limit are still indexed.
        """
        self._require(int(self._min_free_bytes * _INDEX_SHARE), "Make room; the index needs it to grow")

    def _require(self, needed: int, advice: str) -> None:
        free = shutil.disk_usage(self.path).free
        if free < needed:
            raise StorageFullError(
                f"{self.path} has {free // 1048576} MiB free and needs {needed // 1048576} (VICW_MIN_FREE_MB). {advice}"
            )


def _read_lock_file(lock: int) -> tuple[str, str]:
    """Return the holder's process id and address; each is empty if it is not recorded."""
    pid, _, url = os.pread(lock, 512, 0).decode(errors="replace").partition("\n")
    return pid.strip(), url.strip()
