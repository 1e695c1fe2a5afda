"""Trains the model of causes, and measures it by cross-validation.

    python -m training.causes DATA/causes

The folder is a set of labelled sentences (``vicw_standalone.bench.labelled``). Takes about two minutes. Writes
``causes.npz`` beside ``vicw_ingest/extraction/rules/causes.py``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vicw_ingest.extraction.rules import causes
from vicw_ingest.extraction.rules.causes import CAUSE, EDGES, JOINT, ORDERS, OUTSIDE, CauseModel, Cut
from vicw_ingest.extraction.rules.cues import cue_in
from vicw_ingest.extraction.rules.signs import Words, edge_signs, word_signs
from vicw_shared.language.analysis import Analyst, Sentence, Word
from vicw_shared.language.hashing import Lexicon, rows
from vicw_shared.language.tokens import Span
from vicw_shared.language.weights import quantised
from vicw_standalone.bench.extract import judge_pair
from vicw_standalone.bench.labelled import CauseSentence, joined, load_sentences

Floats = npt.NDArray[np.float32]
_BITS = 18
_FOLDS = 5
_BAGS = 5
_SCALE = 3.0
_RECALL = 0.62
"""Where on the curve the threshold lies: a little more recall than is asked of it."""
_LEXICON = Lexicon()


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, whether it is causal, and its labelled pairs as cuts."""

    sentence: Sentence
    causal: bool
    cuts: tuple[Cut, ...]


def read(folder: Path) -> list[Example]:
    """Return the examples of a set; texts that are cut into several sentences are read as one."""
    told = load_sentences(folder, CauseSentence)
    texts = [joined(one.text) for one in told]
    examples = []
    for one, text, sentences in zip(told, texts, Analyst().analyse(texts), strict=True):
        sentence = _one(sentences)
        pairs = ((joined(relation.cause), joined(relation.effect)) for relation in one.relations)
        cuts = tuple(cut for pair in pairs if (cut := _cut(text, sentence, *pair)) is not None)
        examples.append(Example(sentence, one.causal, cuts))
    return examples


def _one(sentences: Sequence[Sentence]) -> Sentence:
    words: list[Word] = []
    for sentence in sentences:
        before = len(words)
        words += [word if word.head < 0 else replace(word, head=word.head + before) for word in sentence.words]
    return Sentence(sentences[0].span, tuple(words))


def _cut(text: str, sentence: Sentence, cause: str, effect: str) -> Cut | None:
    one, two = (_words_of(text, sentence, part) for part in (cause, effect))
    if one is None or two is None:
        return None
    (a, b), (c, d) = one, two
    if b <= c:
        return Cut(0, a, b, c, d)
    return Cut(1, c, d, a, b) if d <= a else None


def _words_of(text: str, sentence: Sentence, part: str) -> tuple[int, int] | None:
    """Return which words a labelled stretch has; white space is no difference."""
    dense = re.sub(r"\s", "", text)
    before = np.cumsum([0] + [not ch.isspace() for ch in text])
    sought = re.sub(r"\s", "", part)
    at = dense.find(sought)
    inside = [
        number
        for number, word in enumerate(sentence.words)
        if at >= 0 and before[word.start] >= at and before[word.end] <= at + len(sought)
    ]
    return (inside[0], inside[-1] + 1) if inside else None


def train_sentences(examples: Sequence[Example], seed: int, epochs: int = 8) -> tuple[Floats, float]:
    """Return weights and bias of a logistic regression, averaged over the later epochs."""
    words = Words.of([example.sentence for example in examples], _LEXICON)
    owner, row = causes.distinct_signs(words, _BITS)
    signs = np.split(row, np.flatnonzero(np.diff(owner)) + 1)
    weights, squares = np.zeros(1 << _BITS), np.full(1 << _BITS, 1e-3)
    total, bias, rounds = np.zeros(1 << _BITS), 0.0, 0
    order = np.random.default_rng(seed)
    for epoch in range(epochs):
        for place in order.permutation(len(examples)):
            mine = signs[place]
            size = np.sqrt(len(mine))
            wrong = 1 / (1 + np.exp(-(weights[mine].sum() / size * _SCALE + bias))) - examples[place].causal
            gradient = wrong * _SCALE / size + 1e-2 * weights[mine]
            squares[mine] += gradient * gradient
            weights[mine] -= 0.05 * gradient / np.sqrt(squares[mine])
            bias -= 0.01 * wrong
        if epoch >= epochs // 2:
            total += weights
            rounds += 1
    return (total / rounds).astype(np.float32), float(bias)


