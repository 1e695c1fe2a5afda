"""Trains the tagger and the parser, and measures them on treebanks that they have not learnt from.

    python -m training.language --train en_ewt-ud-train.conllu --test en_ewt-ud-dev.conllu en_pud-ud-test.conllu

Takes about five minutes and 3 GB. Writes ``shared/vicw_shared/language/english.npz``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import batched
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.linear import Table, fit_classes
from training.treebank import Tree, read
from vicw_shared.language import arcs, decoding, relations, tagger
from vicw_shared.language.batch import Batch, lay_out
from vicw_shared.language.hashing import Lexicon, rows
from vicw_shared.language.model import FILE, LanguageModel
from vicw_shared.language.weights import pair_scores, quantised

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

_FOLDS = 5
_TREES_A_STEP = 4
_OUT = Path(__file__).parents[1] / "shared/vicw_shared/language" / FILE
_LEXICON = Lexicon()


def train_tagger(trees: Sequence[Tree], epochs: int) -> Floats:
    """Return the tagger's weights."""
    seen = rows(tagger.features(_batch(trees)), tagger.BITS)
    return fit_classes(seen, _gold_tags(trees), (1 << tagger.BITS, len(tagger.TAGS)), epochs=epochs)


def guessed_tags(trees: Sequence[Tree]) -> list[Indices]:
    """Tag every tree by a tagger that has not learnt from it, so that the parser meets the errors it will meet."""
    tags: list[Indices] = [np.empty(0, dtype=np.int64)] * len(trees)
    for fold in range(_FOLDS):
        weights = train_tagger([tree for place, tree in enumerate(trees) if place % _FOLDS != fold], epochs=2)
        for place in range(fold, len(trees), _FOLDS):
            tags[place] = tagger.tag(_batch([trees[place]]), weights)
    return tags


def train_arcs(trees: Sequence[Tree], tags: Sequence[Indices], epochs: int) -> Floats:
    """Return the weights of head selection: a softmax over the heads that each word may have."""
    table = Table(1 << arcs.BITS, rate=0.05)
    order = np.random.default_rng(0)
    for _ in range(epochs):
        for some in batched(order.permutation(len(trees)), _TREES_A_STEP):
            chosen = [trees[place] for place in some]
            nodes = arcs.Nodes.of(_batch(chosen), np.concatenate([tags[place] for place in some]))
            pairs = arcs.Pairs.of(nodes)
            seen = [rows(feature, arcs.BITS) for feature in arcs.features(nodes, pairs)]
            wrong = _chances(table, seen, pairs)
            wrong -= _gold_heads(nodes, chosen)[pairs.dependents] == pairs.heads
            far = np.abs(wrong) > 1e-3
            table.step(np.concatenate([feature[far] for feature in seen]), np.tile(wrong[far], len(seen)))
    return table.values


def train_relations(trees: Sequence[Tree], tags: Sequence[Indices], epochs: int) -> Floats:
    """Return the weights of the relations, learnt from the right heads."""
    nodes = arcs.Nodes.of(_batch(trees), np.concatenate(tags))
    words = np.flatnonzero(nodes.tag != arcs.ROOT)
    seen = rows(relations.features(nodes, _gold_heads(nodes, trees), words), relations.BITS)
    gold = np.array([relation for tree in trees for relation in tree.relations])
    return fit_classes(seen, gold, (1 << relations.BITS, len(relations.RELATIONS)), epochs=epochs)


def measure(trees: Sequence[Tree], model: LanguageModel) -> dict[str, float]:
    """Return shares of words: right tag; without punctuation right head (UAS), and head and relation (LAS)."""
    started = time.perf_counter()
    batch = _batch(trees)
    tags = tagger.tag(batch, model.tags)
    nodes = arcs.Nodes.of(batch, tags)
    pairs = arcs.Pairs.of(nodes)
    head = decoding.heads(nodes, pairs, pair_scores(arcs.features(nodes, pairs), model.arcs))
    names = relations.label(nodes, head, model.relations)
    took = time.perf_counter() - started
    words = np.flatnonzero(nodes.tag != arcs.ROOT)
    meant = _gold_tags(trees) != tagger.TAGS.index("PUNCT")
    right = (head == _gold_heads(nodes, trees))[words][meant]
    same = (names == np.array([relation for tree in trees for relation in tree.relations]))[meant]
    return {
        "tags": float((tags == _gold_tags(trees)).mean()),
        "UAS": float(right.mean()),
        "LAS": float((right & same).mean()),
        "words/s": len(tags) / took,
    }


def _chances(table: Table, seen: Sequence[npt.NDArray[np.uint32]], pairs: arcs.Pairs) -> Floats:
    scores = np.zeros(len(pairs.heads), dtype=np.float32)
    for feature in seen:
        scores += table.values[feature]
    counts = np.diff(np.append(pairs.firsts, len(scores)))
    powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, pairs.firsts), counts))
    return np.asarray(powers / np.repeat(np.add.reduceat(powers, pairs.firsts), counts), dtype=np.float32)


def _batch(trees: Sequence[Tree]) -> Batch:
    return lay_out([tree.words for tree in trees], _LEXICON)


def _gold_tags(trees: Sequence[Tree]) -> Indices:
    return np.array([tag for tree in trees for tag in tree.tags])


def _gold_heads(nodes: arcs.Nodes, trees: Sequence[Tree]) -> Indices:
    head = np.arange(len(nodes.tag))
    for start, tree in zip(nodes.starts, trees, strict=True):
        head[start + 1 : start + 1 + len(tree.heads)] = start + np.array(tree.heads)
    return head


def main() -> None:
    """Train, write, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help="treebank to learn from (CoNLL-U)")
    parser.add_argument("--test", type=Path, nargs="+", required=True, help="treebanks to measure on (CoNLL-U)")
    parser.add_argument("--out", type=Path, default=_OUT, help="where the weights go")
    asked = parser.parse_args()
    trees = list(read(asked.train))
    print(f"{len(trees):,} trees; the tagger …", flush=True)
    tags = train_tagger(trees, epochs=3)
    print("the parser …", flush=True)
    guessed = guessed_tags(trees)
    heads = train_arcs(trees, guessed, epochs=4)
    names = train_relations(trees, guessed, epochs=3)
    model = LanguageModel(*(quantised(weights)[0] for weights in (tags, heads, names)))
    np.savez_compressed(asked.out, tags=model.tags, arcs=model.arcs, relations=model.relations)
    print(f"{asked.out.name}: {asked.out.stat().st_size / 1e6:.1f} MB")
    for path in asked.test:
        figures = measure(list(read(path)), model)
        print(path.name, "  ".join(f"{name} {value:,.3f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
