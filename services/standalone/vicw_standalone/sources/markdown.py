"""Markdown: one item a heading, named by the trail of headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from vicw_shared.anchors import Unique, slug
from vicw_shared.fences import fenced_lines
from vicw_shared.text import lines_of, visible
from vicw_standalone.sources.frontmatter import front_matter
from vicw_standalone.sources.records import Record, Source, bounded_id, bounded_name

_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?=[ \t]|$)")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_SETEXT = re.compile(r" {0,3}(?P<marks>=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r" {4}|\t|\s*(?:[>|<]|[-*+]\s|\d+[.)]\s|-+$)")
"""Starts of indented code, lists, quotes, tables and HTML: a line of dashes below them makes no heading."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, the line it starts on (from 0), and its level from 1."""

    line: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's own text, up to the next heading of any level. ``trail`` is empty before the first heading."""

    line: int
    text: str
    trail: tuple[str, ...]


def read_markdown(source: Source, text: str) -> Iterator[Record]:
    """Yield a file's sections. The front matter's tags go to all of them."""
    front = front_matter(text)
    body = "".join(lines_of(text)[front.lines :])
    anchors = Unique()
    found = sections(body)
    if not found:
        yield source.refuse("holds nothing but front matter")
    for section in found:
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
    """Cut ``text`` at its headings into sections that give the text when joined."""
    lines = lines_of(text)
    marks = headings(lines)
    if not marks:
        return [Section(0, text, ())] if visible(text) else []
    found: list[Section] = []
    start = 0
    preamble = "".join(lines[: marks[0].line])
    if visible(preamble):
        found.append(Section(0, preamble, ()))
        start = marks[0].line
    above: list[Heading] = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = following.line if following else len(lines)
        above = [*(outer for outer in above if outer.level < mark.level), mark]
        found.append(Section(start, "".join(lines[start:end]), tuple(outer.title for outer in above)))
        start = end
    return found


def headings(lines: list[str]) -> list[Heading]:
    """Return ATX and setext headings outside code fences (CommonMark 0.31, 4.2, 4.3 and 4.5)."""
    found: list[Heading] = []
    fenced = {n for fence in fenced_lines(lines) for n in range(fence.first, fence.stop)}
    paragraph: int | None = None  # where the paragraph starts that an underline would make a heading
    in_other_block = False
    for n, raw in enumerate(lines):
        line = raw.rstrip("\r\n")
        heading = None if n in fenced else _atx(n, line) or _setext(lines, paragraph, n)
        if n in fenced or heading or not line.strip():
            found += [heading] if heading else []
            paragraph, in_other_block = None, False
        elif paragraph is None and not in_other_block:
            in_other_block = bool(_NO_PARAGRAPH.match(line))
            paragraph = None if in_other_block else n
    return found


def _atx(n: int, line: str) -> Heading | None:
    mark = _ATX.match(line)
    return mark and Heading(n, len(mark["marks"]), _CLOSING.sub("", line[mark.end() :].strip()).rstrip())


def _setext(lines: list[str], paragraph: int | None, n: int) -> Heading | None:
    under = _SETEXT.match(lines[n].rstrip("\r\n"))
    if paragraph is None or not under:
        return None
    title = " ".join(part.strip() for part in lines[paragraph:n])
    return Heading(paragraph, 1 if under["marks"][0] == "=" else 2, title)