def train_cuts(examples: Sequence[Example], seed: int, epochs: int = 4) -> tuple[Floats, Floats]:
    """Return the weights of words and edges: an averaged structured perceptron with a margin (Collins, 2002)."""
    examples = [example for example in examples if example.cuts]
    words = Words.of([example.sentence for example in examples], _LEXICON)
    word_rows, edge_rows = rows(word_signs(words), _BITS), rows(edge_signs(words), _BITS)
    shapes = ((1 << _BITS, 4), (1 << _BITS, 2 * EDGES))
    now = [np.zeros(shape, dtype=np.float32) for shape in shapes]
    late = [np.zeros(shape, dtype=np.float32) for shape in shapes]
    step = 1.0
    order = np.random.default_rng(seed)
    for _ in range(epochs):
        for place in order.permutation(len(examples)):
            start, length = int(words.firsts[place]), int(words.lengths[place])
            mine = word_rows[start : start + length], edge_rows[start + place : start + place + length + 1]
            scores = [table[row].sum(axis=1).astype(float) for table, row in zip(now, mine, strict=True)]
            gold = max(examples[place].cuts, key=lambda cut: _score(cut, *scores))
            labels = _labels(gold, length)
            scores[0] += 0.3
            scores[0][np.arange(length), labels] -= 0.3
            guess = causes.best_cut(scores[0], scores[1])
            if guess is not None and guess != gold:
                for cut, sign in ((gold, 0.1), (guess, -0.1)):
                    _add(now, mine, cut, sign)
                    _add(late, mine, cut, sign * step)
            step += 1
    return now[0] - late[0] / step, now[1] - late[1] / step


def _labels(cut: Cut, length: int) -> npt.NDArray[np.int64]:
    labels = np.full(length, OUTSIDE)
    first, second = ORDERS[cut.order]
    labels[cut.begin : cut.end] = first
    labels[cut.end : cut.begin2] = JOINT
    labels[cut.begin2 : cut.end2] = second
    return labels


def _score(cut: Cut, word: causes.Floats, edge: causes.Floats) -> float:
    words = word[np.arange(len(word)), _labels(cut, len(word))].sum()
    return float(words + sum(edge[at, cut.order * EDGES + kind] for kind, at in enumerate(cut[1:])))


def _add(tables: Sequence[Floats], mine: Sequence[npt.NDArray[np.uint32]], cut: Cut, amount: float) -> None:
    labels = _labels(cut, len(mine[0]))
    np.add.at(tables[0], (mine[0], labels[:, None]), amount)
    for kind, at in enumerate(cut[1:]):
        np.add.at(tables[1], (mine[1][at], cut.order * EDGES + kind), amount)


