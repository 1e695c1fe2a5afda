"""A note as it is stored: its text without what is no text, and what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, tzinfo

from vicw_core.markdown.excalidraw import is_drawing, words_of_drawing
from vicw_core.markdown.front_matter import FrontMatter, Property, front_matter
from vicw_core.markdown.note_marks import inline_properties, inline_tags, with_ancestors, without_comments
from vicw_core.markdown.note_titles import day_of, is_notion_export, note_title
from vicw_core.markdown.notion import notion_properties
from vicw_shared.text import lines_of, visible

_TAGS = ("tags", "tag")
_MAX_TAGS = 64


@dataclass(frozen=True, slots=True)
class Note:
    """A note. ``body`` begins after ``lines`` lines of the file; ``title`` is that of its front matter or its file.

    ``tags`` and ``properties`` are of the whole note; ``written`` is a date, or a time with a zone or without.
    """

    title: str
    body: str
    lines: int
    front: FrontMatter
    tags: tuple[str, ...] = ()
    properties: dict[str, Property] | None = None
    written: date | datetime | None = None

    def written_at(self, zone: tzinfo) -> datetime | None:
        """Return when it was written, in ``zone`` if it names none; a day alone is its noon. None if unknown."""
        if self.written is None:
            return None
        moment = self.written if isinstance(self.written, datetime) else datetime.combine(self.written, time(12))
        return moment if moment.tzinfo else moment.replace(tzinfo=zone)

    def tags_of(self, part: str) -> tuple[str, ...]:
        """Return the tags of a part of the body: the note's and its own, with those that they are nested in."""
        own = inline_properties(part)
        return with_ancestors((*self.tags, *_listed(own), *inline_tags(part)))[:_MAX_TAGS]

    def properties_of(self, part: str) -> dict[str, Property]:
        """Return the properties of a part of the body: the note's and its own."""
        own = inline_properties(part)
        return {**(self.properties or {}), **{key: value for key, value in own.items() if key not in _TAGS}}


def read_note(text: str, name: str) -> Note:
    """Return the note in a file; ``name`` is the file's, with its folders."""
    front = front_matter(text)
    body = without_comments("".join(lines_of(text)[front.lines :]))
    note = Note(
        front.title or note_title(name),
        words_of_drawing(body) if is_drawing(front) else body,
        front.lines,
        front,
        front.tags,
        {**front.properties, **({"aliases": list(front.aliases)} if front.aliases else {})},
        front.time or day_of(name),
    )
    if not visible(note.body) and front.properties:  # what such a note says is its properties
        return replace(note, body="".join(lines_of(text)[1 : front.lines - 1]), lines=1)
    if is_notion_export(name):
        found = notion_properties(note.body)
        properties = {**(note.properties or {}), **found.properties}
        tags, written = note.tags + found.tags, note.written or found.time
        return replace(note, properties=properties, tags=tags, written=written)
    return note


def _listed(properties: dict[str, str]) -> Iterator[str]:
    """Yield the tags that a property lists: ``a, #b, [[c]]``."""
    for key in _TAGS:
        for value in properties.get(key, "").split(","):
            if tag := value.strip().lstrip("#").strip("[]").strip():
                yield tag
