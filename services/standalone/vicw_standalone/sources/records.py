"""What reading gives: an item for the store, a refusal that a person should see, or a skip that is normal."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vicw_shared.errors import InvalidInputError
from vicw_shared.wire.faults import describe
from vicw_shared.wire.ingest import Item

_NAME_CHARS = 512
_DIGEST_CHARS = 16


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One item, where it belongs, and where it was read: ``line`` counts from 1."""

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
    """Something that could not be read or stored, and why."""

    path: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file of a folder that holds nothing to remember: binary, empty, generated."""

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
    """The file holds no text. No fault where a folder is read."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, and where its items go.

    ``name`` starts the items' ids and must be the same on every run: the path relative to the folder that was
    asked for. ``context``, ``domain`` and ``flow`` are the user's wish, None where there is none; what a line of
    data says about itself comes before it, what the kind of file suggests comes after it.
    """

    path: Path
    name: str
    fallback_context: str
    context: str | None = None
    domain: str | None = None
    flow: str | None = None

    @property
    def shown(self) -> str:
        """The path as it can be printed, whatever bytes its name is made of."""
        return shown(self.path)

    def refuse(self, reason: str, line: int | None = None) -> Refused:
        """Return a refusal of something in this file."""
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
        """Return the item of ``fields``, or what is wrong with them.

        ``said_…`` is what the data says, ``usual_…`` what the kind of file suggests.
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
    """Return ``text`` if it is short enough for an id, else its start and a digest of the whole."""
    if len(text) <= _NAME_CHARS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{text[: _NAME_CHARS - _DIGEST_CHARS - 1]}~{digest}"


def bounded_name(text: str) -> str | None:
    """Return ``text`` cut to what a name may be, or None if nothing is left."""
    return text.strip()[:_NAME_CHARS].strip() or None


def faults_of(error: ValidationError) -> str:
    """Say in one line what is wrong with an item, and what would be right."""
    return InvalidInputError(*describe(error.errors(include_url=False, include_input=False), "the item")).detail
