"""Feature hashing: map the features of words and word combinations to rows of a table of weights.

A feature is a 32-bit number; a model uses its upper bits as the row of its table (Weinberger et al., 2009). All
functions work on arrays of all words of a batch, since a call per word would cost more than the arithmetic.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint32]

_ODD = np.uint32(0x9E3779B1)
_MIX = np.uint32(0x85EBCA6B)
_MAX_WORDS = 200_000
_MAX_CHARS = 40

WORD, SUFFIX3, SUFFIX2, SUFFIX1, PREFIX, SHAPE, SUFFIX4 = range(7)
"""Columns of the word features."""
COLUMNS = 7


def hash_of(text: str) -> int:
    """Return a 32-bit hash of ``text``, the same in every process."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def combine(*parts: Hashes | np.uint32) -> Hashes:
    """Combine hashes into one; the order matters."""
    mixed: Hashes | np.uint32 = np.uint32(0x2545F491)
    with np.errstate(over="ignore"):
        for part in parts:
            mixed = (mixed ^ part) * _ODD
            mixed = mixed ^ (mixed >> np.uint32(15))
        return np.asarray(mixed * _MIX, dtype=np.uint32)


def rows(hashes: Hashes, bits: int) -> npt.NDArray[np.uint32]:
    """Map hashes to the rows of a table of ``2 ** bits`` rows."""
    return hashes >> np.uint32(32 - bits)


class Lexicon:
    """Cache of the hashes of words, since most words recur. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._table = np.empty((1024, COLUMNS), dtype=np.uint32)

    def hashes(self, words: Sequence[str]) -> Hashes:
        """Return the hashes of ``words``, shape (words, COLUMNS)."""
        with self._lock:
            if len(self._numbers) > _MAX_WORDS:
                self._numbers.clear()
            table = self._numbers
            numbers = np.fromiter((table.get(word, -1) for word in words), dtype=np.int64, count=len(words))
            for index in np.flatnonzero(numbers < 0).tolist():
                numbers[index] = self._add(words[index])
            return self._table[numbers]

    def _add(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            number = self._numbers[word] = len(self._numbers)
            if number >= len(self._table):
                self._table = np.vstack([self._table, np.empty_like(self._table)])
            self._table[number] = _word_hashes(word)
        return number


def _word_hashes(word: str) -> list[int]:
    lower = "".join("0" if ch.isdigit() else ch for ch in word.lower())[:_MAX_CHARS]
    parts = ("w" + lower, "3" + lower[-3:], "2" + lower[-2:], "1" + lower[-1:], "p" + lower[:3], "s" + _shape(word))
    return [hash_of(part) for part in (*parts, "4" + lower[-4:])]


def _shape(word: str) -> str:
    """Return the kinds of a word's characters, each at most twice in a row: ``Xxx`` for ``Anna``."""
    shape = ""
    for ch in word[:12]:
        kind = "X" if ch.isupper() else "x" if ch.islower() else "d" if ch.isdigit() else ch
        if not shape.endswith(kind * 2):
            shape += kind
    return shape
