"""Chunking: cut a text into passages on its own structure.

Passages partition the text: joined, they equal the text to the character, and each begins with the indentation of its
first line. They end at the best boundary in reach: before a heading, after a blank line, at the outermost item of a
list or statement of code, after a sentence, between words. A model's tokens are never used, so that a change of model
does not change the passages.

Each line is classified once, and no search goes beyond the size of a passage: the time is linear, and other threads run
meanwhile.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from vicw_ingest.plan.line_boundaries import Boundary, Kind, line_boundaries

_FLOOR = 0.5
"""Minimum size of a passage, as a share of the maximum, if the text has a boundary beyond that."""
_INLINE = (
    (Kind.SENTENCE, re.compile(r"[.!?…][\"'”’»)\]]*+[^\S\n]++(?=[^\sa-z])|[。！？｡][\"'”’」』）]*+(?=\S)")),
    (Kind.WORD, re.compile(r"(?<=\S)[^\S\n]++(?=\S)")),
    (Kind.CLAUSE, re.compile(r"[,;、，；](?=\S)")),
)
_VISIBLE = re.compile(r"\S")
_JOINED = frozenset({"Mn", "Mc", "Me"})
_JOINER = "\u200d"


def split_passages(text: str, *, size: int, code: bool) -> list[str]:
    """Return the passages of ``text``, each of at most ``size`` characters besides white space around them.

    An empty text has no passages. White space joins a neighbouring passage.
    """
    edges = [0, *_cuts(text, size, code=code), len(text)] if text else []
    return [text[start:end] for start, end in pairwise(edges)]


def _cuts(text: str, size: int, *, code: bool) -> Iterator[int]:
    lines = line_boundaries(text, code=code)
    following = next(lines, None)
    in_reach: deque[Boundary] = deque()
    start, end = 0, len(text.rstrip())
    while (window := _Window.of(text, start, size)).limit < end:
        while following is not None and following.at <= window.limit:
            in_reach.append(following)
            following = next(lines, None)
        while in_reach and in_reach[0].at <= window.visible:
            in_reach.popleft()
        start = window.cut(in_reach)
        yield start


class _Window(NamedTuple):
    """Where a passage may end: after its first ``visible`` character, at ``limit`` at the latest; best beyond
    ``floor``.
    """

    text: str
    visible: int
    floor: int
    limit: int

    @classmethod
    def of(cls, text: str, start: int, size: int) -> _Window:
        first = _VISIBLE.search(text, start)
        visible = first.start() if first else start
        least = int(size * _FLOOR)
        base = start if visible - start < least else visible
        return cls(text, visible, base + least, base + size)

    def cut(self, lines: Iterable[Boundary]) -> int:
        """Return the best boundary of these at ``lines``, and those between them."""
        best = max((line for line in lines if line.at > self.floor), default=None)
        for kind, pattern in _INLINE:
            if best is not None and best.kind > kind:
                return best.at
            ends = (match.end() for match in pattern.finditer(self.text, self.floor, self.limit + 1))
            inside = [at for at in ends if self.floor < at <= self.limit and not self._is_joined(at)]
            if inside:
                found = Boundary(kind, 0, inside[-1])
                best = found if best is None else max(best, found)
        if best is not None:
            return best.at
        return max((line.at for line in lines), default=0) or self._cut_anywhere()

    def _cut_anywhere(self) -> int:
        """Return the last place that is not inside a grapheme; in white space, the beginning of the next line."""
        if self.text[self.limit].isspace():
            following = _VISIBLE.search(self.text, self.limit)
            assert following is not None
            return 1 + self.text.rfind("\n", self.limit, following.start()) or following.start()
        whole = (at for at in range(self.limit, self.floor, -1) if not self._is_joined(at))
        return next(whole, self.limit)

    def _is_joined(self, at: int) -> bool:
        """Return whether two characters belong to one grapheme."""
        before, after = self.text[at - 1], self.text[at]
        if _JOINER in {before, after} or unicodedata.category(after) in _JOINED or "🏻" <= after <= "🏿":
            return True
        return _is_flag(after) and _is_flag(before)


def _is_flag(character: str) -> bool:
    return "🇦" <= character <= "🇿"
