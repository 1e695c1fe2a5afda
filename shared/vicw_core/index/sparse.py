"""Sparse encoder: BM25 as a vector, identical in every store, without a model to download.

A document's weight for a term is BM25's saturated term frequency (Robertson and Zaragoza, 2009); the query's is 1; the
engine multiplies by the term's IDF over the whole collection. The average length is a constant, so that no document
changes another one's vector. Constants: docs/decisions/0003.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import Stemmer

from vicw_shared.ports import SparseVector
from vicw_shared.text import unaccented

VERSION = 2
"""Version of the words that a text has: of the terms of sparse vectors, their counts, and the full text of both stores.

Raise it with any change of them: existing stores are then converted while they serve (``index/conversion.py``).
"""
K1 = 1.2
B = 0.75
AVERAGE_TERMS = 60

_MARKS = "".join(chr(code) for code in range(0x300, 0xFE30) if unicodedata.category(chr(code))[0] == "M")
_WORD = re.compile(rf"[\w{re.escape(_MARKS)}]+")
"""``\\w`` lacks marks, which are inside words: vowel signs of Indic scripts, points of Hebrew and Arabic."""
_PARTS = re.compile(rf"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|(?:[^\W\d_a-zA-Z]|[{re.escape(_MARKS)}])+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_QUESTION_WORDS = frozenset("what who whom whose when where how why which do does did".split())
"""Words that state the kind of answer, not the subject.

All other words stay: IDF weighs them, and `I` and `my` mark a statement by users about themselves.
"""


def encode_document(text: str) -> SparseVector:
    """Return the term weights of a document, each in (0, K1 + 1). ``text`` is ``name or speaker: text``."""
    terms = _terms(text)
    length = B * len(terms) / AVERAGE_TERMS + 1 - B
    counts = Counter(terms)
    return SparseVector(tuple(counts), tuple(n * (K1 + 1) / (n + K1 * length) for n in counts.values()))


def encode_query(text: str) -> SparseVector:
    """Return weight 1 for each distinct term of a query; question words alone give an empty vector."""
    terms = tuple(dict.fromkeys(_terms(text)))
    return SparseVector(terms, (1.0,) * len(terms))


def stems(text: str) -> Iterator[str]:
    """Return the terms of a text, unhashed, in order, with repeats: only letters, digits, marks and ``_``."""
    return chain.from_iterable(map(_word_stems, _words(text)))


def _terms(text: str) -> list[int]:
    return list(chain.from_iterable(map(_word_terms, _words(text))))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65536)
def _word_terms(word: str) -> tuple[int, ...]:
    return tuple(zlib.crc32(stem.encode()) for stem in _word_stems(word))


@lru_cache(maxsize=65536)
def _word_stems(word: str) -> tuple[str, ...]:
    """Return the stems of a word without accents: itself, and its parts if it is camelCase, snake_case or CJK."""
    word = word if word.isascii() else unaccented(word)
    whole = word.casefold()
    if whole in _QUESTION_WORDS:
        return ()
    if _CJK.search(word):
        pieces = [run[i : i + 2] for run in _CJK.findall(word) for i in range(max(1, len(run) - 1))]
        pieces += _CJK.sub(" ", whole).split()
    else:
        parts = [part.casefold() for part in _PARTS.findall(word)]
        pieces = [whole, *(p for p in parts if p not in _QUESTION_WORDS)] if len(parts) > 1 else [whole]
    return tuple(Stemmer.Stemmer("english").stemWords(pieces))
