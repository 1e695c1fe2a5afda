from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from vicw_core.index import sparse
from vicw_core.index.term_weights import weighted
from vicw_retrieval.ranking.fusion import Candidate, Wave
from vicw_retrieval.relevance.signals import answer_signals, result_signals
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef, TermCounts, TermFrequencies


def wave(
    ceiling: float, dense: dict[str, float], bm25: dict[str, float] | None = None, **more: dict[str, float]
) -> Wave:
    scores = {"dense": dense, "bm25": bm25 or {}, **more}
    return Wave({}, scores, dict.fromkeys(scores, 1.0), {1: ceiling / (sparse.K1 + 1)})


def result(*passages: str) -> Candidate:
    item = ItemRef(
        uid=passages[0] if passages else "far",
        label=Label.EVENT,
        context="c",
        domain="general",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return Candidate(item, 1.0, [(passage, 1.0) for passage in passages])


def test_a_small_store_tells_how_far_the_best_stands_out() -> None:
    signals = answer_signals(wave(6.0, {"a": 0.8, "b": 0.2, "c": 0.2}, {"a": 3.0}), 0.25)
    assert signals["cosine"] == 0.8
    assert signals["lexical"] == pytest.approx(0.5)
    assert signals["small"] == 1.0
    assert signals["distance"] == pytest.approx(0.8 - 1.2 / 3)
    assert signals["covered"] == 0.25


def test_in_a_large_store_the_distance_fades() -> None:
    scores = {str(number): 0.5 for number in range(99)} | {"best": 0.7}
    signals = answer_signals(wave(1.0, scores), 0.0)
    assert signals["small"] == pytest.approx(10 / 100)
    assert signals["distance"] == pytest.approx((0.7 - (9 * 0.5 + 0.7) / 10) / 10)


def test_the_lead_is_that_of_one_passage_over_the_ten_best() -> None:
    dense = {str(number): 0.9 - number / 100 for number in range(30)}
    agreed = replace(wave(1.0, dense, {"0": 9.0}), weights={"dense": 0.5, "bm25": 0.5})
    divided = replace(wave(1.0, dense, {"5": 9.0}), weights={"dense": 0.5, "bm25": 0.5})
    best = sorted(agreed.strengths.values(), reverse=True)[:10]
    assert answer_signals(agreed, 0.0)["lead"] == pytest.approx(best[0] - sum(best) / 10)
    assert 0 < answer_signals(divided, 0.0)["lead"] < answer_signals(agreed, 0.0)["lead"]


def test_words_stand_for_themselves_where_nothing_has_a_vector() -> None:
    assert answer_signals(wave(8.0, {}, fulltext={"a": 2.0, "b": 1.0}), 0.0)["lexical"] == pytest.approx(0.25)
    nothing = answer_signals(wave(0.0, {}), 0.0)
    assert nothing == {"cosine": 0.0, "lexical": 0.0, "small": 1.0, "distance": 0.0, "covered": 0.0, "lead": 0.0}


def test_a_result_is_measured_by_its_best_passage() -> None:
    found = result_signals(
        [result("a"), result("b", "c"), result()], wave(4.0, {"a": 0.9, "b": 0.3, "c": 0.6}, {"c": 2.0})
    )
    assert found[0] == pytest.approx({"place": 0.0, "behind": 0.0, "words": 0.0})
    assert found[1] == pytest.approx({"place": math.log(2), "behind": 0.3, "words": 0.5})
    assert found[2]["behind"] == pytest.approx(0.6), "no channel has scored it: as far behind as the last"


def test_no_text_scores_more_than_the_ceiling_of_its_question() -> None:
    question = sparse.encode_query("where is the blue ferry moored")
    counts = TermCounts(10, {question.indices[0]: 9})
    weights = weighted(question, TermFrequencies(counts, counts))
    ceiling = sparse.ceiling(sparse.word_weights(weights, question))
    by_term = dict(zip(weights.indices, weights.values, strict=True))
    for text in (
        "where is the blue ferry moored",
        "the blue ferry is moored where it is moored, ferry ferry blue " * 9,
    ):
        words = sparse.encode_document(text)
        score = sum(by_term.get(term, 0) * value for term, value in zip(words.indices, words.values, strict=True))
        assert 0.3 * ceiling < score < ceiling


def test_forms_in_other_languages_are_not_part_of_the_ceiling() -> None:
    question = sparse.encode_query("ferry prices")
    assert min(question.values) == sparse.FORM_WEIGHT, "two words do not show their language"
    assert sparse.ceiling(sparse.word_weights(question, question)) == pytest.approx(2 * (sparse.K1 + 1))
