"""Looking through files for what was erased: of a data directory, of a mirror, of exports and backups."""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from vicw_shared.archive.writer import is_archive
from vicw_shared.fingerprints import WINDOW
from vicw_sleep.residue_scan import Residue
from vicw_standalone.archive.backups import PACKED

_BLOCK = 2**22
_STORE = "graph.sqlite3"
_PARTIAL = ".partial"
"""How the name of an export or a backup ends while it is written."""
_REPLACED = "replaced-"
"""How a folder begins in which a restore keeps what it has replaced."""
_NOT_READ = frozenset({"models"})
"""Folders of a data directory that hold nothing of what was stored."""


class UnreadableCopyError(Exception):
    """A copy that is broken, or that may not be read: nobody knows what it has. Names it, and why."""


def look_through_files(root: Path, remains: Residue, *, without: Callable[[Path], bool] = lambda path: False) -> int:
    """Look through all files of a folder, or a file, by the byte; return how many bytes. Links are not followed."""
    done = 0
    for path in sorted(_files(root)):
        if not without(path):
            with path.open("rb") as file:
                done += _look(str(path), file, remains)
    return done


def look_through_store(data_dir: Path, remains: Residue) -> int:
    """Look through a data directory, but for models, and what a restore has put aside: that is a copy."""

    def is_none(path: Path) -> bool:
        first = path.relative_to(data_dir).parts[0]
        return first in _NOT_READ or first.startswith(_REPLACED)

    return look_through_files(data_dir, remains, without=is_none)


def copies_in(folders: list[Path], data_dir: Path | None) -> list[Path]:
    """Return the exports and backups in these folders, however deep, or that are these, and what restores put aside.

    A copied data directory is one, too, and so is what a death has left of an export; the one in use is none.
    """
    own = os.path.realpath(data_dir) if data_dir is not None else None
    found = [path for path in (data_dir.iterdir() if data_dir is not None else ()) if path.name.startswith(_REPLACED)]
    for folder in folders:
        found += _copies(folder, own)
    return sorted(set(found))


def look_through_copy(copy: Path, remains: Residue) -> None:
    """Look through an export or a backup, packed or not; whatever is found is found in the copy as a whole.

    Raises UnreadableError.
    """
    try:
        if copy.is_dir():
            for folder, _, names in copy.walk(on_error=_refuse):
                for path in (folder / name for name in sorted(names)):
                    if path.is_file() and not path.is_symlink():
                        with path.open("rb") as file:
                            _look(str(copy), file, remains)
        else:
            _look_through_packed(copy, remains)
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise UnreadableCopyError(f"{copy} cannot be read: {error}") from error


def _copies(path: Path, own: str | None, *, linked: bool = True) -> Iterator[Path]:
    """Yield the copies in a folder. Links in it may be copies, but lead nowhere else: ``linked``, as it may be itself.

    What may not be looked into is one: what it has nobody knows.
    """
    try:
        is_copy = _is_copy(path) and os.path.realpath(path) != own
        is_folder = not is_copy and path.is_dir() and (linked or not path.is_symlink())
        inside = sorted(path.iterdir()) if is_folder else []
    except OSError:
        is_copy, inside = True, []
    if is_copy:
        yield path
    for one in inside:
        yield from _copies(one, own, linked=False)


def _is_copy(path: Path) -> bool:
    whole = path.name.removesuffix(_PARTIAL)
    if not path.is_dir():
        return whole.endswith(PACKED)
    return whole != path.name or is_archive(path) or (path / _STORE).exists()


def _refuse(error: OSError) -> None:
    raise error


def _look_through_packed(copy: Path, remains: Residue) -> None:
    with tarfile.open(copy, "r:gz") as tar:
        for member in tar:
            if (packed := tar.extractfile(member)) is not None:
                _look(str(copy), packed, remains)


def _files(root: Path) -> Iterator[Path]:
    for path in [root] if root.is_file() else root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path


def _look(place: str, file: IO[bytes], remains: Residue) -> int:
    """Look through a file block by block, each with the end of the one before."""
    done, end = 0, b""
    while block := file.read(_BLOCK):
        remains.scan(place, end + block)
        end, done = block[1 - WINDOW :], done + len(block)
    return done
