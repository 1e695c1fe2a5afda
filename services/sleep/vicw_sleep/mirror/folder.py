"""The mirror's folder on disk. A folder of other content is refused; each mirror is built beside it and swapped in."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from vicw_core.files import lock, open_lock_file, sync_all
from vicw_shared.errors import SettingsError, StateConflictError, StorageFullError, UnavailableError
from vicw_sleep.mirror.relocation import MARKER, is_hardly_begun, manifest_of, move_foreign_files, remove

SETTING = "VICW_MIRROR_PATH"
_FORMAT = 3
_FULL = {errno.ENOSPC, errno.EDQUOT}
_AT_FDCWD, _EXCHANGE = -100, 2


@dataclass(frozen=True, slots=True)
class Marker:
    """Marker file of a mirror: its store, tenant and viewer. ``whole``: the build is complete.

    ``erased`` is the store's number of erasures at build time: a mirror from before an erasure may still have the data.
    ``changes`` is a digest of the passages' changes since ``since``, taken before the build; ``ends_at`` is when the
    first of its ``atoms`` expires. No automatic build starts before ``rests_until``. Times are in microseconds.
    """

    store: str
    tenant: str
    viewer: str
    format: int = _FORMAT
    whole: bool = True
    erased: int = 0
    since: int = 0
    changes: str = ""
    ends_at: int | None = None
    rests_until: int = 0
    atoms: int = 0

    def is_of(self, other: Marker) -> bool:
        """Return whether both belong to the same store and tenant."""
        return (self.store, self.tenant) == (other.store, other.tenant)


class MirrorFolder:
    """The mirror's folder. Its methods raise SettingsError, StorageFullError or UnavailableError."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        if not self.path.name:
            raise SettingsError(
                f"{SETTING} is {str(path)!r}, the root of a disk. Name a folder that only the mirror uses"
            )
        self.building = self.path.with_name(f".{self.path.name}.vicw-building")
        self._old = self.path.with_name(f".{self.path.name}.vicw-old")

    def require_ours(self, expected: Marker) -> Marker | None:
        """Return the mirror's marker, None if there is no mirror yet; refuse any other content.

        A swap that a crash interrupted is completed first.
        """
        if not os.path.lexists(self.path) and _marker(self._old) is not None:
            self._old.rename(self.path)
        if self.path.is_symlink():
            raise self._refused("is a symbolic link", "Name the folder that it leads to, or another one")
        if not self.path.exists():
            return None
        if not self.path.is_dir():
            raise self._refused("is a file", "Name a folder that is new, empty or a mirror")
        if self.path.is_mount():
            raise self._refused("is where a volume is mounted, which cannot be swapped", "Name a folder inside of it")
        marker = _marker(self.path)
        if marker is None:
            if any(self.path.iterdir()):
                raise self._refused("contains other files", "Name a folder that is new, empty or a mirror")
            return None
        if not marker.is_of(expected):
            raise self._refused("is the mirror of another store or tenant", "Name another folder, or remove that one")
        return marker

    def marker(self) -> Marker | None:
        """Return the mirror's marker, even if a crash during a swap left it aside. Changes nothing."""
        return _marker(self.path if os.path.lexists(self.path) else self._old)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the mirror for the block: one process writes to it. Raises StateConflictError while another does."""
        with self.translated():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            name = self.path.with_name(f".{self.path.name}.vicw-lock")
            lock_file = open_lock_file(name)
        try:
            try:
                lock(lock_file)
            except OSError as error:
                raise StateConflictError(
                    f"another process is writing to the mirror at {self.path}. Wait until it ends"
                ) from error
            yield
        finally:
            os.close(lock_file)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Convert file system errors into errors that name the setting and the fix."""
        try:
            yield
        except sqlite3.Error as error:
            place = f"{SETTING} is {str(self.path)!r}"
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                raise StorageFullError(f"{place}: the disk is full. Make room; the mirror is unchanged") from error
            raise UnavailableError("mirror", f"{place}: {error}") from error
        except OSError as error:
            place = f"{SETTING} is {str(self.path)!r}"
            if error.errno in _FULL:
                raise StorageFullError(f"{place}: the disk is full. Make room; the mirror is unchanged") from error
            if error.errno in {
                errno.EACCES,
                errno.EPERM,
                errno.EROFS,
                errno.ENOTDIR,
                errno.ELOOP,
                errno.ENAMETOOLONG,
                errno.EEXIST,
                errno.EBUSY,
            }:
                why = f"{error.strerror}: {error.filename or self.path}"
                raise SettingsError(
                    f"{place}, which cannot be written ({why}). Give VICW write permission, or name another folder"
                ) from error
            raise UnavailableError("mirror", f"{place}: {error.strerror or error}") from error

    def begin(self, marker: Marker) -> Path:
        """Return an empty folder beside the mirror for the next build."""
        self.finish()
        self.building.mkdir(mode=0o700)
        _replace(self.building / MARKER, asdict(marker) | {"whole": False})
        return self.building

    def swap(self, marker: Marker) -> list[str]:
        """Put the build in the mirror's place, atomically where the system supports it, and remove the earlier mirror.

        Foreign files move along: a reader's settings, notes, edits. Returns the pages that were edited during the
        build.
        """
        _replace(self.building / MARKER, asdict(marker))
        sync_all()  # an fsync of each file would take minutes
        if not self.path.exists():
            self.building.rename(self.path)
            return []
        if _exchanged(self.building, self.path):
            self.building.rename(self._old)
        else:
            self.path.rename(self._old)
            self.building.rename(self.path)
        return self.finish()

    def finish(self) -> list[str]:
        """Remove the rest of a build or swap, after moving foreign files into the mirror.

        Returns the pages of which an edit was set aside.
        """
        edited: list[str] = []
        for leftover in (self._old, self.building):
            if not os.path.lexists(leftover):
                continue
            marker = None if leftover.is_symlink() else _marker(leftover)
            if marker is None and (leftover.is_symlink() or not is_hardly_begun(leftover)):
                raise self._refused(f"has {leftover} beside it, which VICW did not create", f"Move {leftover} away")
            if marker is not None and marker.whole and self.path.is_dir():
                edited += move_foreign_files(leftover, self.path)
            remove(leftover)
        return edited

    def write(self, page: str, content: bytes, *, into: Path) -> None:
        """Write a file of the build."""
        target = into / page
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, content)

    def missing(self) -> int | None:
        """Return the number of missing pages; None without a readable manifest."""
        pages = manifest_of(self.path)
        return sum(not os.path.lexists(self.path / page) for page in pages) if pages is not None else None

    def _refused(self, why: str, fix: str) -> SettingsError:
        return SettingsError(f"{SETTING} is {str(self.path)!r}, which {why}. {fix}")


def _marker(folder: Path) -> Marker | None:
    try:
        fields = json.loads((folder / MARKER).read_bytes())
        return Marker(**fields)
    except (OSError, ValueError, TypeError):
        return None


def _replace(file: Path, fields: Mapping[str, object]) -> None:
    """Write JSON atomically: a mirror with a partial marker would not be recognised."""
    new = file.with_name(f"{file.name}.new")
    _write(new, json.dumps(fields).encode())
    new.replace(file)


def _write(target: Path, content: bytes) -> None:
    with target.open("wb") as file:
        file.write(content)


def _exchanged(first: Path, second: Path) -> bool:
    """Exchange two folders atomically; return False where the system or the file system cannot."""
    library = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    rename: Callable[..., int] | None = getattr(library, "renameat2", None)
    if rename is None:
        return False
    return rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE) == 0
