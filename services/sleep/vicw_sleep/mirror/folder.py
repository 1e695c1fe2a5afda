"""The folder of a mirror on disk: ours or refused, written file by file, or built beside and swapped."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from vicw_shared.errors import SettingsError, StateConflictError, StorageFullError, UnavailableError
from vicw_sleep.mirror.ledger import LEDGER
from vicw_sleep.mirror.relocation import (
    INTENT,
    MARKER,
    STAGING,
    intended_in,
    is_hardly_begun,
    leave,
    name_aside,
    remove,
)

SETTING = "VICW_MIRROR_PATH"
_FORMAT = 1
_FULL = {errno.ENOSPC, errno.EDQUOT}
_AT_FDCWD, _EXCHANGE = -100, 2


@dataclass(frozen=True, slots=True)
class Marker:
    """What marks a folder as a mirror: of which store's tenant, for whom. ``whole``: its building came to its end.

    ``erased`` is how often something had been erased in the store: a mirror from before may have it still.
    """

    store: str
    tenant: str
    viewer: str
    format: int = _FORMAT
    whole: bool = True
    erased: int = 0

    def is_of(self, other: Marker) -> bool:
        """Tell whether both are of the same store's tenant."""
        return (self.store, self.tenant) == (other.store, other.tenant)


class MirrorFolder:
    """A mirror's place on disk. Its methods raise SettingsError, StorageFullError or UnavailableError."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        if not self.path.name:
            raise SettingsError(f"{SETTING} is {str(path)!r}, the root of a disk. Name a folder of its own")
        self.building = self.path.with_name(f".{self.path.name}.vicw-building")
        self._old = self.path.with_name(f".{self.path.name}.vicw-old")

    def require_ours(self, wanted: Marker) -> Marker | None:
        """Return the mirror's marker, None where there is no mirror yet; whatever else is there is refused.

        What a death in the middle of a swap has left is brought to its end before.
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
        found = _marker(self.path)
        if found is None:
            if any(self.path.iterdir()):
                raise self._refused("holds other files", "Name a folder that is new, empty or a mirror")
            return None
        if not found.is_of(wanted):
            raise self._refused("is the mirror of another store or tenant", "Name another folder, or remove that one")
        return found

    def is_mirror_of(self, wanted: Marker) -> bool:
        """Tell whether the mirror is there, be it aside after a death in the middle of a swap. Changes nothing."""
        found = _marker(self.path if os.path.lexists(self.path) else self._old)
        return found is not None and found.is_of(wanted)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the mirror inside: one process writes to it. Raises ConflictError while another does."""
        with self.translated():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            name = self.path.with_name(f".{self.path.name}.vicw-lock")
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise StateConflictError(
                    f"another process is writing to the mirror at {self.path}. Wait for its end"
                ) from error
            yield
        finally:
            os.close(lock)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn what a file system refuses into errors that name the setting and the fix."""
        try:
            yield
        except sqlite3.Error as error:
            place = f"{SETTING} is {str(self.path)!r}"
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                raise StorageFullError(f"{place}: the disk is full. Make room; the mirror is as it was") from error
            raise UnavailableError("mirror", f"{place}: {LEDGER}: {error}") from error
        except OSError as error:
            place = f"{SETTING} is {str(self.path)!r}"
            if error.errno in _FULL:
                raise StorageFullError(f"{place}: the disk is full. Make room; the mirror is as it was") from error
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
                    f"{place}, which cannot be written ({why}). Give VICW the right, or name another folder"
                ) from error
            raise UnavailableError("mirror", f"{place}: {error.strerror or error}") from error

    def begin(self, marker: Marker) -> Path:
        """Return an empty folder beside the mirror to build the next one in."""
        self.finish()
        self.building.mkdir(mode=0o700)
        _replace(self.building / MARKER, asdict(marker) | {"whole": False})
        return self.building

    def swap(self, marker: Marker) -> list[str]:
        """Put what was built in the mirror's place, in one step where the system can, and remove what was there.

        Files in it that are not ours move along: settings of a reader, notes, edits. Returns the pages that were edited
        while this went on.
        """
        _replace(self.building / MARKER, asdict(marker))
        os.sync()  # a file for each would take minutes
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
        """Remove what is left of a build or a swap, once what is not ours has moved into the mirror.

        Returns the pages of which an edit was put aside.
        """
        edited: list[str] = []
        for left in (self._old, self.building):
            if not os.path.lexists(left):
                continue
            found = None if left.is_symlink() else _marker(left)
            if found is None and (left.is_symlink() or not is_hardly_begun(left)):
                raise self._refused(f"has {left} beside it, which VICW did not make", f"Move {left} away")
            if found is not None and found.whole and self.path.is_dir():
                edited += leave(left, self.path)
            remove(left)
        return edited

    def write(self, page: str, content: bytes, *, into: Path | None = None) -> bytes:
        """Write a file of the mirror, or of a folder beside it; return its SHA-256."""
        if into is None:
            self._require_no_links(page)
        target = (into or self.path) / page
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, content)
        return hashlib.sha256(content).digest()

    @contextmanager
    def staged(self, pages: Mapping[str, bytes | None]) -> Iterator[dict[str, Path]]:
        """Write what pages will be; yield where each waits to be put in its ``place``. What still waits then goes."""
        staging = self.path / STAGING
        shutil.rmtree(staging, ignore_errors=True)
        try:
            staging.mkdir()
            found: dict[str, Path] = {}
            for number, (page, content) in enumerate(pages.items()):
                self._require_no_links(page)
                if content is not None:
                    (self.path / page).parent.mkdir(parents=True, exist_ok=True)
                    found[page] = staging / str(number)
                    _write(found[page], content)
            yield found
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def place(self, new: Path, page: str) -> None:
        """Put what was staged in a page's place, in one step."""
        self._require_no_links(page)
        new.replace(self.path / page)

    def remove(self, page: str) -> None:
        """Remove a page, and the folders that are empty then."""
        self._require_no_links(page)
        (self.path / page).unlink(missing_ok=True)
        for folder in list((self.path / page).parents)[: page.count("/")]:
            with suppress(OSError):
                folder.rmdir()

    def keep_edit(self, page: str, known: bytes | None) -> bool:
        """Copy a page that is not what was written to where edits are kept; return whether it had to be."""
        current = self.read(page)
        if current is None or known is None or hashlib.sha256(current).digest() == known:
            return False
        if (name := name_aside(self.path, page, current)) is not None:
            self.write(name, current)
        return True

    def read(self, page: str) -> bytes | None:
        """Return what is in a page now; None if it is not there."""
        try:
            self._require_no_links(page)
            return (self.path / page).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None

    def lost(self, pages: Iterable[str]) -> list[str]:
        """Return which of these pages are not there any more: somebody has removed them."""
        return [page for page in pages if not os.path.lexists(self.path / page)]

    def intend(self, pages: Mapping[str, bytes | None]) -> None:
        """Note what is about to be written (SHA-256, None: removed), so that a death is not taken for edits."""
        told = {page: sha.hex() if sha else None for page, sha in pages.items()}
        _replace(self.path / INTENT, told)

    def intended(self) -> dict[str, bytes] | None:
        """Return what was about to be written when somebody died; None: nobody did."""
        return intended_in(self.path)

    def settled(self) -> None:
        """Forget what was intended: it is done."""
        (self.path / INTENT).unlink(missing_ok=True)

    def _require_no_links(self, page: str) -> None:
        folder = self.path
        for part in page.split("/"):
            folder = folder / part
            if folder.is_symlink():
                raise self._refused(f"has a symbolic link in it, {folder}", "Remove the link")

    def _refused(self, why: str, fix: str) -> SettingsError:
        return SettingsError(f"{SETTING} is {str(self.path)!r}, which {why}. {fix}")


def _marker(folder: Path) -> Marker | None:
    try:
        told = json.loads((folder / MARKER).read_bytes())
        return Marker(**told)
    except (OSError, ValueError, TypeError):
        return None


def _replace(file: Path, told: Mapping[str, object]) -> None:
    """Write JSON in one step: a mirror with half of its marker would not be known for one."""
    new = file.with_name(f"{file.name}.new")
    _write(new, json.dumps(told).encode())
    new.replace(file)


def _write(target: Path, content: bytes) -> None:
    with target.open("wb") as file:
        file.write(content)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system, or the file system, cannot."""
    rename: Callable[..., int] | None = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    return rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0
