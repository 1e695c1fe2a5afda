"""Causes and effects inside a sentence (CAUSED), by two small linear models.

The first tells how likely a sentence holds a cause together with its effect. The second cuts such a sentence into
one stretch for each, with what joins them in between, and so tells which is which. Both are trained by
``training/causes.py`` on the Causal News Corpus (Tan et al., 2022), which is in the public domain (CC0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vicw_ingest.extraction.rules.cues import JOINING_CLAUSES, Cue, Side, cue_in, is_answer, named_cause
from vicw_ingest.extraction.rules.happenings import goes_wrong, says_something
from vicw_ingest.extraction.rules.instructing import instructs, tells_of_past
from vicw_ingest.extraction.rules.signs import Words, edge_signs, sentence_signs, word_signs
from vicw_ingest.extraction.rules.soundness import certainty_of, is_question
from vicw_shared.language.analysis import Sentence, Word
from vicw_shared.language.hashing import Lexicon, rows
from vicw_shared.language.tokens import Span
from vicw_shared.language.weights import Weights, bits_of, class_scores, stored_arrays

FILE = "causes.npz"
OUTSIDE, JOINT, CAUSE, EFFECT = range(4)
"""What a word may be: of neither, of what joins the two, of the cause, of the effect."""
ORDERS = ((CAUSE, EFFECT), (EFFECT, CAUSE))
LEARNT = "learnt"
_CERTAIN = 1e6
_FAR = 3
"""How many sentences before may tell what the cause is of that a sentence calls one."""
_VERBS = frozenset({"VERB", "AUX"})
"""What makes a clause; a participle is often an adjective behind its auxiliary: *was smashed*."""
EDGES = 4
"""Where the first stretch begins and ends, and the second."""

Floats = npt.NDArray[np.float64]


class Cut(NamedTuple):
    """A sentence cut in two stretches: ``[begin, end)`` and ``[begin2, end2)``, in words; which ORDER they have."""

    order: int
    begin: int
    end: int
    begin2: int
    end2: int


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause and its effect, in characters of the text, and how certain it is (0 to 1) that there is one.

    ``rule`` is the cue that tells of it, else ``LEARNT``: the model found it.
    """

    cause: Span
    effect: Span
    certainty: float
    rule: str


@dataclass(frozen=True, slots=True)
class CauseModel:
    """Weights: ``sentence`` (2 ** bits,) with scale and bias; ``word`` (2 ** bits, 4); ``edge`` (2 ** bits, 8)."""

    sentence: Weights
    word: Weights
    edge: Weights
    scale: float
    bias: float
    threshold: float


@lru_cache(maxsize=1)
def load_model() -> CauseModel:
    """Return the model that comes with the package."""
    stored = stored_arrays(__package__, FILE)
    scale, bias, threshold = stored.pop("numbers").tolist()
    return CauseModel(**stored, scale=scale, bias=bias, threshold=threshold)


class CauseFinder:
    """Finds at most one cause of every sentence, or in it: by its cue, or else by what the model has learnt."""

    def __init__(self, model: CauseModel | None = None) -> None:
        self._model = model or load_model()
        self._lexicon = Lexicon()

    def find(self, sentences: Sequence[Sentence], *, reference: bool = False) -> list[Cause | None]:
        """Return what is found in each of the sentences of one text, in order.

        A cue at its start (``Therefore, …``) makes the sentence before the cause. In a ``reference``, a page that
        describes and instructs, what the model finds without a cue counts only in a sentence that tells of the past.
        """
        if not sentences:
            return []
        cues = [cue_in(sentence) for sentence in sentences]
        learnt = certainties(Words.of(sentences, self._lexicon), self._model)
        found = [_told(sentences, number, cue) for number, cue in enumerate(cues)]
        chosen = [
            number
            for number, cue in enumerate(cues)
            if found[number] is None
            and not is_question(sentences[number].words)
            and (
                learnt[number] >= self._model.threshold and _may_be_learnt(sentences[number].words, reference)
                if cue is None
                else not _looks_back(sentences[number], cue)
            )
        ]
        cuts = self._cuts([sentences[number] for number in chosen], [cues[number] for number in chosen])
        for number, cut in zip(chosen, cuts, strict=True):
            cue = cues[number]
            words = sentences[number].words
            if cut is None or not _tells(cut, words):
                continue
            certainty = certainty_of(words, max(float(learnt[number]), cue.certainty if cue is not None else 0.0))
            if cue is None:
                found[number] = _cause(sentences[number], cut, certainty, LEARNT)
            else:
                whole = _with_verbs(cut, cue, words)
                found[number] = _cause(sentences[number], whole, certainty, _rule(sentences[number], cue))
        return found

    def _cuts(self, sentences: Sequence[Sentence], cues: Sequence[Cue | None]) -> Iterator[Cut | None]:
        """Yield the best cut of each sentence."""
        if not sentences:
            return
        words = Words.of(sentences, self._lexicon)
        word = class_scores(word_signs(words), self._model.word)
        edge = class_scores(edge_signs(words), self._model.edge)
        yield from best_cuts(words.lengths, word, edge, cues)


