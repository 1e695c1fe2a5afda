from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from vicw_bench.relevance.ask import Judged, Kind
from vicw_bench.relevance.fit import auroc, fit, lost
from vicw_bench.relevance.run import by_set, held_out, write_fitted
from vicw_bench.relevance.sides import small_contexts, without_evidence
from vicw_bench.report import relevance_table
from vicw_bench.sets import FidelitySet, Question, Remembered
from vicw_retrieval.relevance.calibration import load_calibrations
from vicw_shared.ports import ModelIdentity
from vicw_shared.wire.ingest import Item
from vicw_shared.wire.retrieve import Answered


def of(items: int, *evidence: Sequence[int]) -> FidelitySet:
    stored = tuple(Remembered("c", None, Item(id=str(number), text=f"text {number}")) for number in range(items))
    questions = tuple(
        Question(id=f"q{number}", context="c", query="?", relevant=frozenset(map(str, ids)))
        for number, ids in enumerate(evidence)
    )
    return FidelitySet("set", stored, questions, "digest")


def ids(data: FidelitySet) -> set[str | None]:
    return {entry.item.id for entry in data.items}


def test_each_half_lacks_all_evidence_of_its_own_questions_alone() -> None:
    data = of(12, [0], [1, 2], [2, 3], [4], [5], [6])
    first, second = without_evidence(data)
    assert {one.id for one in first.questions} | {one.id for one in second.questions} == {f"q{n}" for n in range(6)}
    assert len(first.questions) == len(second.questions) == 3
    for half, other in ((first, second), (second, first)):
        own = {one for question in half.questions for one in question.relevant}
        kept = {one for question in other.questions for one in question.relevant}
        assert not own & ids(half)
        assert kept <= ids(half)
        assert {str(number) for number in range(7, 12)} <= ids(half)
    together = [half for half in (first, second) if "q1" in {one.id for one in half.questions}]
    assert "q2" in {one.id for one in together[0].questions}, "they share evidence"
    assert first.digest != second.digest != data.digest


def test_small_contexts_have_the_evidence_of_their_question_and_ten_items() -> None:
    data = small_contexts(of(40, [0, 39], [7], list(range(30))))
    assert [one.context for one in data.questions] == ["q0", "q1"], "the third has more evidence than fits"
    for question in data.questions:
        items = [entry.item.id for entry in data.items if entry.context == question.context]
        assert len(items) == len(set(items)) == 10
        assert question.relevant <= set(items)


def test_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    assert auroc([0.9, 0.5, 0.4], [0.5, 0.1]) == pytest.approx((2 + 1.5 + 1) / 6)
    assert np.isnan(auroc([], [0.1]))


def answers(name: str, shift: float = 0.0) -> list[Judged]:
    """Return answers whose odds of evidence are e to the 8 × cosine − 4, by a fixed draw."""
    draw = np.random.default_rng(len(name))
    judged = []
    for cosine in draw.uniform(0, 1, 4000):
        own = draw.uniform() < 1 / (1 + np.exp(4 - 8 * cosine))
        signals = {
            "cosine": cosine,
            "lexical": cosine / 2,
            "small": 0.1,
            "distance": shift,
            "covered": 0.5,
            "lead": 0.0,
        }
        results = [
            ({"place": float(np.log(rank)), "behind": 0.1 * rank, "words": 0.3}, rank == 1) for rank in (1, 2, 3)
        ]
        kind = Kind.OWN if own else (Kind.FOREIGN, Kind.LEFT_OUT)[int(draw.uniform() < 0.5)]
        judged.append(Judged(name, kind, 0.6, Answered.LIKELY, signals, results, float(own)))
    return judged


def test_the_fit_finds_the_odds_from_which_the_answers_were_drawn() -> None:
    judged = answers("drawn")
    found = fit(judged, ("cosine",), ("place",))
    assert found.answer.weights["cosine"] == pytest.approx(8, abs=0.6)
    assert found.answer.probability({"cosine": 0.5}) == pytest.approx(0.5, abs=0.03)
    assert found.result.probability({"place": 0.0}) > 0.9 > 0.1 > found.result.probability({"place": np.log(3)})
    figures = [found.answer.probability(one.signals) for one in judged]
    assert 0 < lost(judged, figures, found.nothing / 0.5) <= 0.001
    assert lost(judged, figures, found.nothing) <= lost(judged, figures, found.nothing / 0.5)


def test_no_set_is_judged_by_constants_of_its_own() -> None:
    sets = [*answers("first"), *answers("first-small"), *answers("second")]
    scores = held_out(sets)
    assert scores.keys() == {"first", "first-small", "second"}
    swapped = [one if one.data != "second" else _reversed(one) for one in sets]
    assert held_out(swapped)["second"].foreign < 0.5 < scores["second"].foreign
    assert held_out(answers("alone")) == {}
    assert relevance_table({"installed": by_set(sets), "of other sets": scores}).row_count == 8


def _reversed(one: Judged) -> Judged:
    signals = {name: 1 - value for name, value in one.signals.items()}
    return Judged(one.data, one.kind, one.relevance, one.answered, signals, one.results, one.found)


def test_fitted_constants_are_used_for_their_model(tmp_path: Path) -> None:
    file, model = tmp_path / "constants.json", ModelIdentity("mine", 8, "d", 1)
    write_fitted(file, answers("set"), model)
    other = ModelIdentity("another", 9, "d", 1)
    write_fitted(file, answers("other set"), other)
    write_fitted(file, answers("other set"), other)
    assert [one["names"] for one in json.loads(file.read_text())["models"]] == [["another"], ["mine"]]
    loaded = load_calibrations(file)
    assert loaded.of(model) != loaded.of(other)
    assert loaded.of(model) is not loaded.words
