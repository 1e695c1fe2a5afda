"""Digests of model files, remembered so that a start does not read hundreds of megabytes again."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

_MEMORY = ".digests.json"
LARGE_BYTES = 64 << 20
"""Size of a file from which on its digest is remembered."""


def of_file(path: Path, models_dir: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    That of a large file is remembered in ``models_dir``, if that can be written, until the file changes.
    """
    state = path.stat()
    if state.st_size < LARGE_BYTES:
        return sha256(path)
    # The time of the last change of the inode cannot be set, unlike that of the content.
    key = f"{path.absolute()} {state.st_size} {state.st_ino} {state.st_mtime_ns} {state.st_ctime_ns}"
    known = _read(models_dir)
    if (digest := known.get(key)) is None:
        digest = sha256(path)
        others = {name: value for name, value in known.items() if name.rsplit(" ", 4)[0] != str(path.absolute())}
        _write(models_dir, others | {key: digest})
    return digest


def of_files(paths: Sequence[Path], models_dir: Path) -> str:
    """Return the SHA-256 of the files' digests, in this order."""
    return hashlib.sha256("".join(of_file(path, models_dir) for path in paths).encode()).hexdigest()


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(models_dir: Path) -> dict[str, str]:
    try:
        known = json.loads((models_dir / _MEMORY).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(models_dir: Path, known: dict[str, str]) -> None:
    try:
        handle, temporary = tempfile.mkstemp(dir=models_dir, prefix=_MEMORY)
        with os.fdopen(handle, "w") as file:
            json.dump(known, file)
        Path(temporary).replace(models_dir / _MEMORY)
    except OSError:
        pass  # a folder that cannot be written: the digest is computed at every start
