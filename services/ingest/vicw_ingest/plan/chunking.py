"""Chunking: cut a text into passages on its own structure.

Passages partition the text: joined, they equal the text to the character. Prose is cut at paragraphs, then
sentences, then words, then graphemes; code at blank lines and definitions. A model's tokens are never used,
so that a change of model does not change the passages.
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


def split_passages(text: str, *, size: int, code: bool) -> list[str]:
    """Return the passages of ``text``, each of at most ``size`` characters (a longer grapheme stays whole).

    An empty text has no passages. White space joins a neighbouring passage.
    """
    pieces = _cut_code(text, size) if code else _cut_prose(text, size)
    return _absorb_blanks(list(pieces))


def _cut_prose(text: str, size: int) -> Iterator[str]:
    """Cut prose in windows, because the splitter's time is quadratic in a run without boundaries."""
    splitter = TextSplitter(size, trim=False)
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW * size]
        chunks = splitter.chunks(window)
        if start + len(window) < len(text) and len(chunks) > 1:
            chunks = chunks[:-1]  # the last chunk ends at the window, not at a boundary of the text
        yield from chunks
        start += sum(map(len, chunks))


def _cut_code(text: str, size: int) -> Iterator[str]:
    """Cut code into passages of whole blocks. A block over ``size`` is cut like prose."""
    passage = ""
    for start, end in pairwise([*_block_starts(text), len(text)]):
        block = text[start:end]
        if passage and len(passage) + len(block) > size:
            yield passage
            passage = ""
        if len(block) > size:
            yield from _cut_prose(block, size)
        else:
            passage += block
    if passage:
        yield passage


def _block_starts(text: str) -> Iterator[int]:
    """Yield the offsets of blocks: definitions, and unindented lines after a blank line."""
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
