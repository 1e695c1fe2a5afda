"""Where tests put what engines sync dozens of times: in memory, where there is enough of it."""

from __future__ import annotations

import shutil
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOMY = 4 * 1024**3
"""A server's empty store takes 250 MB. A process that writes to a mapped file of a full file system is killed."""


def fast_directory() -> Path | None:
    """Return the file system in memory if it has room, else None: the usual one for temporary files."""
    return _MEMORY if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOMY else None
