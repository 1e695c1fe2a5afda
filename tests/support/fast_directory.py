"""Where tests put what engines sync dozens of times: in memory, where there is enough of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOMY = 4 * 1024**3
"""A server's empty store takes 250 MB. A process that writes to a mapped file of a full file system is killed."""


def fast_directory() -> Path | None:
    """Return the file system in memory if it has room, else None: the usual one for temporary files."""
    return _MEMORY if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOMY else None


def keep_temporary_files_in_memory() -> None:
    """Have pytest's ``tmp_path``, and whatever this process and those that it starts make for a while, be there.

    On a disk, to open a store is to wait for it 400 times. A file system from which nothing may be run is left alone:
    tests install programs.
    """
    directory = fast_directory()
    if directory is None or os.statvfs(directory).f_flag & os.ST_NOEXEC:
        return
    for variable in ("PYTEST_DEBUG_TEMPROOT", "TMPDIR"):
        os.environ.setdefault(variable, str(directory))
    tempfile.tempdir = None
