"""Part-of-speech tagger (the 17 of Universal Dependencies): a linear model over hashed features, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from vicw_english.tagging.hashing import (
    COLUMNS,
    PREFIX,
    SHAPE,
    SUFFIX1,
    SUFFIX2,
    SUFFIX3,
    SUFFIX4,
    WORD,
    Hashes,
    Lexicon,
    combine,
    rows,
)

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


Weights = npt.NDArray[np.int8 | np.float32]
Scores = npt.NDArray[np.int32 | np.float32]
_BLOCK = 512
"""Examples per block, so that the summed rows stay in the processor cache."""


def class_scores(hashes: Hashes, weights: Weights) -> Scores:
    """Return scores (examples, classes) of features (examples, features). ``weights``: (2 ** bits, classes)."""
    bits = bits_of(weights)
    blocks = (hashes[start : start + _BLOCK] for start in range(0, len(hashes), _BLOCK))
    return np.concatenate([weights[rows(block, bits)].sum(axis=1, dtype=_sum_type(weights)) for block in blocks])


def bits_of(weights: Weights) -> int:
    """Return the number of bits of a row index of this table."""
    return len(weights).bit_length() - 1


def _sum_type(weights: Weights) -> type[np.int32 | np.float32]:
    return np.int32 if weights.dtype == np.int8 else np.float32


TAGS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
FILE = "english.npz"
"""The trained weights shipped with the package, built by ``training/language.py``."""

_ALONE = (
    *((0, column) for column in (WORD, SUFFIX3, SUFFIX2, SUFFIX1, PREFIX, SHAPE, SUFFIX4)),
    *((-1, column) for column in (WORD, SUFFIX3, SHAPE, PREFIX)),
    *((1, column) for column in (WORD, SUFFIX3, SHAPE, PREFIX)),
    (-2, WORD),
    (2, WORD),
)
_PAIRS = (
    ((-1, WORD), (0, WORD)),
    ((0, WORD), (1, WORD)),
    ((-1, WORD), (1, WORD)),
    ((-1, SUFFIX3), (0, SUFFIX3)),
    ((0, SUFFIX3), (1, SUFFIX3)),
    ((-1, SUFFIX3), (1, SUFFIX3)),
    ((0, SHAPE), (-1, SHAPE)),
    ((-1, WORD), (0, SUFFIX2)),
    ((1, WORD), (0, SUFFIX2)),
)
FEATURES = len(_ALONE) + len(_PAIRS)


@lru_cache(maxsize=1)
def load_weights() -> Weights:
    """Return the weights shipped with the package; they are loaded once and take 9 MB."""
    with resources.files(__package__).joinpath(FILE).open("rb") as opened, np.load(opened) as stored:
        weights: Weights = stored["tags"]
    return weights


def features(batch: SentenceBatch) -> Hashes:
    """Return the feature hashes of each word, shape (words, FEATURES)."""
    hashes = np.empty((len(batch.at), FEATURES), dtype=np.uint32)
    for number, (offset, column) in enumerate(_ALONE):
        hashes[:, number] = combine(np.uint32(number), batch.words[batch.at + offset, column])
    for number, ((left, first), (right, second)) in enumerate(_PAIRS, len(_ALONE)):
        one, two = batch.words[batch.at + left, first], batch.words[batch.at + right, second]
        hashes[:, number] = combine(np.uint32(number), one, two)
    return hashes


def tag(batch: SentenceBatch, weights: Weights) -> Indices:
    """Return the index in TAGS of each word's tag. ``weights`` has shape (2 ** BITS, len(TAGS))."""
    return class_scores(features(batch), weights).argmax(axis=1)
