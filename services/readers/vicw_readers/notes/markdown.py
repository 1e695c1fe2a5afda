"""Reader of Markdown notes: one item per heading, named by the note and the trail of headings above it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vicw_core.markdown.note import read_note
from vicw_core.markdown.note_titles import MARKDOWN_SUFFIXES
from vicw_core.markdown.outline import Heading, outline
from vicw_core.text.heading_anchors import Unique, slug
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, bounded_id, bounded_name
from vicw_shared.text import lines_of, visible


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's own text, up to the next heading of any level. ``trail`` is empty before the first heading.

    ``level`` is that of the first heading in the trail.
    """

    line: int
    text: str
    trail: tuple[str, ...]
    level: int = 0


class MarkdownReader:
    """Pages of Markdown, cut at headings."""

    name = "markdown"
    title = "Markdown"
    files = ("*.md", "*.markdown", "*.mdx")
    keeps = "text as it is, an item for each heading; tags; all properties of the front matter; the time it was written"
    leaves = "comments; what a drawing shows besides its words"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is a text with a suffix of Markdown."""
        return start.text is not None and start.suffix in MARKDOWN_SUFFIXES

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield a page's sections."""
        return read_markdown(source, source.text())


def read_markdown(source: SourceFile, text: str) -> Iterator[Record]:
    """Yield a note's sections, each with the properties of the whole note and its own."""
    note = read_note(text, source.name)
    for problem in note.front.problems:
        yield source.note(problem, 1)
    anchors = Unique()
    parts = sections(note.body)
    if not parts:
        yield source.skip("has no text")
    for section in parts:
        anchor = f"#{anchors(slug(section.trail[-1]))}" if section.trail else ""
        yield source.item(
            {
                "id": bounded_id(f"{source.name}{anchor}"),
                "text": section.text,
                "name": bounded_name(section_name(note.title, section)),
                "subtype": "section" if section.trail else "document",
                "tags": note.tags_of(section.text),
                "timestamp": note.written_at(source.options.timezone),
                "metadata": note.properties_of(section.text),
                "source": bounded_id(source.name),
            },
            line=note.lines + section.line + 1,
        )


def section_name(title: str, section: Section) -> str:
    """Return the trail of headings, below the note's title if no heading of the first level says what it is about.

    "Status" alone says nothing: of two notes with such a section a question finds either.
    """
    trail = section.trail if section.level == 1 else (title, *section.trail)
    return " > ".join(filter(None, trail)) or title


def sections(text: str) -> list[Section]:
    """Split ``text`` at its headings; the joined sections are the text."""
    lines = lines_of(text)
    marks = [heading for heading in outline(text).headings if not heading.nested]
    if not marks:
        return [Section(0, text, ())] if visible(text) else []
    parts: list[Section] = []
    start = 0
    preamble = "".join(lines[: marks[0].line])
    if visible(preamble):
        parts.append(Section(0, preamble, ()))
        start = marks[0].line
    above: list[Heading] = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = following.line if following else len(lines)
        above = [*(outer for outer in above if outer.level < mark.level), mark]
        trail = tuple(outer.written for outer in above)
        parts.append(Section(start, "".join(lines[start:end]), trail, above[0].level))
        start = end
    return parts