def _told(sentences: Sequence[Sentence], number: int, cue: Cue | None) -> Cause | None:
    """Return the cause of a sentence that says by its words alone where it stands."""
    if (named := _named(sentences, number)) is not None:
        return named
    return _from_before(sentences, number, cue) if cue is not None and _looks_back(sentences[number], cue) else None


def _may_be_learnt(words: Sequence[Word], reference: bool) -> bool:
    return not instructs(words) and (not reference or tells_of_past(words))


def _looks_back(sentence: Sentence, cue: Cue) -> bool:
    return cue.fronted and (cue.side is Side.BEFORE or is_answer(sentence, cue))


def _named(sentences: Sequence[Sentence], number: int) -> Cause | None:
    """Return the cause that a sentence calls one."""
    found = named_cause(sentences[number])
    if found is None:
        return None
    effect, cause = found
    words = sentences[number].words
    if effect is not None:
        told = _span(words, effect.start, effect.stop)
    else:
        before = range(number - 1, max(number - 1 - _FAR, -1), -1)
        trouble = next((at for at in before if goes_wrong(sentences[at].words)), None)
        if trouble is None:
            return None
        told = sentences[trouble].span
    return Cause(_span(words, cause.start, cause.stop), told, 0.9, "cause-of")


def _from_before(sentences: Sequence[Sentence], number: int, cue: Cue) -> Cause | None:
    """Return the cause of a sentence that goes on with the one before, or with what somebody said before (*That*)."""
    words = [word for word in sentences[number].words[cue.last + 1 :] if word.tag != "PUNCT"]
    pointing = sentences[number].words[cue.first]
    if not says_something(words) or (number == 0 and pointing.lower not in {"that", "this"}):
        return None
    before = sentences[number - 1].span if number > 0 else Span(pointing.start, pointing.end)
    here = _span(words, 0, len(words))
    cause, effect = (before, here) if cue.side is Side.BEFORE else (here, before)
    return Cause(cause, effect, cue.certainty, _rule(sentences[number], cue))


def _with_verbs(cut: Cut, cue: Cue, words: Sequence[Word]) -> Cut:
    """Return a cut whose first stretch begins with the clause that it ends, where the cut left the verb outside."""
    joins = words[cue.last].lower in JOINING_CLAUSES and cut.end <= cue.first < cut.begin2
    return cut._replace(begin=_reach(words, cut.begin, cut.end, cue.begin)) if joins else cut


def _tells(cut: Cut, words: Sequence[Word]) -> bool:
    """Tell whether both stretches of a cut say something."""
    return says_something(words[cut.begin : cut.end]) and says_something(words[cut.begin2 : cut.end2])


def _reach(words: Sequence[Word], begin: int, end: int, least: int) -> int:
    if any(word.tag in _VERBS for word in words[begin:end]):
        return begin
    start = begin
    while start > least and words[start - 1].tag not in {"PUNCT", "CCONJ", "SCONJ"}:
        start -= 1
    return start if any(word.tag in _VERBS for word in words[start:begin]) else begin


def _rule(sentence: Sentence, cue: Cue) -> str:
    """Return a cue's words, as the name of a rule: ``as-a-result-of``."""
    return cue.rule or "-".join(word.lower for word in sentence.words[cue.first : cue.last + 1] if word.tag != "PUNCT")


def certainties(words: Words, model: CauseModel) -> Floats:
    """Return, for each sentence, the probability that it holds a cause and its effect."""
    sentence, row = distinct_signs(words, bits_of(model.sentence))
    count = len(words.lengths)
    total = np.bincount(sentence, weights=model.sentence[row], minlength=count)
    score = total / np.sqrt(np.bincount(sentence, minlength=count))
    return np.asarray(1 / (1 + np.exp(-(score * model.scale + model.bias))))


