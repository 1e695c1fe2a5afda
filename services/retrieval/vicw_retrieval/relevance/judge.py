"""Relevance of an answer and of its results: how likely they are evidence for the question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vicw_core.index.words.languages import DEFAULT, detect
from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave
from vicw_retrieval.relevance.calibration import Calibration
from vicw_retrieval.relevance.signals import answer_signals, result_signals
from vicw_retrieval.temporal.time_ranker import ResolvedTime
from vicw_shared.wire.answer_format import NOTHING_OF, UNSURE_LINE
from vicw_shared.wire.retrieve import Answered

_STATED = 0.9
"""Relevance of what is evidence by another statement than similarity, at least; not fitted, the sets have none."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """How likely an answer's results, and each of them by key, are evidence, in [0, 1], with the signals for it."""

    answer: float = 0.0
    answered: Answered = Answered.NOTHING
    results: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    result_signals: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def least(self, results: Sequence[Candidate], least: float) -> list[Candidate]:
        """Return the results with this relevance or more, in order."""
        return [one for one in results if self.results[one.key] >= least]

    def sure_of(self, keys: Collection[str]) -> Relevance:
        """Return the same with these results as evidence: a rule chose them, not their likeness to the question."""
        sure = {key: 1.0 if key in keys else relevance for key, relevance in self.results.items()}
        return replace(self, answer=1.0, answered=Answered.LIKELY, results=sure)


def judge(
    query: str,
    results: Sequence[Candidate],
    wave: Wave,
    time: ResolvedTime | None,
    calibration: Calibration,
    degraded: Collection[str],
    covered: float = 0.0,
) -> Relevance:
    """Return the relevance of ``results``, in order. ``covered`` is the share of the question's words that they have.

    The answer's is P(the results hold evidence), a result's is that times P(it is evidence | they hold some), both by
    logistic regression on ``signals``. The constants are fitted on sets of questions, each asked once with its evidence
    in the store and once without, and questions of other sets, a half of the weight on either side; reported figures
    are of sets left out of the fit (docs/retrieval.md, "Relevance"). So .5 means: of such questions, half are answered.

    Two kinds of result are evidence whatever their words: items of a time that alone selects, and items whose trigger
    phrase the question has. These have .9 at least. Nothing is ever said of an answer with such a result or with an
    item of a named time, of a question in another language than the constants are of, or while anything is
    ``degraded``: words alone do not show that nothing is known. An answer without results is nothing, with 0.
    """
    if not results:
        return Relevance(answered=Answered.UNSURE if degraded else Answered.NOTHING)
    signals, of_results = answer_signals(wave, covered), result_signals(results, wave)
    answer = calibration.answer.probability(signals)
    relevance = {
        one.key: answer * calibration.result.probability(found) for one, found in zip(results, of_results, strict=True)
    }
    inside = time.inside if time is not None else frozenset()
    seeded = {hit.id for hit in wave.ranked.get(GRAPH, ())}
    stated = {one.key for one in results if any(passage in seeded for passage, _ in one.passages)}
    stated |= {one.key for one in results if one.key in inside} if time is not None and time.only else set()
    relevance |= {key: max(relevance[key], _STATED) for key in stated}
    answer = max(answer, _STATED) if stated else answer
    answered = Answered.LIKELY if answer >= calibration.likely else Answered.UNSURE
    certain = not (degraded or inside or (calibration.english and not _is_english(query)))
    if answer < calibration.nothing and certain:
        answered = Answered.NOTHING
    by_key = {one.key: found for one, found in zip(results, of_results, strict=True)}
    return Relevance(answer, answered, relevance, signals, by_key)


def _is_english(query: str) -> bool:
    """Return whether a question may be English: in letters without accents, its frequent words of no other language."""
    return all(char.isascii() for char in query if char.isalpha()) and detect(query).language == DEFAULT


_LINES = {
    Answered.UNSURE: UNSURE_LINE,
    Answered.NOTHING: f"{NOTHING_OF}this. What follows is only the nearest there is.",
}


def relevance_line(answered: Answered) -> str:
    """Return the line before results that are not likely to be evidence; "" if they are."""
    return _LINES.get(answered, "")
