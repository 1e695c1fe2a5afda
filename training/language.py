"""Trains the tagger, and measures it on treebanks that it has not learnt from.

    python -m training.language --train en_ewt-ud-train.conllu --test en_ewt-ud-dev.conllu en_pud-ud-test.conllu

Writes ``services/english/vicw_english/tagging/english.npz``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.linear import fit_classes
from training.treebank import Tagged, read
from vicw_english.tagging import tagger
from vicw_english.tagging.hashing import Lexicon, rows
from vicw_english.tagging.tagger import SentenceBatch, Weights, lay_out

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

_OUT = Path(__file__).parents[1] / "services/english/vicw_english/tagging" / tagger.FILE
_LEXICON = Lexicon()
_BITS = 19
_STEPS = 15


def train_tagger(trees: Sequence[Tagged], epochs: int) -> Floats:
    """Return the tagger's weights."""
    seen = rows(tagger.features(_batch(trees)), _BITS)
    return fit_classes(seen, _gold_tags(trees), (1 << _BITS, len(tagger.TAGS)), epochs=epochs)


def quantise(weights: Floats) -> npt.NDArray[np.int8]:
    """Return ``weights`` in 31 steps: half the package size of 255 steps, with the same quality.

    The few largest weights are clipped, which costs less quality than coarser steps.
    """
    step = float(np.quantile(np.abs(weights[weights != 0]), 0.9995)) / _STEPS
    steps: npt.NDArray[np.int8] = np.clip(np.round(weights / step), -_STEPS, _STEPS).astype(np.int8)
    return steps


def measure(trees: Sequence[Tagged], weights: Weights) -> dict[str, float]:
    """Return the share of words with the right tag, and the words that are tagged a second."""
    started = time.perf_counter()
    tags = tagger.tag(_batch(trees), weights)
    took = time.perf_counter() - started
    return {"tags": float((tags == _gold_tags(trees)).mean()), "words/s": len(tags) / took}


def _batch(trees: Sequence[Tagged]) -> SentenceBatch:
    return lay_out([tree.words for tree in trees], _LEXICON)


def _gold_tags(trees: Sequence[Tagged]) -> Indices:
    return np.array([tag for tree in trees for tag in tree.tags])


def main() -> None:
    """Train, write, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help="treebank to learn from (CoNLL-U)")
    parser.add_argument("--test", type=Path, nargs="+", required=True, help="treebanks to measure on (CoNLL-U)")
    parser.add_argument("--out", type=Path, default=_OUT, help="where the weights go")
    asked = parser.parse_args()
    trees = list(read(asked.train))
    weights = quantise(train_tagger(trees, epochs=3))
    np.savez_compressed(asked.out, tags=weights)
    print(f"{asked.out.name}: {asked.out.stat().st_size / 1e6:.1f} MB")
    for path in asked.test:
        figures = measure(list(read(path)), weights)
        print(path.name, "  ".join(f"{name} {value:,.3f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
