"""The data directory of the embedded stores: private, and opened by one process at a time."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from vicw_core.files import lock, open_lock_file, read_start, write_whole
from vicw_shared.errors import DataDirError, DataDirInUseError, StorageFullError

_LOCK = "vicw.lock"
_OWN_FILES = {_LOCK, "graph.sqlite3", "models", "vicw.env"}
_INDEX_SHARE = 0.5
_TOKEN_BYTES = 32
_BLOCK = 512
_TRIES, _RETRY_SECONDS = 3, 0.03


@dataclass(frozen=True, slots=True)
class DataDirServer:
    """The server that has a data directory open. Whoever can read the directory may send ``token`` as its owner."""

    url: str
    token: str | None = field(default=None, repr=False)


class DataDir:
    """Holds the directory's lock from ``open`` to ``close``; the kernel drops it if the process dies."""

    def __init__(self, path: Path, *, min_free_mb: int = 0) -> None:
        self.path = path
        self.owner_token = secrets.token_urlsafe(_TOKEN_BYTES)
        """Secret of this process, recorded together with its address."""
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

        Raises DataDirInUseError if another process has it open, DataDirError if it holds other files or cannot be
        written.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._require_own()
            self.path.chmod(0o700)
            lock_file = open_lock_file(self.path / _LOCK)
        except OSError as error:
            raise DataDirError(f"{self.path} cannot be used as data directory: {error.strerror}") from error
        try:
            _take(lock_file)
        except OSError as error:
            holder = _read_lock_file(lock_file)[0] or "unknown"
            os.close(lock_file)
            raise DataDirInUseError(
                f"{self.path} is in use by another VICW process (pid {holder}). "
                "Stop it, talk to it over HTTP, or name another directory with --data-dir"
            ) from error
        write_whole(lock_file, str(os.getpid()).encode())
        self._lock = lock_file

    def record_address(self, url: str) -> None:
        """Record the address of this process, for commands that cannot open the directory while it is in use."""
        if self._lock is not None:
            (self.path / _LOCK).chmod(0o600)
            write_whole(self._lock, f"{os.getpid()}\n{url}\n{self.owner_token}\n".encode())

    @classmethod
    def read_address(cls, path: Path) -> str | None:
        """Return the address of the process that has the directory at ``path`` open, or None."""
        server = cls.read_server(path)
        return server.url if server is not None else None

    @staticmethod
    def read_server(path: Path) -> DataDirServer | None:
        """Return the server that has the directory at ``path`` open, or None: no process, or one without address."""
        try:
            lock_file = open_lock_file(path / _LOCK, create=False)
        except OSError:
            return None
        try:
            lock(lock_file, shared=True)
        except OSError:
            _, url, token = _read_lock_file(lock_file)
            return DataDirServer(url, token or None) if url else None
        finally:
            os.close(lock_file)
        return None

    def size(self) -> int:
        """Return the bytes that the files of the directory take on the disk."""
        total = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                with contextlib.suppress(FileNotFoundError):  # engines replace files at any time
                    file = Path(folder, name).lstat()
                    total += file.st_blocks * _BLOCK if hasattr(file, "st_blocks") else file.st_size
        return total

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

    def require_room_to_copy(self, folder: Path) -> None:
        """Raise StorageFullError unless a copy of ``folder`` leaves room to index."""
        size = sum(_size_on_disk(file) for file in folder.rglob("*") if file.is_file())
        needed, free = size + int(self._min_free_bytes * _INDEX_SHARE), shutil.disk_usage(self.path).free
        if free < needed:
            raise StorageFullError(
                f"{self.path} has {free // 1048576} MiB free and needs {needed // 1048576} to copy {folder.name}. "
                "Make room, then run the command again"
            )

    def _require(self, needed: int, advice: str) -> None:
        free = shutil.disk_usage(self.path).free
        if free < needed:
            raise StorageFullError(
                f"{self.path} has {free // 1048576} MiB free and needs {needed // 1048576} (VICW_MIN_FREE_MB). {advice}"
            )


def _size_on_disk(file: Path) -> int:
    stat = file.stat()
    blocks: int | None = getattr(stat, "st_blocks", None)  # Windows has none
    return stat.st_size if blocks is None else blocks * 512


def _take(lock_file: int) -> None:
    """Lock a lock file; wait a moment for a command that only asks who has it. Raises OSError if it is in use."""
    for left in reversed(range(_TRIES)):
        try:
            lock(lock_file)
        except OSError:
            if not left:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _read_lock_file(lock_file: int) -> tuple[str, str, str]:
    """Return the holder's process id, address and token; each is empty if it is not recorded."""
    lines = read_start(lock_file, 512).decode(errors="replace").split("\n")
    pid, url, token = (line.strip() for line in (*lines[:3], "", "", "")[:3])
    return pid, url, token
