"""Splitting of a text into sentences, the units of statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sentencex import get_sentence_boundaries

from vicw_shared.text import Span

_MAX_CHARS = 2_000
"""Maximum characters of a sentence. Text without sentences (a table, a log) is split at lines, then at this length."""
_BLOCK_LINE = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|>|\||```|---)")
"""Lines of Markdown that start a sentence of their own: headings, list items, quotes, table rows and fences."""


_PLAIN_END = re.compile(r"\b(?:me|no|art|may|ill|miss|ok|hr|min|sec)[.]\s+(?=[A-Z])")
"""Lower-case words that end a sentence far more often than they are abbreviations."""


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of ``text``, in order, without surrounding white space."""
    return [span for start, end in _rough(text) for span in _trimmed(text, start, end)]


def _rough(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _boundaries(text):
        cuts = sorted({start, *_line_cuts(text, start, end), *_word_cuts(text, start, end), end})
        for left, right in pairwise(cuts):
            yield from ((at, min(at + _MAX_CHARS, right)) for at in range(left, right, _MAX_CHARS))


def _boundaries(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of sentences; the dot of ``./src`` does not end one."""
    start: int | None = None
    for boundary in get_sentence_boundaries("en", text):
        start = boundary["start_index"] if start is None else start
        end = boundary["end_index"]
        if not (text[end - 1 : end + 1] == "./" and text[start:end].strip()):
            yield start, end
            start = None
    if start is not None:
        yield start, len(text)


def _word_cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield sentence starts after words that the splitter mistakes for abbreviations (``called me. Then``)."""
    for match in _PLAIN_END.finditer(text, start, end):
        if match.end() < end:
            yield match.end()


def _line_cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the starts of inner lines that begin a Markdown block, and of the lines after a heading, row or fence."""
    block = False
    for line in re.finditer(r"[^\n]*\n?", text[start:end]):
        at = start + line.start()
        begins = _BLOCK_LINE.match(line.group()) is not None
        if at > start and (begins or block):
            yield at
        block = begins and line.group().lstrip().startswith(("#", "|", "```", "---"))


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    if any(ch.isalnum() for ch in text[start:end]):
        yield Span(start, end)
