"""Files that processes share, on every system: locks, and folders whose entries are durable."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCKED_BYTE = 1 << 30
"""Place of the byte that Windows locks: it keeps others from reading what is locked, so it lies behind the content."""
_BINARY = getattr(os, "O_BINARY", 0)


def open_lock_file(path: Path, *, create: bool = True) -> int:
    """Open a file to lock, readable by its owner alone, and return its descriptor. Raises OSError.

    A link in its place is not followed, where the system can tell.
    """
    flags = os.O_RDWR | (os.O_CREAT if create else 0) | getattr(os, "O_NOFOLLOW", 0) | _BINARY
    return os.open(path, flags, 0o600)


def lock(file: int, *, shared: bool = False) -> None:
    """Lock an open file until it is closed; ``shared``: beside other shared locks, where the system has them.

    Raises OSError at once if another has locked it. The system drops the lock if the process dies.
    """
    if fcntl is not None:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        return
    import msvcrt

    os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(file, msvcrt.LK_NBLCK, 1)


def read_start(file: int, size: int) -> bytes:
    """Return the first ``size`` bytes of an open file, or fewer if it is shorter."""
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, size)


def write_whole(file: int, content: bytes) -> None:
    """Replace the content of an open file, which is a few lines."""
    os.ftruncate(file, 0)
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, content)


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder durable. Does nothing where folders cannot be opened: the system does it itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_all() -> None:
    """Make everything written durable, where the system has one call for it."""
    if hasattr(os, "sync"):
        os.sync()
