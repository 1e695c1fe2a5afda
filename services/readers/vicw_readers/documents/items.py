"""From the parts of a document to items: the same ids and names for every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from vicw_core.markdown.note_titles import note_title
from vicw_core.text.heading_anchors import Unique, slug
from vicw_readers.documents.model import DocumentSection, Part, Properties, UnreadPart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.plain.text import sections as pieces_of
from vicw_readers.records import NothingToReadError, Record, UnreadableFileError, bounded_id, bounded_name
from vicw_shared.text import visible

_FIRST_YEAR = 1000
"""Programs write a year before it for "unknown"."""
_TEMPLATE_DATES = {"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z"}
"""When the templates of python-docx and python-pptx were made, which their documents go on saying."""


def document_items(source: SourceFile, parts: Iterable[Part]) -> Iterator[Record]:
    """Yield an item for each section, a long one in pieces, and a refusal for each part that has no text.

    An id is the file's name, "#", and the anchor of the section; a name is the document's title, then the headings.
    A document without any section is refused with what could not be read.
    """
    properties = Properties()
    anchors = Unique()
    count = 0
    unread: list[UnreadPart] = []
    for part in parts:
        if isinstance(part, Properties):
            properties = replace(part, title=" ".join(part.title.split()))
        elif isinstance(part, UnreadPart):
            unread.append(part)
        elif visible(part.text):
            count += 1
            yield from _items(source, properties, part, anchors)
    if not count and unread:
        raise UnreadableFileError(unread[0].reason, fix=unread[0].fix)
    if not count:
        raise NothingToReadError("has no text")
    for problem in unread:
        yield source.refuse(problem.reason, fix=problem.fix)


def _items(source: SourceFile, properties: Properties, section: DocumentSection, anchors: Unique) -> Iterator[Record]:
    anchor = section.anchor or (slug(section.trail[-1]) if section.trail else "")
    title = _title(properties.title or note_title(source.name), section.trail)
    pieces = pieces_of(section.text.strip("\n"))
    for number, text in enumerate(pieces, 1):
        place = anchors(anchor) if number == 1 else anchors(f"{anchor or 'part'}-{number}")
        yield source.item(
            {
                "id": bounded_id(f"{source.name}#{place}" if place else source.name),
                "text": text,
                "name": bounded_name(title if number == 1 else f"{title} ({number})"),
                "subtype": "section" if place or len(pieces) > 1 else "document",
                "source": bounded_id(source.name),
                "tags": properties.tags,
                "metadata": {**section.metadata, **_metadata(properties)},
                "timestamp": moment(properties.created, source),
            },
            line=section.line,
        )


def _title(document: str, trail: tuple[str, ...]) -> str:
    """Return the names of a section, the document's first unless the first heading says it."""
    if not trail:
        return document
    first, own = trail[0].casefold(), document.casefold()
    return " > ".join(filter(None, trail if first in own or own in first else (document, *trail)))


def _metadata(properties: Properties) -> dict[str, Any]:
    said = {
        "title": properties.title,
        "author": properties.author,
        "created": properties.created,
        "modified": properties.modified,
        "language": properties.language,
    }
    return {name: value for name, value in said.items() if value}


def moment(written: str, source: SourceFile) -> datetime | None:
    """Return the time that a document gives, in the user's zone if it has none; None for no time, and a template's."""
    if not written or written in _TEMPLATE_DATES:
        return None
    try:
        found = datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    if found.year < _FIRST_YEAR:
        return None
    return found if found.tzinfo else found.replace(tzinfo=source.options.timezone)
