"""Records of the readers: an item to store, a refusal to report, or a normal skip."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vicw_shared.errors import InvalidInputError
from vicw_shared.wire.ingest import Item
from vicw_shared.wire.validation_errors import describe

_NAME_CHARS = 512
_DIGEST_CHARS = 16


@dataclass(frozen=True, slots=True)
class SourceItem:
    """An item, its context and domain, and its place in the file; ``line`` counts from 1."""

    context: str
    domain: str | None
    item: Item
    path: str
    line: int | None = None

    @property
    def flow_id(self) -> str | None:
        """The logical thread of the item."""
        return self.item.flow_id


@dataclass(frozen=True, slots=True)
class Refused:
    """A file, line or item that could not be read or stored, with the reason."""

    path: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file of a folder without content to store: binary, empty, generated."""

    path: str
    reason: str


type Record = SourceItem | Refused | Skipped


class UnreadableFileError(Exception):
    """The whole file cannot be read."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class NothingToReadError(UnreadableFileError):
    """The file has no text; not an error while a folder is read."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, and the target of its items.

    ``name`` starts the items' ids and must be the same on every run: the path relative to the given folder.
    ``context``, ``domain`` and ``flow`` are the user's options (None: not given); values in the data override them,
    and they override the defaults of the file type.
    """

    path: Path
    name: str
    fallback_context: str
    context: str | None = None
    domain: str | None = None
    flow: str | None = None

    @property
    def shown(self) -> str:
        """The path as printable text, whatever the bytes of its name."""
        return shown(self.path)

    def refuse(self, reason: str, line: int | None = None) -> Refused:
        """Return a refusal of a part of this file."""
        return Refused(self.shown, line, reason)

    def item(
        self,
        fields: dict[str, Any],
        *,
        line: int | None = None,
        said_context: str | None = None,
        said_domain: str | None = None,
        usual_context: str | None = None,
        usual_domain: str | None = None,
    ) -> SourceItem | Refused:
        """Return the item of ``fields``, or a refusal if they are invalid.

        ``said_…`` are values in the data, ``usual_…`` the defaults of the file type.
        """
        try:
            item = Item.model_validate({"flow_id": self.flow, **fields})
        except ValidationError as error:
            return self.refuse(faults_of(error), line)
        return SourceItem(
            context=said_context or self.context or usual_context or self.fallback_context,
            domain=said_domain or self.domain or usual_domain,
            item=item,
            path=self.shown,
            line=line,
        )


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


def faults_of(error: ValidationError) -> str:
    """Return one line about the faults of an item and their fixes."""
    return InvalidInputError(*describe(error.errors(include_url=False, include_input=False), "the item")).detail
