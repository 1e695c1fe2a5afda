"""Ledger of the acknowledged items of an import, across runs.

A file of JSON lines: ``{"run": id}`` starts a run, ``{"done": {identity: content}}`` records an acknowledged request,
``{"end": id}`` ends a run. The later of two lines about one item counts.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from vicw_ingest.file_import.delivery import ItemDigest, digest_of


class ImportLedger:
    """The ledger file; each addition is on disk before it counts.

    With ``again``, no item counts as acknowledged.
    """

    def __init__(self, path: Path, *, again: bool = False) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A reader of the ledger could test whether a text was imported.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(descriptor, "r+b")
        self._again = again
        self._acknowledged: dict[str, str] = {}
        self._run = ""
        last = b"\n"
        for last in self._file:
            self._take(last)
        if not last.endswith(b"\n"):  # a kill tore the last line
            self._file.write(b"\n")
        if again or not self._run:
            self._run = uuid.uuid4().hex
            self._put({"run": self._run})

    def has(self, mark: ItemDigest) -> bool:
        """Return whether the item was acknowledged, last with this content."""
        return not self._again and self._acknowledged.get(mark.identity) == mark.content

    def key_of(self, marks: Iterable[ItemDigest]) -> str:
        """Return the Idempotency-Key of a request.

        A resumed run uses the keys of the killed run, so that items stored but not recorded are not stored twice. Any
        other run has new keys: a text that changes back and forth is sent each time.
        """
        return digest_of([self._run, *(f"{m.identity}{self._acknowledged.get(m.identity)}{m.content}" for m in marks)])

    def add(self, marks: Sequence[ItemDigest]) -> None:
        """Record acknowledged items; they survive a kill and a power loss."""
        self._put({"done": {mark.identity: mark.content for mark in marks}})

    def finish(self) -> None:
        """Record the end of the run: the next one is a new run."""
        self._put({"end": self._run})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _put(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _take(self, line: bytes) -> None:
        try:
            match json.loads(line):
                case {"run": str(run)}:
                    self._run = run
                case {"end": self._run}:
                    self._run = ""
                case {"done": dict(done)}:
                    self._acknowledged.update(done)
        except ValueError:  # torn by a kill: its items are sent again
            pass
