"""Writer of an export's folder: it builds the folder under another name and renames it when complete."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from vicw_core.archive import manifest as manifests
from vicw_core.archive.manifest import EMBEDDINGS, FileEntry, Manifest
from vicw_core.archive.rows import Row, RowType
from vicw_core.files import lock, open_lock_file, sync_folder
from vicw_shared.errors import DataDirError, StateConflictError, StorageFullError

_LOCK = ".lock"
_IGNORED_FILES = frozenset({_LOCK, ".DS_Store", "Thumbs.db", "desktop.ini"})
"""The lock, and files that desktops leave in folders; they do not count as content."""
_FULL = {28, 122}  # ENOSPC, EDQUOT

type Position = dict[str, tuple[int, int]]
"""Position in each file: bytes, rows."""


class ArchiveWriter:
    """Writes an export beside its target path, and moves it there when it is complete.

    It replaces an existing export, and refuses a folder with other content. A killed process leaves a partial folder
    under the other name, which the next writer removes. Raises StorageFullError if the disk is full; the partial folder
    is removed then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        if not self.path.name:
            raise StateConflictError(f"{path} is the root of a disk. Name a folder of its own")
        self._partial = self.path.with_name(f".{self.path.name}.partial")
        self._replaced = self.path.with_name(f".{self.path.name}.replaced")
        self._lock: int | None = None
        self._files: dict[str, IO[bytes]] = {}
        self._rows: dict[str, int] = {}

    def __enter__(self) -> Self:
        """Begin. Raises StateConflictError for a folder with other content or another writer, DataDirError."""
        require_free(self.path)
        for path in (self._partial, self._replaced):
            if os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or _find_foreign(path)):
                raise StateConflictError(f"{path} exists and is not a partial export: move it away")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._partial.mkdir(mode=0o700, exist_ok=True)
            self._lock_partial()
            if not self.path.exists() and is_archive(self._replaced):
                self._replaced.rename(self.path)  # the process died in the middle of a move
            for entry in self._partial.iterdir():
                if entry.is_dir():
                    shutil.rmtree(entry)
                elif entry.name != _LOCK:
                    entry.unlink()
            (self._partial / EMBEDDINGS).mkdir()
        except OSError as error:
            self._discard_partial()
            raise _translated(error, self.path) from error
        return self

    def _lock_partial(self) -> None:
        self._lock = open_lock_file(self._partial / _LOCK)
        try:
            lock(self._lock)
        except OSError as error:
            os.close(self._lock)
            self._lock = None
            raise StateConflictError(
                f"Another process writes an export to {self.path}: wait, or name another folder"
            ) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            with contextlib.suppress(OSError):  # a full disk raises again
                file.close()
        self._discard_partial()
        if isinstance(error, OSError):
            raise _translated(error, self.path) from error

    def _discard_partial(self) -> None:
        """Remove the partial folder, unless the export is complete or another process holds the lock."""
        if self._lock is not None:
            shutil.rmtree(self._partial, ignore_errors=True)
            os.close(self._lock)
            self._lock = None

    def write[T: Row](self, name: str, kind: RowType[T], rows: Iterable[T]) -> None:
        """Append rows to a file; without rows, no file is created."""
        lines = [kind.dump(row) for row in rows]
        if lines:
            self._file(name).write(("\n".join(lines) + "\n").encode())
            self._rows[name] += len(lines)

    def embed(self, collection: str, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Append vectors of shape (len(ids), size) with their uids."""
        if not ids:
            return
        array, names = f"{EMBEDDINGS}/{collection}.npy", f"{EMBEDDINGS}/{collection}.ids.json"
        file = self._file(array)
        if not file.tell():
            _write_header(file, 0, vectors.shape[1])
        file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
        self._rows[array] += len(ids)
        ids_file = self._file(names)
        ids_file.write(("[\n" if not self._rows[names] else ",\n").encode())
        ids_file.write(",\n".join(map(json.dumps, ids)).encode())
        self._rows[names] += len(ids)

    def position(self) -> Position:
        """Return the position in all files."""
        return {name: (file.tell(), self._rows[name]) for name, file in self._files.items()}

    def rewind(self, position: Position) -> None:
        """Discard the data written since a position."""
        for name, file in self._files.items():
            at, rows = position.get(name, (0, 0))
            file.flush()
            file.seek(at)
            file.truncate()
            self._rows[name] = rows

    def finish(self, manifest: Manifest, size: int) -> Manifest:
        """Complete the export and move it to its path; return its manifest. ``size`` is the vectors' dimensions."""
        for name, file in self._files.items():
            if name.endswith(".ids.json") and self._rows[name]:
                file.write(b"\n]\n")
            if name.endswith(".npy") and self._rows[name]:
                file.seek(0)
                _write_header(file, self._rows[name], size)
            file.flush()
            os.fsync(file.fileno())
            file.close()
        written = {name: self._entry(name) for name in sorted(self._files) if self._rows[name]}
        for name in self._files.keys() - written.keys():
            (self._partial / name).unlink()
        sealed = replace(manifest, files=written).sealed()
        with (self._partial / manifests.NAME).open("wb") as file:
            file.write(sealed.dump().encode())
            file.flush()
            os.fsync(file.fileno())
        self._move()
        return sealed

    def _entry(self, name: str) -> FileEntry:
        with (self._partial / name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return FileEntry(file.tell(), digest, self._rows[name])

    def _move(self) -> None:
        """Replace the earlier export, which is moved aside first: two folders cannot be swapped atomically."""
        assert self._lock is not None
        sync_folder(self._partial / EMBEDDINGS)
        sync_folder(self._partial)
        shutil.rmtree(self._replaced, ignore_errors=True)
        if self.path.exists():
            self.path.rename(self._replaced)
        self._partial.rename(self.path)
        (self.path / _LOCK).unlink()  # not before the move: another process would write into the moved folder
        sync_folder(self.path.parent)
        shutil.rmtree(self._replaced, ignore_errors=True)
        os.close(self._lock)
        self._lock = None

    def _file(self, name: str) -> IO[bytes]:
        if name not in self._files:
            self._files[name] = (self._partial / name).open("wb")
            self._rows[name] = 0
        return self._files[name]


def require_free(path: Path) -> None:
    """Raise StateConflictError unless ``path`` is missing, an empty folder, or an export."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise StateConflictError(f"{path} is not a folder: name another place for the export")
    if path.is_mount():
        raise StateConflictError(
            f"{path} is the mount point of a volume, which cannot be replaced: name a folder inside it"
        )
    if path.exists() and any(path.iterdir()) and not is_archive(path):
        raise StateConflictError(f"{path} holds other files: name a folder that is new, empty, or an earlier export")
    if foreign := _find_foreign(path):
        raise StateConflictError(
            f"{path} is an earlier export that also contains {foreign}, which would be deleted: move that away, or "
            "name another folder"
        )


def is_archive(path: Path) -> bool:
    """Return whether a folder has the manifest of an export, complete or not."""
    try:
        with (path / manifests.NAME).open("rb") as file:
            return f'"format": "{manifests.FORMAT}"'.encode() in file.read(1000)
    except OSError:
        return False


def _find_foreign(path: Path) -> str:
    """Return the name of a file in a folder that no export has, "" if there is none."""
    for entry in path.rglob("*"):
        name = entry.relative_to(path).as_posix()
        is_folder = name == EMBEDDINGS and entry.is_dir() and not entry.is_symlink()
        if not is_folder and entry.name not in _IGNORED_FILES and not manifests.is_name(name):
            return name
    return ""


def _write_header(file: IO[bytes], rows: int, size: int) -> None:
    # NumPy leaves room for the first axis to grow, so that the last header is as long as the first.
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, size)})


def _translated(error: OSError, path: Path) -> Exception:
    if error.errno in _FULL:
        return StorageFullError(f"The disk is full: there is no room for the export {path}. Nothing of it was kept")
    return DataDirError(f"{path} cannot be written: {error.strerror or error}")