def distinct_signs(words: Words, bits: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the signs of all sentences, each once a sentence: the sentence's number and the row of 2 ** ``bits``."""
    seen = rows(sentence_signs(words), bits).astype(np.int64)
    owner = np.repeat(np.arange(len(words.lengths)), words.lengths)
    keys = np.unique((owner[:, None] << bits) | seen)
    return keys >> bits, keys & ((1 << bits) - 1)


def best_cuts(
    lengths: npt.NDArray[np.int64],
    word: npt.NDArray[np.generic],
    edge: npt.NDArray[np.generic],
    cues: Sequence[Cue | None],
) -> Iterator[Cut | None]:
    """Yield the best cut of each sentence. ``word``: (words, 4); ``edge``: (words + sentences, 8)."""
    ends = np.cumsum(lengths)
    for number, (length, end, cue) in enumerate(zip(lengths.tolist(), ends.tolist(), cues, strict=True)):
        start = end - length
        scores, edges = word[start:end].astype(float), edge[start + number : end + number + 1].astype(float)
        yield best_cut(scores, edges) if cue is None else _cut_at(cue, scores, edges)


def _cut_at(cue: Cue, word: Floats, edge: Floats) -> Cut | None:
    """Return the best cut that a cue allows: it stands outside of both, and says which comes first."""
    effect_first = cue.side is Side.BEHIND and not cue.fronted
    end = len(word) if cue.end is None else cue.end
    if cue.whole:
        return Cut(int(effect_first), cue.begin, cue.first, cue.last + 1, end)
    word[: cue.begin, OUTSIDE] += _CERTAIN
    word[end:, OUTSIDE] += _CERTAIN
    word[cue.first : cue.last + 1, OUTSIDE if cue.fronted else JOINT] += _CERTAIN
    return best_cut(word, edge, orders=(1,) if effect_first else (0,))


def best_cut(word: Floats, edge: Floats, orders: Sequence[int] = (0, 1)) -> Cut | None:
    """Return the cut with the highest sum of its words' and its edges' scores; None where there is no room for one.

    Exact, in one pass from left to right for each order: what the best first stretch is up to here, what joins it
    up to here, what the best second stretch is.
    """
    length = len(word)
    if length < 2:
        return None
    sums = np.vstack([np.zeros(4), np.cumsum(word, axis=0)])
    best: tuple[float, Cut] | None = None
    for order in orders:
        first, second = ORDERS[order]
        at = edge[:, order * EDGES : (order + 1) * EDGES]
        begin = sums[:, OUTSIDE] - sums[:, first] + at[:, 0]
        end = _after(begin) + sums[:, first] - sums[:, JOINT] + at[:, 1]
        begin2 = np.maximum.accumulate(end) + sums[:, JOINT] - sums[:, second] + at[:, 2]
        end2 = _after(begin2) + sums[:, second] - sums[:, OUTSIDE] + at[:, 3]
        d = int(end2.argmax())
        if best is None or end2[d] + sums[-1, OUTSIDE] > best[0]:
            c = int(begin2[:d].argmax())
            b = int(end[: c + 1].argmax())
            a = int(begin[:b].argmax())
            best = float(end2[d] + sums[-1, OUTSIDE]), Cut(order, a, b, c, d)
    return best[1] if best else None


def _after(values: Floats) -> Floats:
    """Return, for every place, the best of the places before it."""
    best = np.full_like(values, -np.inf)
    best[1:] = np.maximum.accumulate(values)[:-1]
    return best


def _cause(sentence: Sentence, cut: Cut, certainty: float, rule: str) -> Cause:
    words = sentence.words
    end = cut.end2 - (words[cut.end2 - 1].tag == "PUNCT" and cut.end2 > cut.begin2 + 1)
    bare = cut.end == cut.begin + 2 and words[cut.begin].tag == "PRON" and words[cut.begin + 1].tag == "AUX"
    one, two = _span(words, cut.begin, cut.end - bare), _span(words, cut.begin2, end)
    cause, effect = (one, two) if ORDERS[cut.order][0] == CAUSE else (two, one)
    return Cause(cause, effect, round(certainty, 2), rule)


def _span(words: Sequence[Word], first: int, end: int) -> Span:
    return Span(words[first].start, words[end - 1].end)
