"""Batches of sentences in one array, so that one array operation processes all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vicw_shared.language.hashing import COLUMNS, Hashes, Lexicon

PADS = 2
"""Padding positions before and after each sentence, for features of positions beyond its ends."""

Indices = npt.NDArray[np.int64]


def starts_of(lengths: Indices) -> Indices:
    """Return the start offsets of consecutive segments of these lengths."""
    return np.cumsum(lengths) - lengths


@dataclass(frozen=True, slots=True)
class SentenceBatch:
    """The words of a batch of sentences. ``words`` has shape (positions, COLUMNS), padding included.

    ``at`` are the positions of the words, ``lengths`` the number of words of each sentence.
    """

    words: Hashes
    at: Indices
    lengths: Indices

    @property
    def firsts(self) -> Indices:
        """Return the index of the first word of each sentence in the batch."""
        return starts_of(self.lengths)


def lay_out(sentences: Sequence[Sequence[str]], lexicon: Lexicon) -> SentenceBatch:
    """Return the batch of these sentences; none may be empty."""
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    total = int(lengths.sum())
    at = np.arange(total) + np.repeat(np.arange(len(lengths)) * PADS, lengths) + PADS
    words = np.zeros((total + PADS * (len(lengths) + 1), COLUMNS), dtype=np.uint32)
    words[at] = lexicon.hashes([word for sentence in sentences for word in sentence])
    return SentenceBatch(words, at, lengths)
