from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_bench.metrics import (
    Answered,
    by_category,
    foreign_slots,
    narrowings,
    percentile,
    recall_at,
    reciprocal_rank,
    score,
)


def answered(found: str, relevant: str, *, category: str = "", ms: float = 1.0) -> Answered:
    return Answered(category, tuple(found), frozenset(relevant), ms)


def test_recall_counts_the_evidence_among_the_first_k() -> None:
    assert recall_at(5, "abcdefgh", {"a", "f", "z"}) == 1 / 3
    assert recall_at(10, "abcdefgh", {"a", "f", "z"}) == 2 / 3
    assert recall_at(10, "", {"a"}) == 0


def test_reciprocal_rank_is_that_of_the_first_evidence() -> None:
    assert reciprocal_rank("xyab", {"a", "b"}) == 1 / 3
    assert reciprocal_rank("xy", {"a"}) == 0


@pytest.mark.parametrize(("share", "expected"), [(0.5, 5), (0.95, 10), (0.9, 9), (0.0, 1), (1.0, 10)])
def test_percentile_is_the_nearest_rank(share: float, expected: float) -> None:
    assert percentile([float(n) for n in (3, 1, 2, 10, 9, 8, 7, 6, 5, 4)], share) == expected


def test_scores_are_means_over_the_questions() -> None:
    scores = score(
        [
            answered("axxxxxxb", "ab", ms=10),  # half in 5, all in 10
            answered("xc", "c", ms=30),
            answered("xxxxxxxxxxd", "d", ms=20),  # only at rank 11
        ]
    )
    assert scores.questions == 3
    assert scores.recall_at_5 == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert scores.recall_at_10 == pytest.approx((1 + 1 + 0) / 3)
    assert scores.all_at_5 == pytest.approx((0 + 1 + 0) / 3)
    assert scores.all_at_10 == pytest.approx((1 + 1 + 0) / 3)
    assert scores.mrr == pytest.approx((1 / 1 + 1 / 2 + 1 / 11) / 3)
    assert (scores.p50_ms, scores.p95_ms) == (20, 30)


def test_scores_without_questions_are_nan() -> None:
    assert score([]).questions == 0
    assert math.isnan(score([]).recall_at_10)
    assert math.isnan(score([]).p50_ms)


def test_categories_are_scored_apart() -> None:
    scores = by_category([answered("a", "a", category="plain"), answered("x", "a", category="hard")])
    assert list(scores) == ["hard", "plain"]
    assert (scores["hard"].recall_at_5, scores["plain"].recall_at_5) == (0, 1)


def test_foreign_slots_compare_canonical_names_of_the_first_k() -> None:
    prose = Answered("", ("a", "b", "c"), frozenset("a"), 1.0, "prose", ("creative", "coding", "code"))
    code = Answered("", ("d",), frozenset("d"), 1.0, "code", ("Coding",))
    unknown = Answered("", ("e",), frozenset("e"), 1.0, None, ("coding",))
    assert foreign_slots([prose, code, unknown]) == (2 + 0, 3 + 1)
    assert foreign_slots([prose, code], 1) == (0, 1 + 1)
    assert foreign_slots([replace(prose, apart=True), code]) == (0, 3 + 1), "what is kept apart is not mixed in"


@given(st.lists(st.sampled_from("abcdef"), max_size=12, unique=True), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_recall_never_falls_with_k(found: list[str], relevant: set[str]) -> None:
    values = [recall_at(k, found, relevant) for k in range(13)]
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)


def test_narrowing_counts_only_where_the_question_has_a_domain() -> None:
    def to(domain: str | None, narrowed: str | None) -> Answered:
        return Answered("", (), frozenset("a"), 1.0, domain, (), narrowed)

    answers = [to("code", "coding"), to("code", "creative"), to("code", None), to(None, "coding")]
    assert narrowings(answers) == (2, 1)


def test_the_deviation_is_that_of_contexts_not_of_questions() -> None:
    def answer(context: str | None, found: str) -> Answered:
        return Answered("", (found,), frozenset("a"), 1.0, context=context)

    half = [answer("x", "a"), answer("x", "b"), answer("y", "a")]  # .5 and 1
    assert score(half).deviation_at_10 == pytest.approx(0.125**0.5)
    assert math.isnan(score([answer("x", "a"), answer("x", "b")]).deviation_at_10)
    assert math.isnan(score([]).deviation_at_10)
