"""Looking through files for what was erased: of a data directory, of a mirror, of exports and backups."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from vicw_shared.archive.writing import is_archive
from vicw_shared.fingerprints import WINDOW
from vicw_sleep.remains import Remains
from vicw_standalone.archiving.backups import PACKED

_BLOCK = 2**22
_REPLACED = "replaced-"
"""How a folder begins in which a restore keeps what it has replaced."""
_NOT_READ = frozenset({"models"})
"""Folders of a data directory that hold nothing of what was stored."""


def look_through_files(root: Path, remains: Remains, *, without: Callable[[Path], bool] = lambda path: False) -> int:
    """Look through all files of a folder, or a file, by the byte; return how many bytes. Links are not followed."""
    done = 0
    for path in sorted(_files(root)):
        if not without(path):
            with path.open("rb") as file:
                done += _look(str(path), file, remains)
    return done


def look_through_store(data_dir: Path, remains: Remains) -> int:
    """Look through a data directory, but for models, and what a restore has put aside: that is a copy."""

    def is_none(path: Path) -> bool:
        first = path.relative_to(data_dir).parts[0]
        return first in _NOT_READ or first.startswith(_REPLACED)

    return look_through_files(data_dir, remains, without=is_none)


def copies_in(folders: list[Path], data_dir: Path | None) -> list[Path]:
    """Return the exports and backups in these folders, or that are these, and what restores have put aside."""
    found = [path for path in (data_dir.iterdir() if data_dir is not None else ()) if path.name.startswith(_REPLACED)]
    for folder in folders:
        inside = [folder, *(folder.iterdir() if folder.is_dir() else ())]
        found += [path for path in inside if path.name.endswith(PACKED) or (path.is_dir() and is_archive(path))]
    return sorted(set(found))


def look_through_copy(copy: Path, remains: Remains) -> None:
    """Look through an export or a backup, packed or not; whatever is found is found in the copy as a whole."""
    if not copy.name.endswith(PACKED):
        for path in _files(copy):
            with path.open("rb") as file:
                _look(str(copy), file, remains)
        return
    with tarfile.open(copy, "r:gz") as tar:
        for member in tar:
            if (packed := tar.extractfile(member)) is not None:
                _look(str(copy), packed, remains)


def _files(root: Path) -> Iterator[Path]:
    for path in [root] if root.is_file() else root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path


def _look(place: str, file: IO[bytes], remains: Remains) -> int:
    """Look through a file block by block, each with the end of the one before."""
    done, end = 0, b""
    while block := file.read(_BLOCK):
        remains.look(place, end + block)
        end, done = block[1 - WINDOW :], done + len(block)
    return done
