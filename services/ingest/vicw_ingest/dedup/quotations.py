"""Where a text may have blocks of an answer: results of ``/retrieve``, or memories of the Python client's window.

Only places are found here, each with the keys to look it up by; whether anything like it is stored is for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from vicw_shared.model.text_keys import keys_of, plain
from vicw_shared.text import lines_of

CUT = "…"
"""What a text ends with that was cut to fit a budget, and what the key of its beginning starts with."""
_CUT_END = re.compile(rf"[^\n]{CUT}[ \t\"'”]*$")
_NUMBERED = re.compile(r"^[ \t>]*\[\d{1,4}\] [^\n]{0,2000}? · [^\n]*\n", re.MULTILINE)
"""The line over each result of an answer's ``text``: its rank, then what is known of it."""
_DATED = re.compile(r"^[ \t>]*\[[^\]\n]{1,500}\] (?=\S)", re.MULTILINE)
"""What the Python client's window puts before each memory, on its first line."""
_AROUND = re.compile(
    r"(?:\n(?:> ?){0,3}(?: {4}[^\s:][^\n:]{0,300}: [^\n]*| {4}shares [^\n]{1,300} with \[\d+\]| {8}\"[^\n]*))+"
)
"""What such texts say of what surrounds a result, right after it: a relation, or the proof of a cause."""
_MARGIN = re.compile(r"^(?:> ?){1,3}", re.MULTILINE)
_MOST_BLOCKS, _BLOCK_LINES, _BLOCK_CHARS = 100, 60, 4000


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """A part of a text, ``start`` to ``end`` in characters, and the keys that a memory may have that says the same."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuotedResult:
    """A quoted result: it begins with its head, at ``start``; its text is one of these places, the longest known."""

    start: int
    texts: tuple[QuotedSpan, ...]
    numbered: bool


def blocks(text: str, least: int = 1) -> list[QuotedResult]:
    """Return what may be blocks of an answer, in order. ``least`` characters of what was cut are known again."""
    heads = {match.start(): (match, False) for match in _DATED.finditer(text)}
    heads |= {match.start(): (match, True) for match in _NUMBERED.finditer(text)}
    starts = sorted(heads)
    found = []
    for start, following in islice(pairwise([*starts, len(text)]), _MOST_BLOCKS):
        head, numbered = heads[start]
        found.append(QuotedResult(start, tuple(_beginnings(text, start, head.end(), following, least)), numbered))
    return found


def after(text: str, end: int) -> int:
    """Return where a block ends whose own text ends at ``end``: with what it says of its surroundings."""
    around = _AROUND.match(text, end)
    return around.end() if around is not None else end


def _beginnings(text: str, head: int, start: int, limit: int, least: int) -> Iterator[QuotedSpan]:
    """Yield the first line of a text, its first two, and so on: where a block's text ends nothing says."""
    quoted = text.startswith(">", head)
    lines = lines_of(text[start : min(limit, start + _BLOCK_CHARS)])[:_BLOCK_LINES]
    for end in accumulate(map(len, lines)):
        body = text[start : start + end].rstrip()
        if body.strip():
            yield QuotedSpan(start, start + len(body), _keys(_MARGIN.sub("", body) if quoted else body, least))


def _keys(text: str, least: int) -> tuple[str, ...]:
    """Return the keys of a text, with that of one that was cut, if it is long enough to be known by its beginning."""
    if _CUT_END.search(text, max(0, len(text) - 20)) is None or len(said := plain(text)) < least:
        return keys_of(text)
    return (*keys_of(text), CUT + said)
