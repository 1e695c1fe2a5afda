"""Search for erased data in files: a data directory, a mirror, exports and backups."""

from __future__ import annotations

import os
import tarfile
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from vicw_core.archive import PACKED
from vicw_core.archive.writer import is_archive
from vicw_ingest.erasure.fingerprints import WINDOW
from vicw_ingest.erasure.residue_scan import Residue

_BLOCK = 2**16
"""Bytes of a block: it fits into a processor's cache, and most of a preallocated file is skipped as empty."""
_STORE = "graph.sqlite3"
_PARTIAL = ".partial"
"""Suffix of an export or backup while it is written."""
_REPLACED = "replaced-"
"""Prefix of the folder in which a restore keeps replaced data."""
_KEPT: dict[tuple[int, int], int] = {}
"""Descriptors of the store's files by device and inode, never closed while the process lives.

SQLite locks a file for the process, and POSIX releases a process's locks on a file as soon as it closes any descriptor
of it. Another process that opens the store would then take its log for nobody's, and cut it off under the server.
"""
_KEEPING = threading.Lock()
_NOT_READ = frozenset({"models"})
"""Folders of a data directory without stored data."""


class UnreadableCopyError(Exception):
    """A broken or unreadable copy, whose content is unknown. The message names it and the reason."""


def search_files(root: Path, residue: Residue, *, without: Callable[[Path], bool] = lambda path: False) -> int:
    """Search all files of a folder, or one file; return the number of bytes read. Links are not followed."""
    done = 0
    for path in sorted(_files(root)):
        if not without(path):
            # The engines remove files while they run: what is gone holds nothing.
            with suppress(FileNotFoundError), _opened(path) as file:
                done += _search(str(path), file, residue)
    return done


def search_store(data_dir: Path, residue: Residue) -> int:
    """Search a data directory, except models and data that a restore moved aside, which is a copy."""

    def is_none(path: Path) -> bool:
        first = path.relative_to(data_dir).parts[0]
        return first in _NOT_READ or first.startswith(_REPLACED)

    return search_files(data_dir, residue, without=is_none)


def copies_in(folders: list[Path], data_dir: Path | None) -> list[Path]:
    """Return the exports and backups at or below these folders, and the data that restores moved aside.

    Copied data directories and partial exports of killed processes count, too; the data directory in use does not.
    """
    own = os.path.realpath(data_dir) if data_dir is not None else None
    copies = [path for path in (data_dir.iterdir() if data_dir is not None else ()) if path.name.startswith(_REPLACED)]
    for folder in folders:
        copies += _copies(folder, own)
    return sorted(set(copies))


def search_copy(copy: Path, residue: Residue) -> None:
    """Search an export or a backup, packed or not; findings name the copy, not the file in it.

    Raises UnreadableCopyError.
    """
    try:
        if copy.is_dir():
            for folder, _, names in copy.walk(on_error=_refuse):
                for path in (folder / name for name in sorted(names)):
                    if path.is_file() and not path.is_symlink():
                        with _opened(path, is_copy=True) as file:
                            _search(str(copy), file, residue)
        else:
            _search_packed(copy, residue)
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise UnreadableCopyError(f"{copy} cannot be read: {error}") from error


def _copies(path: Path, own: str | None, *, linked: bool = True) -> Iterator[Path]:
    """Yield the copies in a folder. A link to a copy counts; other links are followed only if ``linked``.

    An unreadable path counts as a copy, since its content is unknown.
    """
    try:
        is_copy = _is_copy(path) and os.path.realpath(path) != own
        is_folder = not is_copy and path.is_dir() and (linked or not path.is_symlink())
        inside = sorted(path.iterdir()) if is_folder else []
    except OSError:
        is_copy, inside = True, []
    if is_copy:
        yield path
    for inner in inside:
        yield from _copies(inner, own, linked=False)


def _is_copy(path: Path) -> bool:
    whole = path.name.removesuffix(_PARTIAL)
    if not path.is_dir():
        return whole.endswith(PACKED)
    return whole != path.name or is_archive(path) or (path / _STORE).exists()


def _refuse(error: OSError) -> None:
    raise error


def _search_packed(copy: Path, residue: Residue) -> None:
    with tarfile.open(copy, "r:gz") as tar:
        for member in tar:
            if (packed := tar.extractfile(member)) is not None:
                _search(str(copy), packed, residue)


def _files(root: Path) -> Iterator[Path]:
    for path in [root] if root.is_file() else root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path


class _Bytes(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Kept:
    """Reads a file by a descriptor that others read by, too, and that stays open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._done = descriptor, 0

    def read(self, size: int, /) -> bytes:
        block = os.pread(self._descriptor, size, self._done)
        self._done += len(block)
        return block


@contextmanager
def _opened(path: Path, *, is_copy: bool = False) -> Iterator[_Bytes]:
    """Open a file to read; one that SQLite may have open in this process stays open afterwards.

    ``is_copy``: nobody has it open, unless it is a link to the store's.
    """
    found = path.stat()
    with _KEEPING:
        descriptor = _KEPT.get((found.st_dev, found.st_ino))
        may_be_locked = path.name.startswith(_STORE) and not is_copy and hasattr(os, "pread")  # not on Windows
        if descriptor is None and may_be_locked:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            opened = os.fstat(descriptor)  # it may have been replaced meanwhile
            descriptor = _KEPT.setdefault((opened.st_dev, opened.st_ino), descriptor)
    if descriptor is not None:
        yield _Kept(descriptor)
        return
    with path.open("rb") as file:
        yield file


def _search(place: str, file: _Bytes, residue: Residue) -> int:
    """Search a file block by block, each with the end of the previous block."""
    done, end = 0, b""
    while block := file.read(_BLOCK):
        residue.scan(place, end + block)
        end, done = block[1 - WINDOW :], done + len(block)
    return done