def train(examples: Sequence[Example], threshold: float) -> CauseModel:
    """Return the model of these examples: the mean of several, each of most of them (bagging; Breiman, 1996)."""
    size = 1 << _BITS
    sums: list[Floats] = [np.zeros(shape, dtype=np.float32) for shape in (size, (size, 4), (size, 2 * EDGES))]
    bias = 0.0
    for seed in range(_BAGS):
        chosen = np.random.default_rng(seed).permutation(len(examples))[: len(examples) * 4 // 5]
        some = [examples[place] for place in chosen]
        weights, own = train_sentences(some, seed)
        for total, more in zip(sums, (weights, *train_cuts(some, seed)), strict=True):
            np.add(total, more, out=total)
        bias += own
    (sentence, step), (word, _), (edge, _) = (quantised(total / np.float32(_BAGS)) for total in sums)
    return CauseModel(sentence, word, edge, _SCALE * step, bias / _BAGS, threshold)


def overlap(one: tuple[int, int], two: tuple[int, int]) -> float:
    """Return the F1 of the words of two stretches."""
    return 2 * max(0, min(one[1], two[1]) - max(one[0], two[0])) / (one[1] - one[0] + two[1] - two[0])


def parts(cut: Cut) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the words of the cause and of the effect."""
    one, two = (cut.begin, cut.end), (cut.begin2, cut.end2)
    return (one, two) if ORDERS[cut.order][0] == CAUSE else (two, one)


def validate(examples: Sequence[Example]) -> float:
    """Print what models say of examples that they have not learnt from; return the threshold."""
    order = np.random.default_rng(3).permutation(len(examples))
    learnt, cued = np.zeros(len(examples)), np.zeros(len(examples), dtype=bool)
    found: dict[int, tuple[float, float, bool]] = {}
    for fold in range(_FOLDS):
        test = order[fold::_FOLDS]
        model = train([examples[place] for place in np.setdiff1d(order, test).tolist()], 0.0)
        sentences = [examples[place].sentence for place in test.tolist()]
        learnt[test] = causes.certainties(Words.of(sentences, _LEXICON), model)
        finder = causes.CauseFinder(model)
        for place, sentence in zip(test.tolist(), sentences, strict=True):
            (cause,) = finder.find([sentence])
            cued[place] = cause is not None and cue_in(sentence) is not None
            if cause is None:
                learnt[place] = 0.0  # whatever its score: no such sentence is told of
            if cause is not None and examples[place].cuts:
                found[place] = _judged(sentence, cause, examples[place].cuts)
    causal = np.array([example.causal for example in examples])
    _report("cues alone", cued, causal, found)
    chosen = 1.0
    for wanted in (0.5, 0.6, _RECALL, 0.7, 0.8):
        threshold = next(
            t for t in np.sort(learnt)[::-1] if causal[cued | (learnt >= t)].sum() >= wanted * causal.sum()
        )
        _report(f"threshold {threshold:.3f}", cued | (learnt >= threshold), causal, found)
        chosen = float(threshold) if wanted == _RECALL else chosen
    return chosen


def _report(
    name: str,
    said: npt.NDArray[np.bool_],
    causal: npt.NDArray[np.bool_],
    found: Mapping[int, tuple[float, float, bool]],
) -> None:
    judged = [found[place] for place in np.flatnonzero(said).tolist() if place in found]
    cause, effect, right = np.mean(judged, axis=0)
    print(
        f"{name}: recall {causal[said].sum() / causal.sum():.3f}  precision {causal[said].mean():.3f}  "
        f"overlap of causes {cause:.3f}, of effects {effect:.3f}  direction right {right:.3f}"
    )


def _judged(sentence: Sentence, said: causes.Cause, gold: Sequence[Cut]) -> tuple[float, float, bool]:
    cause, effect = (_words_in(sentence, span) for span in (said.cause, said.effect))
    return judge_pair(cause, effect, [parts(cut) for cut in gold], overlap)


def _words_in(sentence: Sentence, span: Span) -> tuple[int, int]:
    inside = [place for place, word in enumerate(sentence.words) if span.start <= word.start and word.end <= span.end]
    return inside[0], inside[-1] + 1


def main() -> None:
    """Validate, train on everything, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="labelled sentences")
    parser.add_argument("--out", type=Path, default=Path(causes.__file__).with_name(causes.FILE), help="where it goes")
    asked = parser.parse_args()
    examples = read(asked.folder)
    print(f"{len(examples):,} sentences, {sum(example.causal for example in examples):,} of them causal")
    model = train(examples, validate(examples))
    np.savez_compressed(
        asked.out,
        sentence=model.sentence,
        word=model.word,
        edge=model.edge,
        numbers=np.array([model.scale, model.bias, model.threshold]),
    )
    print(f"{asked.out.name}: {asked.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
