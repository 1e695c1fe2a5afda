"""The lines of a page of PDF, from the characters that pdfium finds."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from typing import Any

from vicw_readers.documents.pdf_layout import Line

_HYPHEN = "\x02"
"""How pdfium marks a hyphen that divides a word at the end of a line; mostly it goes on with the next line at once."""
_UNMAPPED_SHARE = 0.3
_BOLD = 600
_FONT_NAME_BYTES = 128


def page_lines(document: Any, index: int) -> tuple[list[Line], str]:
    """Return the lines of a page, and "" if it has text, else why not: "picture", "unmapped" (no letters)."""
    import pypdfium2.raw as pdfium

    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            lines = _lines(pdfium, text_page.raw)
        finally:
            text_page.close()
        if lines:
            letters = "".join(line.text for line in lines)
            bad = sum(unicodedata.category(letter) in {"Co", "Cn", "Cc"} or letter == "\ufffd" for letter in letters)
            return ([], "unmapped") if bad > len(letters) * _UNMAPPED_SHARE else (lines, "")
        has_picture = any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=4))
        return [], "picture" if has_picture else ""
    finally:
        page.close()


def _lines(pdfium: Any, page: Any) -> list[Line]:
    lines: list[Line] = []
    start = 0
    letters: list[str] = []
    count = pdfium.FPDFText_CountChars(page)
    unicode_of = pdfium.FPDFText_GetUnicode
    for index in range(count + 1):
        code = unicode_of(page, index) if index < count else 10
        if code in (10, 13):
            if line := _line(pdfium, page, letters, start):
                lines.append(line)
            letters = []
            start = index + 1
        else:
            letters.append(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " ")
    return lines


def _line(pdfium: Any, page: Any, letters: list[str], start: int) -> Line | None:
    text = "".join(letters)
    first = len(text) - len(text.lstrip())
    text = " ".join(re.sub("[\x02\ufffe](?=\\w)", "", text).replace("\ufffe", _HYPHEN).split())
    if not text:
        return None
    left, _, bottom = _box(pdfium, page, start + first)
    last = start + len("".join(letters).rstrip()) - 1
    _, right, end = _box(pdfium, page, last)
    return Line(
        unicodedata.normalize("NFKC", text) if any("\ufb00" <= letter <= "\ufb06" for letter in text) else text,
        _size(pdfium, page, start + first),
        left,
        right,
        bottom,
        end,
        _is_bold(pdfium, page, start + first) and _is_bold(pdfium, page, last),
    )


def _box(pdfium: Any, page: Any, index: int) -> tuple[float, float, float]:
    """Return left, right and bottom of a character, in points."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(page, index, left, right, bottom, top)
    return left.value, right.value, bottom.value


def _size(pdfium: Any, page: Any, index: int) -> float:
    """Return the size of a character's font in points, as it is shown."""
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(page, index, matrix):
        scale = math.hypot(matrix.c, matrix.d) or 1.0
    return round(float(pdfium.FPDFText_GetFontSize(page, index)) * scale * 2) / 2


def _is_bold(pdfium: Any, page: Any, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(page, index) >= _BOLD:
        return True
    name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
    pdfium.FPDFText_GetFontInfo(page, index, name, _FONT_NAME_BYTES, None)
    return b"bold" in name.value.lower()  # fonts that every reader has come without a weight
