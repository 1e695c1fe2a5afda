"""Reader of Markdown: one item per heading, named by the trail of headings above it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from vicw_core.markdown.front_matter import front_matter
from vicw_core.markdown.outline import Heading, outline
from vicw_core.text.heading_anchors import Unique, slug
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, bounded_id, bounded_name
from vicw_shared.text import lines_of, visible

_SUFFIXES = {".md", ".markdown", ".mdx"}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's own text, up to the next heading of any level. ``trail`` is empty before the first heading."""

    line: int
    text: str
    trail: tuple[str, ...]


class MarkdownReader:
    """Pages of Markdown, cut at headings."""

    name = "markdown"
    title = "Markdown"
    files = ("*.md", "*.markdown", "*.mdx")
    keeps = "text as it is, an item for each heading; tags of the front matter"
    leaves = "the rest of the front matter"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is a text with a suffix of Markdown."""
        return start.text is not None and start.suffix in _SUFFIXES

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield a page's sections."""
        return read_markdown(source, source.text())


def read_markdown(source: SourceFile, text: str) -> Iterator[Record]:
    """Yield a file's sections, each with the tags of the front matter."""
    front = front_matter(text)
    body = "".join(lines_of(text)[front.lines :])
    anchors = Unique()
    parts = sections(body)
    if not parts:
        yield source.refuse("has only front matter")
    for section in parts:
        anchor = f"#{anchors(slug(section.trail[-1]))}" if section.trail else ""
        title = " > ".join(filter(None, section.trail)) or front.title or PurePosixPath(source.name).stem
        yield source.item(
            {
                "id": bounded_id(f"{source.name}{anchor}"),
                "text": section.text,
                "name": bounded_name(title),
                "subtype": "section" if section.trail else "document",
                "tags": front.tags,
                "source": bounded_id(source.name),
            },
            line=front.lines + section.line + 1,
        )


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
        parts.append(Section(start, "".join(lines[start:end]), tuple(outer.written for outer in above)))
        start = end
    return parts
