"""Readers of texts in a markup: Org, reStructuredText, AsciiDoc and LaTeX, cut at their headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from vicw_readers.documents.headed_text import HeadingLine, headed_sections
from vicw_readers.documents.items import document_items
from vicw_readers.documents.model import Part, Properties
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record
from vicw_shared.text import lines_of


class MarkupReader:
    """Texts of one markup, as they are."""

    is_personal = False

    def __init__(
        self,
        name: str,
        title: str,
        suffixes: tuple[str, ...],
        headings: Callable[[Sequence[str]], list[HeadingLine]],
        properties: dict[str, re.Pattern[str]],
        leaves: str = "nothing",
    ) -> None:
        self.name = name
        self.title = title
        self.files = tuple(f"*{suffix}" for suffix in suffixes)
        self.keeps = "text as it is, an item for each heading; title, author and date where it gives them"
        self.leaves = leaves
        self._suffixes = suffixes
        self._headings = headings
        self._properties = properties

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is a text that is called so: its signs are those of other texts, too."""
        return start.suffix in self._suffixes and start.text is not None

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the sections of a text."""
        return document_items(source, self._parts(source.text()))

    def _parts(self, text: str) -> Iterator[Part]:
        found = {name: match[1].strip() for name, of in self._properties.items() if (match := of.search(text))}
        yield Properties(
            title=found.get("title", ""), author=found.get("author", ""), created=_day(found.get("created", ""))
        )
        lines = [line.rstrip() for line in lines_of(text)]
        headings = self._headings(lines)
        if self.name == "latex":
            text, headings = _body(text, lines, headings)
        yield from headed_sections(text, headings)


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _day(written: str) -> str:
    match = _DAY.search(written)
    return match[0] if match else written


_ORG = re.compile(r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z]\]\s+)?(.*?)(?:\s+:[\w@#%:]+:)?$")
_ADOC = re.compile(r"(={1,6})\s+(\S.*?)(?:\s+=+)?$")
_TEX = re.compile(r"\s*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?\s*(?:\[[^\]]*\])?\{(.*)\}")
_TEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_TEX_MARKS = re.compile(r"\\(?:label|footnote|index)\{[^{}]*\}|\\[a-zA-Z]+\*?|[{}~]")
_RST_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}$")
_FENCES = {
    "org": (re.compile(r"\s*#\+begin_", re.IGNORECASE), re.compile(r"\s*#\+end_", re.IGNORECASE)),
    "asciidoc": (re.compile(r"(?:-{4,}|\.{4,}|`{3,}|/{4,}|\+{4,})$"),) * 2,
}


def _outside(lines: Sequence[str], markup: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are in no block of code."""
    opening, closing = _FENCES[markup]
    fence = ""
    for number, line in enumerate(lines):
        if fence:
            if closing.match(line) and (markup == "org" or line == fence):
                fence = ""
        elif opening.match(line):
            fence = line
        else:
            yield number, line


def _org(lines: Sequence[str]) -> list[HeadingLine]:
    return [
        HeadingLine(number, len(match[1]), match[2])
        for number, line in _outside(lines, "org")
        if (match := _ORG.match(line)) and match[2]
    ]


def _adoc(lines: Sequence[str]) -> list[HeadingLine]:
    return [
        HeadingLine(number, len(match[1]), match[2])
        for number, line in _outside(lines, "asciidoc")
        if (match := _ADOC.match(line))
    ]


def _rst(lines: Sequence[str]) -> list[HeadingLine]:
    """Return the headings: a line of words over a line of one sign; the order of the signs gives the levels."""
    found: list[HeadingLine] = []
    styles: list[tuple[str, bool]] = []
    for at in range(1, len(lines)):
        under, title = lines[at], lines[at - 1]
        if not _RST_LINE.match(under) or not title.strip() or _RST_LINE.match(title):
            continue
        has_line_above = at > 1 and bool(_RST_LINE.match(lines[at - 2])) and lines[at - 2][0] == under[0]
        is_in_text = title[0].isspace() or (at > 1 and bool(lines[at - 2]))
        if len(under) < len(title.strip()) or (is_in_text and not has_line_above):
            continue  # a table, a transition, or the end of a paragraph
        style = (under[0], has_line_above)
        if style not in styles:
            styles.append(style)
        found.append(HeadingLine(at - 1 - has_line_above, styles.index(style) + 1, title.strip()))
    return found


def _tex(lines: Sequence[str]) -> list[HeadingLine]:
    return [
        HeadingLine(number, _TEX_LEVELS.index(match[1]) + 1, " ".join(_TEX_MARKS.sub("", match[2]).split()))
        for number, line in enumerate(lines)
        if (match := _TEX.match(line))
    ]


def _body(text: str, lines: list[str], headings: list[HeadingLine]) -> tuple[str, list[HeadingLine]]:
    """Return what stands between ``\\begin{document}`` and its end, with headings by its own lines."""
    start = next((at + 1 for at, line in enumerate(lines) if line.strip().startswith(r"\begin{document}")), 0)
    end = next((at for at, line in enumerate(lines) if line.strip().startswith(r"\end{document}")), len(lines))
    inside = [replace(one, line=one.line - start) for one in headings if start <= one.line < end]
    return "".join(lines_of(text)[start:end]), inside


def _line_of(key: str) -> re.Pattern[str]:
    return re.compile(rf"^{key}\s*(.+)$", re.IGNORECASE | re.MULTILINE)


ORG = MarkupReader(
    "org",
    "Org text",
    (".org",),
    _org,
    {"title": _line_of(r"#\+title:"), "author": _line_of(r"#\+author:"), "created": _line_of(r"#\+date:")},
)
RST = MarkupReader(
    "rst",
    "reStructuredText",
    (".rst", ".rest"),
    _rst,
    {"author": _line_of(":authors?:"), "created": _line_of(":date:")},
)
ASCIIDOC = MarkupReader(
    "asciidoc",
    "AsciiDoc",
    (".adoc", ".asciidoc", ".asc"),
    _adoc,
    {"author": _line_of(":author:"), "created": _line_of(":revdate:")},
)
LATEX = MarkupReader(
    "latex",
    "LaTeX",
    (".tex", ".ltx"),
    _tex,
    {
        "title": re.compile(r"\\title\{([^{}]+)\}"),
        "author": re.compile(r"\\author\{([^{}]+)\}"),
        "created": re.compile(r"\\date\{([^{}]+)\}"),
    },
    leaves="what stands before and after the document itself",
)
