"""Weights of a question's terms: of a context, of its tenant, and smoothly between."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.index.term_weights import PRIOR, idf, rarity, weighted
from vicw_shared.ports import SparseVector, TermCounts, TermFrequencies

RARE, COMMON, ELSEWHERE = 1, 2, 3


def frequencies(passages: int, counts: dict[int, int], *, of: int, tenant: dict[int, int]) -> TermFrequencies:
    return TermFrequencies(TermCounts(passages, counts), TermCounts(of, tenant))


def weights(found: TermFrequencies) -> dict[int, float]:
    query = SparseVector((RARE, COMMON, ELSEWHERE), (1.0, 0.5, 2.0))
    made = weighted(query, found)
    assert made.indices == query.indices
    return {term: w / own for term, w, own in zip(made.indices, made.values, query.values, strict=True)}


def test_a_tenant_alone_and_a_context_without_others_have_their_own_weights() -> None:
    alone = TermCounts(10, {RARE: 1, COMMON: 9})
    expected = {RARE: math.log(1 + 9.5 / 1.5), COMMON: math.log(1 + 1.5 / 9.5), ELSEWHERE: math.log(1 + 10.5 / 0.5)}
    assert weights(TermFrequencies(alone, alone)) == pytest.approx(expected)


def test_an_empty_context_has_the_weights_of_its_tenant() -> None:
    found = frequencies(0, {}, of=1000, tenant={RARE: 20, COMMON: 900})
    expected = {RARE: idf(PRIOR, PRIOR * 0.02), COMMON: idf(PRIOR, PRIOR * 0.9), ELSEWHERE: idf(PRIOR, 0)}
    assert weights(found) == pytest.approx(expected)


def test_a_large_context_is_hardly_weighed_by_others() -> None:
    own = {RARE: 30, COMMON: 9000}
    alone = frequencies(10_000, own, of=10_000, tenant=own)
    beside = frequencies(10_000, own, of=1_000_000, tenant={RARE: 800_000, COMMON: 10_000})
    for term in (RARE, COMMON):
        assert weights(beside)[term] == pytest.approx(weights(alone)[term], rel=0.2)
        assert abs(weights(beside)[term] - idf(1_000_000, beside.tenant.counts[term])) > 1


def test_one_more_passage_of_others_makes_no_jump() -> None:
    own = {RARE: 1, COMMON: 4}
    without = frequencies(5, own, of=5, tenant=own)
    beside_one = frequencies(5, own, of=6, tenant={RARE: 2, COMMON: 4})
    assert weights(beside_one)[RARE] == pytest.approx(idf(6, 2))
    assert weights(beside_one)[COMMON] == pytest.approx(idf(6, 4))
    assert weights(without)[RARE] == pytest.approx(idf(5, 1))


def test_without_any_statistics_all_terms_weigh_the_same() -> None:
    assert set(weights(TermFrequencies()).values()) == {math.log(2)}


def test_only_terms_that_occur_where_is_searched_have_a_rarity() -> None:
    found = frequencies(10, {RARE: 1, COMMON: 10}, of=100, tenant={RARE: 1, COMMON: 60, ELSEWHERE: 39})
    known = rarity([RARE, COMMON, ELSEWHERE], found)
    assert known == {term: weights(found)[term] for term in (RARE, COMMON)}
    assert rarity([COMMON], frequencies(10, {COMMON: 10}, of=10, tenant={COMMON: 10}), most=0.5) == {
        COMMON: pytest.approx(math.log(2))
    }


@given(st.data())
def test_weights_are_positive_and_finite(data: st.DataObject) -> None:
    passages = data.draw(st.integers(0, 10**6))
    others = data.draw(st.integers(0, 10**6))
    having = data.draw(st.integers(0, passages))
    elsewhere = data.draw(st.integers(0, others))
    found = frequencies(passages, {RARE: having}, of=passages + others, tenant={RARE: having + elsewhere})
    assert 0 < weights(found)[RARE] < 20
