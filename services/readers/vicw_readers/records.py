"""Records of the readers: an item to store, a refusal to report, a normal skip, or what was taken for granted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from vicw_shared.errors import InvalidInputError
from vicw_shared.wire.ingest import Item
from vicw_shared.wire.validation_errors import describe

_NAME_CHARS = 512
_DIGEST_CHARS = 16
_LISTED = 50
_LISTED_BYTES = 3_000
"""Five lists of this size are within what a server takes as the metadata of an item, 16 KiB of JSON."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """An item, its context and domain, and its place in the file; ``line`` counts from 1, ``reader`` is by name.

    ``flow_ids``, on the first item of a flow, are the ids of all items that the flow has now: what else it had is past.
    """

    context: str
    domain: str | None
    item: Item
    path: str
    line: int | None = None
    reader: str = ""
    flow_ids: frozenset[str] | None = None

    @property
    def flow_id(self) -> str | None:
        """The logical thread of the item."""
        return self.item.flow_id


@dataclass(frozen=True, slots=True)
class Refused:
    """A file, line or item that could not be read or stored, with the reason; ``fix`` is the way out, if there is one.

    ``kind`` is what the file is: the title of its reader, or what its first bytes say ("PDF document").
    """

    path: str
    line: int | None
    reason: str
    fix: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file without content to store: empty, generated, or said elsewhere."""

    path: str
    reason: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that was read, but not as it stands: what was assumed, or left out. ``line`` counts from 1."""

    path: str
    line: int | None
    reason: str
    kind: str = ""


type Report = Refused | Skipped | Noted
type Record = SourceItem | Report


class UnreadableFileError(Exception):
    """The whole file cannot be read."""

    def __init__(self, reason: str, line: int | None = None, fix: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.fix = fix


class NothingToReadError(UnreadableFileError):
    """The file has no text; not an error while a folder is read."""


def shown(path: Path | str) -> str:
    """Return a path as printable text."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def bounded_id(text: str) -> str:
    """Return ``text`` if it is short enough for an id, else its start with a digest of the whole."""
    if len(text) <= _NAME_CHARS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{text[: _NAME_CHARS - _DIGEST_CHARS - 1]}~{digest}"


def bounded_name(text: str) -> str | None:
    """Return ``text`` cut to the longest allowed name, or None if it is blank."""
    return text.strip()[:_NAME_CHARS].strip() or None


def some_of(values: Iterable[str]) -> list[str]:
    """Return the first of a list for an item's metadata, which has limits, and a count of the rest.

    >>> some_of(["ida", "tore"]), some_of(map(str, range(60)))[-2:]
    (['ida', 'tore'], ['49', 'and 10 more'])
    """
    every = list(values)
    shown_ones: list[str] = []
    size = 0
    for value in every[:_LISTED]:
        size += len(json.dumps(value)) + 2
        if size > _LISTED_BYTES:
            break
        shown_ones.append(value)
    missing = len(every) - len(shown_ones)
    return [*shown_ones, f"and {missing} more"] if missing else shown_ones


def faults_of(error: ValidationError) -> str:
    """Return one line about the faults of an item and their fixes."""
    return InvalidInputError(*describe(error.errors(include_url=False, include_input=False), "the item")).detail
