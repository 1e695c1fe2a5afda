"""Cutting a text into passages on its own structure (design: "The graph", Chunk).

Passages partition the text: joined, they are the text, to the character. Prose is cut at paragraphs, then
sentences, then words, then graphemes; code at blank lines and definitions. Never by a model's tokens: a
change of model must not re-cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from semantic_text_splitter import TextSplitter

_DEFINITION = re.compile(
    r"[ \t]{0,8}"
    r"(?:@|(?:async )?def\s|class\s|func\s|fn\s|pub\s|impl\s|function\s|export\s|interface\s|struct\s)"
)
_WINDOW = 16


def cut(text: str, *, size: int, code: bool) -> list[str]:
    """Return the passages of ``text``, each of at most ``size`` characters (a longer grapheme stays whole).

    An empty text gives no passages. White space alone is never a passage of its own.
    """
    pieces = _cut_code(text, size) if code else _cut_prose(text, size)
    return _absorb_blanks(list(pieces))


def _cut_prose(text: str, size: int) -> Iterator[str]:
    """Cut in windows, since the splitter's time grows with the square of a run without boundaries."""
    splitter = TextSplitter(size, trim=False)
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW * size]
        chunks = splitter.chunks(window)
        if start + len(window) < len(text) and len(chunks) > 1:
            chunks = chunks[:-1]  # the window's end is no boundary of the text
        yield from chunks
        start += sum(map(len, chunks))


def _cut_code(text: str, size: int) -> Iterator[str]:
    """Fill passages with whole blocks; a block over the size is cut like prose."""
    held = ""
    for start, end in pairwise([*_block_starts(text), len(text)]):
        block = text[start:end]
        if held and len(held) + len(block) > size:
            yield held
            held = ""
        if len(block) > size:
            yield from _cut_prose(block, size)
        else:
            held += block
    if held:
        yield held


def _block_starts(text: str) -> Iterator[int]:
    """Yield where blocks start: at definitions, and after a blank line at whatever stands at the margin."""
    yield 0
    position, after_blank = 0, False
    for line in text.split("\n"):
        if position and ((after_blank and line[:1].strip()) or _DEFINITION.match(line)):
            yield position
        after_blank = not line or line.isspace()
        position += len(line) + 1


def _absorb_blanks(pieces: list[str]) -> list[str]:
    passages: list[str] = []
    lead = ""
    for piece in pieces:
        if piece.isspace():
            if passages:
                passages[-1] += piece
            else:
                lead += piece
        elif piece:
            passages.append(lead + piece)
            lead = ""
    if lead and not passages:
        passages.append(lead)
    return passages
