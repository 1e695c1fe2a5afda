from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave
from vicw_retrieval.relevance.calibration import Calibration, Formula
from vicw_retrieval.relevance.judge import Relevance, judge, relevance_line
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis
from vicw_retrieval.temporal.time_ranker import ResolvedTime
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef, VectorHit
from vicw_shared.wire.retrieve import Answered

CALIBRATION = Calibration(
    answer=Formula(bias=-5.0, weights={"cosine": 10.0}), result=Formula(bias=1.0, weights={"place": -1.0}), nothing=0.1
)
"""An answer has .5 at a cosine of .5, and .1 at .28."""


def result(uid: str) -> Candidate:
    item = ItemRef(
        uid=uid, label=Label.EVENT, context="c", domain="general", created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    return Candidate(item, 1.0, [(uid, 1.0)])


def asked(cosine: float, query: str = "Where is the ferry?", **given: Any) -> Relevance:
    wave = Wave(given.pop("ranked", {}), {"dense": {"a": cosine, "b": cosine - 0.1}}, {"dense": 1.0})
    results = given.pop("results", [result("a"), result("b")])
    return judge(query, results, wave, given.pop("time", None), CALIBRATION, given.pop("degraded", ()), **given)


def test_three_answers() -> None:
    assert [asked(cosine).answered for cosine in (0.2, 0.4, 0.6)] == [
        Answered.NOTHING,
        Answered.UNSURE,
        Answered.LIKELY,
    ]


def test_a_result_is_no_likelier_than_the_answer_and_a_later_one_less() -> None:
    found = asked(0.6)
    assert 0 < found.results["b"] < found.results["a"] <= found.answer < 1


def test_a_floor_leaves_out_what_is_below_it_and_zero_leaves_out_nothing() -> None:
    found, results = asked(0.6), [result("a"), result("b")]
    assert found.least(results, 0.0) == results
    assert found.least(results, found.results["a"]) == results[:1]
    assert found.least(results, 1.0) == []


@pytest.mark.parametrize(
    "given",
    [
        {"degraded": ("embedding",)},
        {"query": "Wo ist die Fähre?"},
        {"query": "Wo ist mein Auto und was ist mit dem Boot?"},
        {"query": "船はどこですか"},
        {"time": ResolvedTime(TimeAnalysis(), 10, inside=frozenset("b"))},
        {"results": [], "degraded": ("bm25",)},
    ],
)
def test_nothing_is_not_said_without_proof(given: dict[str, Any]) -> None:
    assert asked(0.2).answered is Answered.NOTHING
    assert asked(0.2, **given).answered is Answered.UNSURE


def test_typographic_punctuation_is_english() -> None:
    assert asked(0.2, "What’s my sister’s shoe size – if I said so?").answered is Answered.NOTHING


def test_no_result_is_nothing() -> None:
    found = asked(0.2, results=[])
    assert (found.answered, found.answer, found.results) == (Answered.NOTHING, 0.0, {})


def test_items_of_a_time_that_alone_selects_are_evidence() -> None:
    found = asked(0.2, time=ResolvedTime(TimeAnalysis(), 10, only=True, inside=frozenset("b")))
    assert found.answered is Answered.LIKELY
    assert found.results["b"] >= 0.9 > 0.1 > found.results["a"]


def test_an_item_with_a_trigger_phrase_of_the_question_is_evidence() -> None:
    found = asked(0.2, ranked={GRAPH: [VectorHit("b", 1.0)]})
    assert found.answered is Answered.LIKELY
    assert found.results["b"] >= 0.9 > 0.1 > found.results["a"]


def test_the_text_says_so_unless_it_is_likely() -> None:
    lines = [relevance_line(answered) for answered in (Answered.LIKELY, Answered.UNSURE, Answered.NOTHING)]
    assert [line.split(" ")[0] for line in lines] == ["", "Unsure:", "Nothing"]
