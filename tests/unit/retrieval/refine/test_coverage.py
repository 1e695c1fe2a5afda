"""What tells something of a question that nothing better tells gains by it."""

from __future__ import annotations

import time
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.answers.explanation import NO_SPREADS, explained
from support.stores.memory import Memory
from vicw_core.index import sparse
from vicw_retrieval.model.similarity import QuerySimilarity
from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.refine.near_duplicates import cover, coverage
from vicw_shared.clock import EPOCH
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef


def test_coverage_gives_nothing_for_words_of_a_better_result() -> None:
    assert coverage([5.0, 4.0], [{1, 2}, {1, 2}], {1: 3.0, 2: 3.0}, 0.5) == [2.5, 0.0]


def test_coverage_weighs_rare_words_more() -> None:
    common, rare = coverage([5.0, 4.0], [{1}, {2}], {1: 1.0, 2: 4.0}, 0.5)
    assert (common, rare) == pytest.approx((0.5, 2.0))


def test_coverage_of_thousands_of_results_is_computed_within_a_second() -> None:
    crowd = 5000
    started = time.thread_time()
    gains = coverage([1.0] * crowd, [{1}] * crowd, dict.fromkeys(range(12), 3.0), 0.4)
    assert time.thread_time() - started < 1
    assert (gains[0] > 0, any(gains[1:])) == (True, False)


def test_coverage_gives_little_for_words_of_low_rarity() -> None:
    assert coverage([5.0, 4.0], [{1}, {2}], {1: 0.5, 2: 0.5}, 0.4) == [0.25, 0.25]


@pytest.mark.parametrize(
    ("scores", "words", "rarity", "share"),
    [
        ([], [], {1: 1.0}, 0.5),
        ([5.0, 4.0], [{1}, {2}], {}, 0.5),
        ([5.0, 4.0], [set(), set()], {1: 1.0}, 0.5),
        ([5.0, 4.0], [{1}, {2}], {1: 3.0, 2: 3.0}, 0.0),
        ([0.0, 0.0], [{1}, {2}], {1: 3.0, 2: 3.0}, 0.5),
    ],
)
def test_coverage_is_zero_without_words_rarity_share_or_scores(
    scores: list[float], words: list[set[int]], rarity: dict[int, float], share: float
) -> None:
    assert coverage(scores, words, rarity, share) == [0.0] * len(scores)


@given(
    st.lists(st.tuples(st.floats(0, 10), st.sets(st.integers(0, 5))), min_size=1, max_size=12),
    st.dictionaries(st.integers(0, 5), st.floats(0.1, 10)),
    st.floats(0, 1),
)
def test_coverage_is_bounded_and_rewards_only_words_not_covered_before(
    found: list[tuple[float, set[int]]], rarity: dict[int, float], share: float
) -> None:
    scores, words = [score for score, _ in found], [has for _, has in found]
    gains = coverage(scores, words, rarity, share)
    assert all(gain >= 0 for gain in gains)
    assert sum(gains) <= share * max(scores) * (1 + 1e-9) + 1e-300  # subnormal numbers are rounded
    told: set[int] = set()
    for one in sorted(range(len(found)), key=lambda one: -(scores[one] + gains[one])):
        if gains[one] > 0:
            assert words[one] & rarity.keys() - told, "it adds to all that stand before it"
        told |= words[one]


RACES = [{"id": f"race{n}", "name": f"Race {n}", "text": f"A regatta in the harbour, number {n}."} for n in range(8)]
ORGAN = {"id": "organ", "name": "Instrument", "text": "The chapel has its organ."}


class FixedRarity:
    """As rare as a question's words are said to be; nothing else of a likeness is asked for."""

    def __init__(self, **rarity: float) -> None:
        self.rarity = {sparse.encode_query(word).indices[0]: idf for word, idf in rarity.items()}


def page(key: str, score: float, label: Label = Label.ENTITY) -> Candidate:
    return Candidate(ItemRef(uid=key, label=label, context="ctx", domain="general", created_at=EPOCH), score)


TEXTS = {"a": ["A regatta."], "b": ["The regatta, again."], "c": ["The organ."]}


@pytest.mark.parametrize(
    ("share", "limit", "order"),
    [(0.0, 2, ["a", "b", "c"]), (0.2, 2, ["a", "c", "b"]), (0.2, 3, ["a", "b", "c"])],
    ids=["off", "on", "all are shown"],
)
def test_coverage_ranks_a_page_with_new_words_before_a_repeating_one(
    share: float, limit: int, order: list[str]
) -> None:
    found = [page("a", 4.0), page("b", 3.5), page("c", 3.2), page("unread", 0.1)]
    likeness = cast("QuerySimilarity", FixedRarity(regatta=3.0, organ=3.0))
    told = cover(likeness, TEXTS, found[: 4 if limit < 3 else 3], limit, share)
    assert [one.key for one in told][:3] == order
    assert told[0].boosts == ({"coverage": pytest.approx(0.4)} if order[1] == "c" else {})


def test_coverage_counts_only_the_rarest_of_many_words() -> None:
    common = dict.fromkeys("one two three four five six seven eight nine ten eleven twelve".split(), 1.0)
    found = [page("a", 4.0), page("c", 3.0)]
    texts = {"a": [" ".join(common)], "c": ["The organ."]}
    told = cover(cast("QuerySimilarity", FixedRarity(organ=6.0, **common)), texts, found, 1, 0.5)
    boosts = {one.key: one.boosts for one in told}
    assert boosts["c"]["coverage"] == pytest.approx(0.5 * 4 * 6 / 24), "eleven others are left, at 2 on average"


async def test_explain_reports_which_results_gained_by_coverage(memory: Memory) -> None:
    await memory.ingest(*RACES, ORGAN)
    query = "Which organ has the chapel, and which regatta of the harbour had number 4?"
    off, on = [await explained(memory, query, NO_SPREADS | {"coverage": share}, limit=3) for share in (0.0, 0.5)]
    assert (off.gains("coverage"), set(on.gains("coverage"))) == ({}, {"race4", "organ"})


async def test_words_covered_by_a_better_turn_give_a_page_no_gain(memory: Memory) -> None:
    said = {"id": "said", "speaker": "Ana", "text": "The organ of the regatta is out of tune."}
    await memory.ingest(said, *RACES, ORGAN)
    answer = await explained(memory, "organ of the regatta out of tune", NO_SPREADS | {"coverage": 0.5}, limit=4)
    assert answer.results["said"].rank == 1
    assert "organ" not in answer.gains("coverage")


def test_words_of_an_ineligible_better_result_give_no_coverage_gain() -> None:
    gains = coverage([5.0, 4.0, 3.0], [{1}, {1, 2}, {2}], {1: 3.0, 2: 3.0}, 0.1, {1, 2})
    assert gains == [0.0, 0.25, 0.0]


async def test_turns_gain_nothing_by_coverage(memory: Memory) -> None:
    said = [{"id": f"s{n}", "speaker": "Ana", "text": f"The regatta {n} was cold."} for n in range(4)]
    await memory.ingest(*said, {"id": "organ", "speaker": "Ben", "text": "The organ is out of tune."})
    answer = await explained(memory, "regatta and organ", {"coverage": 0.5}, limit=2)
    assert answer.gains("coverage") == {}
