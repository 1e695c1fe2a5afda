"""Small disks that can be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_MIB = 1024 * 1024


class Disk:
    """A mounted file system and the ballast that takes its room."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    @property
    def free(self) -> int:
        """Bytes that are free."""
        stat = os.statvfs(self.path)
        return stat.f_bavail * stat.f_frsize

    def leave(self, mib: float) -> None:
        """Fill the disk up to so many MiB."""
        self.clear()
        with self._ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, self.free - int(mib * _MIB)))

    def clear(self) -> None:
        """Give the ballast's room back."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(directory: Path, mib: int) -> Iterator[Disk]:
    """Mount a file system of so many MiB in memory; skip where this user may not mount."""
    point = directory / "disk"
    point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,huge=never", "vicw-test", str(point)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a full disk cannot be tried: mounting one is not permitted here ({mounted.stderr.strip()})")
    try:
        yield Disk(point)
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)
