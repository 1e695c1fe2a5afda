"""Sentences laid out one behind the other, so that one array operation serves them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vicw_shared.language.hashing import COLUMNS, Hashes, Lexicon

PADS = 2
"""Empty places before and after each sentence, where a feature looks past its ends."""

Indices = npt.NDArray[np.int64]


def starts_of(lengths: Indices) -> Indices:
    """Return where stretches of these lengths start, one behind the other."""
    return np.cumsum(lengths) - lengths


@dataclass(frozen=True, slots=True)
class SentenceBatch:
    """The words of some sentences. ``words`` has shape (places, COLUMNS), pads included.

    ``at`` are the places of the words, ``lengths`` the words of each sentence.
    """

    words: Hashes
    at: Indices
    lengths: Indices

    @property
    def firsts(self) -> Indices:
        """Return which word of the batch each sentence starts with."""
        return starts_of(self.lengths)


def lay_out(sentences: Sequence[Sequence[str]], lexicon: Lexicon) -> SentenceBatch:
    """Return the batch of these sentences, none of which is empty."""
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    total = int(lengths.sum())
    at = np.arange(total) + np.repeat(np.arange(len(lengths)) * PADS, lengths) + PADS
    words = np.zeros((total + PADS * (len(lengths) + 1), COLUMNS), dtype=np.uint32)
    words[at] = lexicon.hashes([word for sentence in sentences for word in sentence])
    return SentenceBatch(words, at, lengths)
