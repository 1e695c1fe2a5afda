"""Parser of PDF, by pdfium: its lines, joined to paragraphs, under headings told by the outline or by their size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import DocumentSection, Part, Properties, UnreadPart
from vicw_readers.documents.pdf_layout import Line, headings_of, paragraphs, without_running_lines
from vicw_readers.documents.pdf_page import page_lines
from vicw_readers.records import NothingToReadError, UnreadableFileError

_SECTION_CHARS = 4000
"""A section of more is ended where its page ends, so that its number stays near."""
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-]\d\d)'?(\d\d)?'?)?")
_PROGRAM = re.compile(
    r"^(?:Microsoft (?:Word|PowerPoint|Excel) - )|\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|qxd)$", re.I
)
_OCR = "Recognise its text, with `ocrmypdf in.pdf out.pdf` say, and import that"


def parse(path: Path, limits: Limits) -> Iterator[Part]:
    """Yield the sections of a PDF, and the pages that are pictures."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            fix = "Save a copy without password, with `qpdf --decrypt --password=… in.pdf out.pdf` say"
            raise UnreadableFileError("is encrypted and needs a password", fix=fix) from None
        fix = "Open it in another program and save it anew"
        raise UnreadableFileError("is no whole PDF: it is broken or cut off", fix=fix) from None
    yield _properties(document)
    pages: list[list[Line]] = []
    pictures: list[int] = []
    unmapped: list[int] = []
    for number in range(1, count + 1):
        lines, state = page_lines(document, number - 1)
        pages.append(lines)
        if state == "picture":
            pictures.append(number)
        elif state == "unmapped":
            unmapped.append(number)
    yield from _unread(pictures, unmapped, count)
    if not any(pages):
        if pictures or unmapped:
            return
        raise NothingToReadError("has no text: its pages are blank")
    pages = without_running_lines(pages)
    yield from _sections(pages, headings_of(pages, _outline(document)))


def _unread(pictures: list[int], unmapped: list[int], count: int) -> Iterator[UnreadPart]:
    if pictures:
        what = "its pages are" if len(pictures) == count else f"{_numbers(pictures)} {_verb(pictures)}"
        yield UnreadPart(
            f"is scanned: {what} pictures without text" if count > 1 else "is a picture without text", _OCR
        )
    if unmapped:
        yield UnreadPart(f"has text that says no letters ({_numbers(unmapped)}): its fonts name none", _OCR)


def _numbers(pages: list[int]) -> str:
    """Return "page 3" or "pages 1-4, 7"."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and runs[-1][-1] == page - 1:
            runs[-1] = [runs[-1][0], page]
        else:
            runs.append([page, page])
    shown = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"page{'s' if len(pages) > 1 else ''} {shown}"


def _verb(pages: list[int]) -> str:
    return "are" if len(pages) > 1 else "is one of the"


def _properties(document: Any) -> Properties:
    said = {name: _shown(value) for name, value in document.get_metadata_dict().items()}
    title = said.get("Title", "")
    return Properties(
        title="" if title.lower().startswith("untitled") else _PROGRAM.sub("", title).strip(),
        author=said.get("Author", ""),
        created=_iso(said.get("CreationDate", "")),
        modified=_iso(said.get("ModDate", "")),
    )


def _shown(said: str) -> str:
    """Return what a reader sees of a name: some programs end it with a NUL."""
    return "".join(letter if letter.isprintable() else " " for letter in said).strip()


def _iso(written: str) -> str:
    """Return the ISO 8601 form of a time as PDF writes it, or "" if it is none."""
    match = _DATE.match(written)
    if not match:
        return ""
    year, month, day, hour, minute, second, zone, zone_minutes = match.groups()
    time = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    return f"{time}{zone}:{zone_minutes or '00'}" if zone else f"{time}Z" if written.endswith("Z") else time


def _outline(document: Any) -> list[tuple[str, int, int]]:
    """Return (title, level from 1, page from 0) of the bookmarks."""
    found: list[tuple[str, int, int]] = []
    try:
        for mark in document.get_toc():
            target = mark.get_dest()
            page = target.get_index() if target else None
            if page is not None:
                found.append((_shown(mark.get_title()), mark.level + 1, page))
    except Exception:  # a broken outline is none
        return []
    return found


def _sections(pages: list[list[Line]], headings: dict[tuple[int, int], int]) -> Iterator[DocumentSection]:
    """Yield a section a heading, or a page where there are none; ``headings`` are levels by page and line."""
    if not headings:
        with_text = [number for number, lines in enumerate(pages, 1) if lines]
        for number in with_text:
            text = paragraphs(pages[number - 1])
            trail = (f"Page {number}",) if len(pages) > 1 else ()
            yield DocumentSection(text, trail, f"page={number}" if len(pages) > 1 else "", {"page": number})
        return
    section = _Growing()
    for number, lines in enumerate(pages, 1):
        body: list[Line] = []
        for at, line in enumerate(lines):
            level = headings.get((number - 1, at))
            if not level:
                body.append(line)
                continue
            section.add(body, number)
            body = []
            if headings.get((number - 1, at - 1)) == level and section.is_bare_heading:
                section.continue_heading(line.text)  # the second line of a long heading
                continue
            yield from section.ended()
            section.begin(line.text, level, number)
        section.add(body, number)
        if section.chars > _SECTION_CHARS:
            yield from section.ended()
            section.go_on(number + 1)
    yield from section.ended()


class _Growing:
    """The section that is being read."""

    def __init__(self) -> None:
        self._trail: list[tuple[str, int]] = []
        self._texts: list[str] = []
        self._first = self._last = 1
        self._goes_on = False
        self.is_bare_heading = False

    @property
    def chars(self) -> int:
        return sum(map(len, self._texts))

    def begin(self, heading: str, level: int, page: int) -> None:
        self._trail = [*(above for above in self._trail if above[1] < level), (heading, level)]
        self._texts = [heading]
        self._first = self._last = page
        self._goes_on = False
        self.is_bare_heading = True

    def continue_heading(self, text: str) -> None:
        heading, level = self._trail[-1]
        self._trail[-1] = (f"{heading} {text}", level)
        self._texts = [f"{heading} {text}"]

    def go_on(self, page: int) -> None:
        """Begin a further part under the same heading, on the next page."""
        self._texts = []
        self._first = self._last = page
        self._goes_on = True

    def add(self, lines: list[Line], page: int) -> None:
        if not lines:
            return
        if not self._texts:
            self._first = page
        self._texts.append(paragraphs(lines))
        self._last = page
        self.is_bare_heading = False

    def ended(self) -> Iterator[DocumentSection]:
        if not self._texts:
            return
        pages = {"page": self._first} | ({"page_to": self._last} if self._last > self._first else {})
        trail = tuple(heading for heading, _ in self._trail)
        anchor = f"page={self._first}" if self._goes_on else ""
        yield DocumentSection("\n\n".join(self._texts), trail, anchor, pages)
