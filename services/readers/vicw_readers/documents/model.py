"""What a parser says of a document, whatever its format: its properties, its sections, and what it could not read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Properties:
    """What the document says of itself. ``created`` and ``modified`` are as they stand there, ISO 8601 if it may be."""

    title: str = ""
    author: str = ""
    created: str = ""
    modified: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A part of a document under one heading, page, slide or group of rows.

    ``trail`` are the headings above it and its own, outermost first; empty for what stands before the first.
    ``anchor`` is its place in the document, without "#"; empty: made of the last heading. ``metadata`` tells the page.
    ``line`` counts from 1 where the document has lines.
    """

    text: str
    trail: tuple[str, ...] = ()
    anchor: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part that has no text to read, such as a scanned page, and the way out."""

    reason: str
    fix: str = ""


type Part = Properties | DocumentSection | UnreadPart

_KINDS: dict[str, type[Properties | DocumentSection | UnreadPart]] = {
    "properties": Properties,
    "section": DocumentSection,
    "unread": UnreadPart,
}


def as_message(part: Part) -> dict[str, Any]:
    """Return a part as JSON has it; `from_message` reads it."""
    kind = next(name for name, of in _KINDS.items() if isinstance(part, of))
    return {"part": kind, **asdict(part)}


def from_message(message: dict[str, Any]) -> Part:
    """Return the part of a message. Raises KeyError and TypeError for any other."""
    fields = dict(message)
    kind = _KINDS[fields.pop("part")]
    for name in ("trail", "tags"):
        if name in fields:
            fields[name] = tuple(fields[name])
    return kind(**fields)
