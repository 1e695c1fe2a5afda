"""What the lines of a page mean: headings, paragraphs, and headers and footers that are on every page."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

_HEADING_SIZE = 1.12
"""A line this much larger than most text is a heading."""
_MAX_HEADING_CHARS = 160
_MAX_BOLD_CHARS = 80
"""A line as large as the text is a heading if all of it is bold, and no longer than this."""
_MAX_HEADING_SHARE = 0.3
"""With more of the text, sizes tell no headings: a leaflet, slides."""
_MIN_OUTLINE_SHARE = 0.4
"""As many bookmarks must be found on their pages for the outline to tell the headings."""
_MAX_LEVELS = 6
_SHORT_OF_EDGE = 0.15
"""A line that ends this share of its column's width before the edge ends a paragraph."""
_PARAGRAPH_GAP = 1.35
"""A distance of lines of this much more than the usual one parts paragraphs."""
_BULLET = re.compile(r"(?:[•◦▪‣●○■–—*·-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_DIGITS = re.compile(r"\d+")
_EDGE_LINES = 2
_MIN_PAGES = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A line and its place, in points from the lower left corner; ``size`` is that of its font.

    ``bottom`` is that of its first character, ``end`` that of its last.
    """

    text: str
    size: float
    left: float = 0
    right: float = 0
    bottom: float = 0
    end: float = 0
    is_bold: bool = False


def without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """Return pages without the headers and footers that most of them repeat, numbers apart; the first ones stay."""
    if len(pages) < _MIN_PAGES:
        return pages
    counts = Counter(key for lines in pages for key in {_key(lines, at) for at in _edges(lines)})
    running = {key for key, count in counts.items() if count >= max(_MIN_PAGES, len(pages) / 2)}
    seen: set[tuple[str, bool]] = set()
    kept: list[list[Line]] = []
    for lines in pages:
        dropped = set()
        for at in _edges(lines):
            key = _key(lines, at)
            if key in running and key in seen:
                dropped.add(at)
            seen.add(key)
        kept.append([line for at, line in enumerate(lines) if at not in dropped])
    return kept


def _edges(lines: list[Line]) -> list[int]:
    return sorted({*range(min(_EDGE_LINES, len(lines))), *range(max(0, len(lines) - _EDGE_LINES), len(lines))})


def _key(lines: list[Line], at: int) -> tuple[str, bool]:
    return _DIGITS.sub("0", lines[at].text), at < _EDGE_LINES


def headings_of(pages: list[list[Line]], outline: list[tuple[str, int, int]]) -> dict[tuple[int, int], int]:
    """Return the levels, from 1, of the lines that are headings, by page and line from 0; empty if they cannot be told.

    ``outline`` is of (title, level, page): it tells if its titles are on their pages, else the size of letters.
    """
    told: dict[tuple[int, int], int] = {}
    for title, level, page in outline:
        wanted = _plain(title)
        lines = pages[page] if page < len(pages) else []
        at = next((at for at, line in enumerate(lines) if wanted and _plain(line.text) == wanted), None)
        if at is None and len(wanted) > 8:
            at = next((at for at, line in enumerate(lines) if _plain(line.text).endswith(wanted)), None)
        if at is not None:
            told.setdefault((page, at), level)
    if outline and len(told) >= len(outline) * _MIN_OUTLINE_SHARE:
        return told
    return _by_size(pages)


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _by_size(pages: list[list[Line]]) -> dict[tuple[int, int], int]:
    chars: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            chars[line.size] += len(line.text)
    if not chars:
        return {}
    body = chars.most_common(1)[0][0]
    found = {
        (page, at): (line.size, line.is_bold)
        for page, lines in enumerate(pages)
        for at, line in enumerate(lines)
        if _may_be_heading(line, body)
    }
    if sum(len(pages[page][at].text) for page, at in found) > chars.total() * _MAX_HEADING_SHARE:
        return {}
    ranks = sorted(set(found.values()), reverse=True)
    levels = {rank: min(level, _MAX_LEVELS) for level, rank in enumerate(ranks, 1)}
    return {place: levels[rank] for place, rank in found.items()}


def _may_be_heading(line: Line, body: float) -> bool:
    text = line.text
    if sum(map(str.isalpha, text)) < max(2, len(text) / 2):
        return False
    if line.size >= body * _HEADING_SIZE:
        return len(text) <= _MAX_HEADING_CHARS
    return line.is_bold and line.size >= body and len(text) <= _MAX_BOLD_CHARS and text[-1] not in ".,;:"


def paragraphs(lines: list[Line]) -> str:
    """Return the text of lines: those of a paragraph in one, words that were divided joined."""
    gaps = sorted(above.end - line.bottom for above, line in pairwise(lines))
    gap = next((one for one in gaps[len(gaps) // 2 :] if one > 0), 0)
    text = ""
    for at, line in enumerate(lines):
        if not at:
            text = line.text
        elif text.endswith("\x02"):
            text = text[:-1] + line.text
        else:
            text += _joint(lines, at, gap) + line.text
    return text.replace("\x02", "-")


def _joint(lines: list[Line], at: int, gap: float) -> str:
    before, line = lines[at - 1], lines[at]
    distance = before.end - line.bottom
    if before.size != line.size or distance < 0 or (gap and distance > gap * _PARAGRAPH_GAP):
        return "\n\n"
    near = [one for one in lines[max(0, at - 4) : at + 4] if one.left < before.right and one.right > before.left]
    near.append(before)  # one whose turned letters have no width overlaps nothing
    edge, start = max(one.right for one in near), min(one.left for one in near)
    is_short = before.right < edge - (edge - start) * _SHORT_OF_EDGE
    return "\n" if is_short or _BULLET.match(line.text) else " "
