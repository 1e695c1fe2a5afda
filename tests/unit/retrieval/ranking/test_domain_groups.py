"""Results of several domains by themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_retrieval.ranking.domain_groups import choose_apart, in_groups, places
from vicw_retrieval.ranking.fusion import Candidate, Wave
from vicw_shared.clock import now
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef


def candidate(uid: str, domain: str, score: float) -> Candidate:
    item = ItemRef(uid=uid, label=Label.EVENT, context="c", domain=domain, created_at=now())
    return Candidate(item, score)


MIXED = [candidate(f"{domain}{n}", domain, 3 - n / 10) for n in range(8) for domain in ("code", "tale")]
NOTHING = Wave({}, {}, {})


def keys(candidates: list[Candidate]) -> list[str]:
    return [one.key for one in candidates]


def test_each_domain_stands_by_itself_the_best_first() -> None:
    found = keys(choose_apart(MIXED, NOTHING, {"tale": 0.6, "code": 0.4}, 5))
    assert found == ["tale0", "tale1", "tale2", "code0", "code1"]


def test_the_lesser_domain_has_a_place_unless_there_is_only_one() -> None:
    assert keys(choose_apart(MIXED, NOTHING, {"tale": 0.97, "code": 0.03}, 4)) == ["tale0", "tale1", "tale2", "code0"]
    assert keys(choose_apart(MIXED, NOTHING, {"tale": 0.6, "code": 0.4}, 1)) == ["tale0"]


def test_what_a_domain_cannot_fill_goes_to_the_other() -> None:
    few = [one for one in MIXED if one.item.domain == "code"] + [candidate("t", "tale", 9.0)]
    assert keys(choose_apart(few, NOTHING, {"tale": 0.6, "code": 0.4}, 4)) == ["t", "code0", "code1", "code2"]


def test_groups_keep_the_order_inside_and_put_others_last() -> None:
    other = candidate("x", "other", 9.0)
    grouped = in_groups([other, *MIXED[:4]], {"tale": 0.6, "code": 0.4})
    assert keys(grouped) == ["tale0", "tale1", "code0", "code1", "x"]
    assert in_groups(MIXED, {}) == MIXED


@given(
    shares=st.dictionaries(st.sampled_from("abcd"), st.floats(0.01, 1), min_size=1),
    counts=st.dictionaries(st.sampled_from("abcd"), st.integers(0, 20)),
    limit=st.integers(1, 30),
)
def test_places_fill_the_limit_as_far_as_there_are_candidates(
    shares: dict[str, float], counts: dict[str, int], limit: int
) -> None:
    known = {name: counts.get(name, 0) for name in shares}
    given_places = places(shares, known, limit)
    assert sum(given_places.values()) == min(limit, sum(known.values())) or len(given_places) == limit
    assert all(1 <= count <= known[name] for name, count in given_places.items())


@pytest.mark.parametrize("limit", [2, 10])
def test_equal_shares_get_equal_places(limit: int) -> None:
    assert places({"a": 0.5, "b": 0.5}, {"a": 99, "b": 99}, limit) == {"a": limit // 2, "b": limit // 2}
