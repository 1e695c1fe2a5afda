"""Where a text may repeat a memory: the blocks of an answer of ours, and what stands in it as a quotation does.

Only places are found here, each with the keys to look it up by; whether anything like it is stored is for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from vicw_ingest.echoes.pasting import with_cut
from vicw_shared.model.wording import keys_of, plain, plain_key, text_key
from vicw_shared.text import lines_of

_NUMBERED = re.compile(r"^[ \t>]*\[\d{1,4}\] [^\n]{0,2000}? · [^\n]*\n", re.MULTILINE)
"""The line over each result of an answer's ``text``: its rank, then what is known of it."""
_DATED = re.compile(r"^[ \t>]*\[[^\]\n]{1,500}\] (?=\S)", re.MULTILINE)
"""What the Python client's window puts before each memory, on its first line."""
_AROUND = re.compile(r"(?:\n {4}[^\s:][^\n:]{0,300}: [^\n]*|\n {4}shares [^\n]{1,300} with \[\d+\]|\n {8}\"[^\n]*)+")
"""What such texts say of what surrounds a result, right after it: a relation, or the proof of a cause."""
_RELATES = re.compile(
    r" {4}(?:[^\n:]{0,300} )?(?:after|before|led to|caused by|by|replaces|replaced by|contradicts|contradicted by|why|"
    r"what it led to|also [^\n:]{1,300}): |    shares [^\n]{1,300} with \[\d+\]| {8}\""
)
"""The same, letter by letter: what else is set in after a memory is its teller's own."""
_MOST_BLOCKS, _BLOCK_LINES, _BLOCK_CHARS = 100, 60, 4000
QUOTED_IN_CHARS = 20_000
"""Quotations are looked for in texts of so many characters: what is longer is a document."""
_MOST_QUOTES = 300
_SENTENCES = 4
"""So many sentences in a row may be a memory."""
_QUOTATION = re.compile(r"[\"“„«](?=\S)([^\"“”„«»]{1,2000}?)[\"”“»]")
_FENCED = re.compile(r"^```[^\n]*\n(.{1,10000}?)\n```", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?![ \t]*\n))*")
_LINE = re.compile(r"\S[^\n]*")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+")


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a text, ``start`` to ``end`` in characters, and the keys that a memory may have that says the same."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A quoted result: it begins with its head, at ``start``; its text is one of these places, the longest known."""

    start: int
    texts: tuple[Place, ...]
    numbered: bool


def blocks(text: str, least: int = 1) -> list[Block]:
    """Return what may be blocks of an answer, in order. ``least`` characters of what was cut are known again."""
    heads = {match.start(): (match, False) for match in _DATED.finditer(text)}
    heads |= {match.start(): (match, True) for match in _NUMBERED.finditer(text)}
    starts = sorted(heads)
    found = []
    for start, following in islice(pairwise([*starts, len(text)]), _MOST_BLOCKS):
        head, numbered = heads[start]
        found.append(Block(start, tuple(_beginnings(text, head.end(), following, least)), numbered))
    return found


def after(text: str, end: int) -> int:
    """Return where a block ends whose own text ends at ``end``: with what it says of its surroundings."""
    around = _AROUND.match(text, end)
    return around.end() if around is not None else end


def after_pasted(text: str, end: int) -> int:
    """Return where a result ends in an application's own form: as ``after``, be there marks or a gap before it."""
    last = end
    while end < len(text) and text[end] == "\n":
        until = text.find("\n", end + 1)
        until = until if until >= 0 else len(text)
        if _RELATES.match(text, end + 1, until) is not None:
            last = until
        elif any(map(str.isalnum, text[end + 1 : until])):
            break
        end = until
    return last


def quotes(text: str, least: int) -> list[Place]:
    """Return what may be quotations of at least so many characters, the longest first; none in a document."""
    if len(text) > QUOTED_IN_CHARS:
        return []
    found: dict[tuple[int, int], Place] = {}
    for match in _FENCED.finditer(text):
        found[match.span(1)] = Place(*match.span(1), (text_key(match[1], verbatim=True),))
    for start, end in _spans(text):
        if (start, end) in found or end - start == len(text.strip()) or end - start < least:
            continue
        if len(said := plain(text[start:end])) >= least:
            found[start, end] = Place(start, end, (plain_key(said),))
            if len(found) == _MOST_QUOTES:
                break
    return sorted(found.values(), key=lambda place: place.start - place.end)


def _beginnings(text: str, start: int, limit: int, least: int) -> Iterator[Place]:
    """Yield the first line of a text, its first two, and so on: where a block's text ends nothing says."""
    lines = lines_of(text[start : min(limit, start + _BLOCK_CHARS)])[:_BLOCK_LINES]
    for end in accumulate(map(len, lines)):
        body = text[start : start + end].rstrip()
        if body.strip():
            yield Place(start, start + len(body), with_cut(body, keys_of(body), least))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _QUOTATION.finditer(text):
        yield match.span(1)
    for paragraph in _PARAGRAPH.finditer(text):
        yield paragraph.span()
        for line in _LINE.finditer(text, *paragraph.span()):
            yield line.span()
            yield from _sentences(text, *line.span())


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield each run of sentences of a line."""
    cuts = [start, *(match.end() for match in _SENTENCE_END.finditer(text, start, end)), end]
    cuts = list(dict.fromkeys(cuts))
    for first in range(len(cuts) - 1):
        for last in range(first + 1, min(first + _SENTENCES, len(cuts) - 1) + 1):
            yield cuts[first], cuts[last]
