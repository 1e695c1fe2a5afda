"""Text whose headings are lines of it: cut there, and kept as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vicw_core.markdown.outline import outline
from vicw_readers.documents.model import DocumentSection
from vicw_shared.text import lines_of, visible


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A heading: its first line, from 0, its level, from 1, and its words."""

    line: int
    level: int
    title: str


def headed_sections(text: str, headings: Sequence[HeadingLine], *, first_line: int = 0) -> Iterator[DocumentSection]:
    """Yield the text of each heading up to the next, and what stands before the first; joined, they are the text."""
    lines = lines_of(text)
    before = "".join(lines[: headings[0].line if headings else len(lines)])
    if visible(before):
        yield DocumentSection(before, line=first_line + 1)
    trail: list[HeadingLine] = []
    ends = [*(heading.line for heading in headings[1:]), len(lines)]
    for heading, end in zip(headings, ends, strict=False):
        trail = [*(above for above in trail if above.level < heading.level), heading]
        yield DocumentSection(
            "".join(lines[heading.line : end]),
            tuple(above.title for above in trail),
            line=first_line + heading.line + 1,
        )


def markdown_headings(text: str) -> list[HeadingLine]:
    """Return the headings of Markdown."""
    return [HeadingLine(one.line, one.level, one.written) for one in outline(text).headings if not one.nested]
