"""Part-of-speech tagger (the 17 of Universal Dependencies): a linear model over hashed features, word by word."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np

from vicw_shared.language.batch import Indices, SentenceBatch
from vicw_shared.language.hashing import PREFIX, SHAPE, SUFFIX1, SUFFIX2, SUFFIX3, SUFFIX4, WORD, Hashes, combine
from vicw_shared.language.weights import Weights, class_scores

TAGS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
BITS = 19
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
