"""Reader of an export's folder. Its content is untrusted until ``verify`` has passed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicw_core.archive import manifest as manifests
from vicw_core.archive import refusal
from vicw_core.archive.manifest import EMBEDDINGS, Manifest
from vicw_core.archive.rows import UID, Row, RowType

_MAX_LINE_BYTES = 256 * 2**20
_MAX_MANIFEST_BYTES = 16 * 2**20
_PART = 2**20


class ArchiveReader:
    """The export at a path."""

    def __init__(self, path: Path) -> None:
        """Read the manifest. Raises InvalidInputError that names the fault."""
        self.path = path
        self.manifest: Manifest = manifests.load(self._text(manifests.NAME, _MAX_MANIFEST_BYTES))

    def verify(self, progress: Callable[[int], None] = lambda done: None) -> None:
        """Compare size and SHA-256 of every file with the manifest.

        ``progress`` receives the number of bytes done. Raises InvalidInputError.
        """
        done = 0
        for name, entry in self.manifest.files.items():
            digest = hashlib.sha256()
            with self._open(name) as file:
                if (size := os.fstat(file.fileno()).st_size) != entry.bytes:
                    raise refusal(name, f"has {size} bytes, the manifest says {entry.bytes}")
                while part := file.read(_PART):
                    digest.update(part)
                    done += len(part)
                    progress(done)
            if digest.hexdigest() != entry.sha256:
                raise refusal(name, "was changed after the export: its SHA-256 is not the manifest's")

    def rows[T: Row](self, name: str, kind: RowType[T], *, after: int = 0) -> Iterator[tuple[int, T]]:
        """Yield the rows of a file after line ``after``, each with its line number; none if the file is not listed.

        Raises InvalidInputError for an invalid row or a wrong number of rows.
        """
        entry = self.manifest.files.get(name)
        if entry is None:
            return
        number = 0
        with self._open(name) as file:
            while line := file.readline(_MAX_LINE_BYTES):
                number += 1
                if number <= after:
                    continue
                if not line.endswith(b"\n"):
                    raise refusal(name, "is too long or has no newline", line=number)
                try:
                    text = line[:-1].decode()
                except UnicodeDecodeError as error:
                    raise refusal(name, "is not UTF-8", line=number) from error
                yield number, kind.load(text, name, number)
        if number != entry.rows:
            raise refusal(name, f"has {number} lines, the manifest says {entry.rows}")

    @property
    def embedded(self) -> list[str]:
        """The names of the collections with vectors."""
        names = (name for name in self.manifest.files if name.endswith(".npy"))
        return [name.removeprefix(f"{EMBEDDINGS}/").removesuffix(".npy") for name in names]

    def vectors(self, collection: str) -> tuple[list[str], NDArray[np.float32]]:
        """Return the vectors' uids and the memory-mapped vectors of a collection: shape (rows, size), float32.

        Raises InvalidInputError if they do not match each other or the model.
        """
        array, names = f"{EMBEDDINGS}/{collection}.npy", f"{EMBEDDINGS}/{collection}.ids.json"
        if names not in self.manifest.files:
            raise refusal(names, f"is not in the manifest, which has {array}")
        ids = _ids(names, self._text(names, self.manifest.files[names].bytes))
        self._open(array).close()
        try:
            vectors: NDArray[Any] = np.lib.format.open_memmap(self.path / array, mode="r")
        except (ValueError, OSError) as error:
            raise refusal(array, f"is not an array: {error}") from error
        model = self.manifest.model
        if model is None or vectors.dtype != np.dtype("<f4") or vectors.shape != (len(ids), model.size):
            raise refusal(array, f"is {vectors.dtype} {vectors.shape}, which does not match the ids and the model")
        return ids, vectors

    def _text(self, name: str, max_bytes: int) -> str:
        with self._open(name) as file:
            raw: bytes = file.read(max_bytes + 1)
        if len(raw) > max_bytes:
            raise refusal(name, f"is over {max_bytes} bytes")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise refusal(name, "is not UTF-8") from error

    def _open(self, name: str) -> Any:
        """Open a file of the export. Raises InvalidInputError unless it is a regular file inside the folder."""
        path = self.path / name
        try:
            if path.is_symlink() or (path.parent.is_symlink() and path.parent != self.path):
                raise refusal(
                    name,
                    "is a link, which an export never contains",
                    "Do not import it: it was not written by an export",
                )
            if not path.is_file():
                raise refusal(name, "is missing")
            return path.open("rb")
        except OSError as error:
            raise refusal(name, f"cannot be read: {error.strerror}", "Correct that, and import it again") from error


def _ids(name: str, text: str) -> list[str]:
    try:
        ids = json.loads(text)
    except ValueError as error:
        raise refusal(name, f"is not valid JSON: {error}") from error
    if not isinstance(ids, list) or not all(isinstance(uid, str) and UID.fullmatch(uid) for uid in ids):
        raise refusal(name, "is not a list of UUIDs")
    return ids
