"""Remembers, across runs, which items of the sources were acknowledged.

A file of JSON lines: ``{"run": id}`` starts a run, ``{"done": {identity: content}}`` is an acknowledged request,
``{"end": id}`` a run that came to its end. Of two lines on one item the later counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self


@dataclass(frozen=True, slots=True)
class ItemDigest:
    """Digests of which item it is, and of what it says."""

    identity: str
    content: str


class Acknowledged(Protocol):
    """What an import remembers of what it has sent."""

    def has(self, mark: ItemDigest) -> bool:
        """Tell whether the item was acknowledged, last with this content."""
        ...

    def key_of(self, marks: Iterable[ItemDigest]) -> str:
        """Return the Idempotency-Key of a request."""
        ...

    def add(self, marks: Sequence[ItemDigest]) -> None:
        """Remember acknowledged items."""
        ...


class ImportLedger:
    """What was acknowledged; each addition is on disk before it counts.

    ``again`` takes nothing for acknowledged.
    """

    def __init__(self, path: Path, *, again: bool = False) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Whoever may read the ledger could test whether a text was imported.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(descriptor, "r+b")
        self._again = again
        self._known: dict[str, str] = {}
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
        """Tell whether the item was acknowledged, last with this content."""
        return not self._again and self._known.get(mark.identity) == mark.content

    def key_of(self, marks: Iterable[ItemDigest]) -> str:
        """Return the Idempotency-Key of a request.

        It is the same when a run that was killed is taken up again, so that what was stored and not noted is not
        stored twice. Any other run has keys of its own: a text that changes to and fro is sent each time.
        """
        return digest_of([self._run, *(f"{m.identity}{self._known.get(m.identity)}{m.content}" for m in marks)])

    def add(self, marks: Sequence[ItemDigest]) -> None:
        """Remember acknowledged items, surviving a kill and a power loss."""
        self._put({"done": {mark.identity: mark.content for mark in marks}})

    def finish(self) -> None:
        """Note that the run came to its end: the next one is a new run."""
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
                    self._known.update(done)
        except ValueError:  # torn by a kill: its items are sent again
            pass


def digest_of(parts: Sequence[str]) -> str:
    """Return 32 hex digits that stand for ``parts``."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
