"""Quotation finder: spans of a text that may be results of ``/retrieve``, or memories of the Python client's window.

It returns only spans with their lookup keys, and does not check whether their texts are stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from vicw_shared.model.text_keys import keys_of, plain
from vicw_shared.text import lines_of
from vicw_shared.wire.answer_format import AMBIGUOUS_LINE, DOMAIN_HEADING, NOTHING_OF, PENDING_LINE, UNSURE_LINE

CUT = "…"
"""End of a text that was cut to fit a budget, and prefix of the key of such a text's beginning."""
_CUT_END = re.compile(rf"[^\n]{CUT}[ \t\"'”]*$")
_BEFORE_DOMAINS, _AFTER_DOMAINS = map(re.escape, AMBIGUOUS_LINE.split("{domains}"))
_DOMAIN_LIST = r"[^\n]{1,1000}"
_DOMAINS = re.compile(f"{_BEFORE_DOMAINS}({_DOMAIN_LIST}){_AFTER_DOMAINS}")
"""Line of an answer whose results stand by domain; its group are the domains, between commas."""
_HEADING = r"[^\n]{1,300}".join(map(re.escape, DOMAIN_HEADING.split("{domain}")))
_NOTES = (
    rf"(?:[ \t>]*(?:{re.escape(UNSURE_LINE)}|{re.escape(NOTHING_OF)}[^\n]{{1,300}}\."
    rf"|{re.escape(PENDING_LINE)})\n){{0,2}}"
    rf"(?:[ \t>]*{_BEFORE_DOMAINS}{_DOMAIN_LIST}{_AFTER_DOMAINS}\n[ \t>]*{_HEADING}\n)?"
)
"""Lines before the results of an answer that say how little they may be worth."""
_NUMBERED = re.compile(rf"^{_NOTES}[ \t>]*\[\d{{1,4}}\] [^\n]{{0,2000}}? · [^\n]*\n", re.MULTILINE)
"""Heading line of each result of an answer's ``text``: its rank, then its facts. Notes before it are part of it."""
_DATED = re.compile(rf"^{_NOTES}[ \t>]*\[[^\]\n]{{1,500}}\] (?=\S)", re.MULTILINE)
"""Prefix of each memory in the Python client's window, on its first line."""
_NEIGHBOURHOOD = re.compile(
    r"(?:\n(?:> ?){0,3}(?: {4}[^\s:][^\n:]{0,300}: [^\n]*| {4}shares [^\n]{1,300} with \[\d+\]| {8}\"[^\n]*))+"
)
"""Lines after a result that describe its neighbourhood: a relation, or the proof of a cause."""
_HEAD_MARGIN = re.compile(r"(?:> ?){0,3}")
_MARGINS = [re.compile(rf"^(?:> ?){{0,{depth}}}", re.MULTILINE) for depth in range(5)]
"""Quotation marks at the start of lines: an answer quotes the lines of a memory, and may be quoted as a whole."""
_MOST_BLOCKS, _BLOCK_LINES, _BLOCK_CHARS = 100, 60, 4000


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """A span of a text, ``start`` to ``end`` in characters, and the keys under which the same text may be stored."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuotedResult:
    """A quoted result. Its heading is at ``start``; its text is the longest of these spans that is stored."""

    start: int
    texts: tuple[QuotedSpan, ...]
    numbered: bool


def blocks(text: str, min_chars: int = 1) -> list[QuotedResult]:
    """Return the possible blocks of an answer, in order. A cut text is recognised from ``min_chars`` characters on."""
    headings = {match.start(): (match, False) for match in _DATED.finditer(text)}
    headings |= {match.start(): (match, True) for match in _NUMBERED.finditer(text)}
    begins = _begins(text, sorted(headings))
    results = []
    for (start, at), (following, _) in islice(pairwise([*begins, (len(text), 0)]), _MOST_BLOCKS):
        head, numbered = headings[at]
        results.append(QuotedResult(start, tuple(_beginnings(text, head, following, min_chars)), numbered))
    return results


def _begins(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return where each block begins, and its start: the heading of a domain before a block is part of it."""
    domains = {name for match in _DOMAINS.finditer(text) for name in match[1].split(", ")}
    headings = {DOMAIN_HEADING.format(domain=name) for name in domains}
    begins = []
    for start in starts:
        line = text.rfind("\n", 0, max(0, start - 1)) + 1
        is_below = bool(headings) and text[line:start].strip("> \t\n") in headings
        begins.append((line if is_below else start, start))
    return begins


def block_end(text: str, end: int) -> int:
    """Return the end of a block whose own text ends at ``end``, including the lines about its neighbourhood."""
    neighbourhood = _NEIGHBOURHOOD.match(text, end)
    return neighbourhood.end() if neighbourhood is not None else end


def _beginnings(text: str, head: re.Match[str], limit: int, min_chars: int) -> Iterator[QuotedSpan]:
    """Yield the first line of a text, its first two, and so on, because nothing marks the end of a block's text."""
    start = head.end()
    outer = _HEAD_MARGIN.match(head[0])
    depth = outer[0].count(">") if outer is not None else 0
    lines = lines_of(text[start : min(limit, start + _BLOCK_CHARS)])[:_BLOCK_LINES]
    for end in accumulate(map(len, lines)):
        body = text[start : start + end].rstrip()
        if body.strip():
            bare = _without_margin(body, depth, beside_head=not head[0].endswith("\n"))
            yield QuotedSpan(start, start + len(body), _keys(bare, min_chars))


def _without_margin(body: str, depth: int, *, beside_head: bool) -> str:
    """Return a body without the marks of ``depth`` quotations around the answer, and of the answer's own.

    Answers of earlier versions have none of their own, and a first line ``beside_head`` has none at all.
    """
    first, _, rest = body.partition("\n") if beside_head else ("", "", body)
    mark = ">" * (depth + 1)
    own = all(line.replace(" ", "").startswith(mark) for line in rest.split("\n"))
    rest = _MARGINS[depth + own].sub("", rest)
    return f"{first}\n{rest}" if beside_head else rest


def _keys(text: str, min_chars: int) -> tuple[str, ...]:
    """Return the keys of a text. A cut text of at least ``min_chars`` characters also has a key of its beginning."""
    if _CUT_END.search(text, max(0, len(text) - 20)) is None or len(plain_text := plain(text)) < min_chars:
        return keys_of(text)
    return (*keys_of(text), CUT + plain_text)
