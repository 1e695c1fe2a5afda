"""Words that two texts share: the second witness wherever the similarity of vectors decides something.

A model does not see all of a text. To MiniLM every emoji is one and the same unknown token, and so is every word of
Thai, many of Chinese, and any run of over 100 letters and digits: different texts have a cosine of 1 there. In scripts
without spaces two characters in a row are a word, so texts without a word in common may share one.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from vicw_core.index import sparse

_CHARS = 2000


def words_of(text: str) -> frozenset[str]:
    """Return the terms of a text, of a long one those at its beginning."""
    return frozenset(sparse.stems(text[:_CHARS]))


def shares_a_word(words: AbstractSet[str], text: str) -> bool:
    """Return whether a text, a long one at its beginning, has one of these words (``words_of`` another)."""
    return not words.isdisjoint(sparse.stems(text[:_CHARS]))
