"""Remembers, across runs, which items of the sources were acknowledged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self


class Ledger:
    """Digests of acknowledged items, a JSON list a line; a line is on disk before its batch counts as done."""

    def __init__(self, path: Path, *, forget: bool = False) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Whoever may read the ledger could test whether a text was imported.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC * forget, 0o600)
        self._file = os.fdopen(descriptor, "r+b")
        self._known: set[bytes] = set()
        last = b"\n"
        for last in self._file:
            self._known.update(_digests_in(last))
        if not last.endswith(b"\n"):  # a kill tore the last line
            self._file.write(b"\n")

    def __contains__(self, digest: str) -> bool:
        return bytes.fromhex(digest) in self._known

    def add(self, digests: Iterable[str]) -> None:
        """Remember items, surviving a kill and a power loss."""
        self._file.write(json.dumps(list(digests)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def digest_of(parts: Sequence[str]) -> str:
    """Return 32 hex digits that stand for ``parts``."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _digests_in(line: bytes) -> list[bytes]:
    try:
        return [bytes.fromhex(digest) for digest in json.loads(line)]
    except (ValueError, TypeError):  # torn by a kill: its batch is sent again
        return []
