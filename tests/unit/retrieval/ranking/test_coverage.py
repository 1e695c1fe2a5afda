"""What tells something of a question that nothing better tells gains by it."""

from __future__ import annotations

import time
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.answers.explanation import NO_SPREADS, explained
from support.stores.memory import Memory
from vicw_retrieval.model.candidates import Candidate
from vicw_retrieval.model.similarity import QuerySimilarity
from vicw_retrieval.refine.near_duplicates import cover, coverage
from vicw_shared import sparse
from vicw_shared.clock import EPOCH
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef


def test_nothing_gains_by_words_that_a_better_one_has() -> None:
    assert coverage([5.0, 4.0], [{1, 2}, {1, 2}], {1: 3.0, 2: 3.0}, 0.5) == [2.5, 0.0]


def test_rare_words_count_more() -> None:
    common, rare = coverage([5.0, 4.0], [{1}, {2}], {1: 1.0, 2: 4.0}, 0.5)
    assert (common, rare) == pytest.approx((0.5, 2.0))


def test_words_without_a_hit_take_no_time() -> None:
    crowd = 5000
    started = time.thread_time()
    gains = coverage([1.0] * crowd, [{1}] * crowd, dict.fromkeys(range(12), 3.0), 0.4)
    assert time.thread_time() - started < 1
    assert (gains[0] > 0, any(gains[1:])) == (True, False)


def test_among_few_texts_words_tell_little() -> None:
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
def test_where_there_is_nothing_to_gain_by_nothing_gains(
    scores: list[float], words: list[set[int]], rarity: dict[int, float], share: float
) -> None:
    assert coverage(scores, words, rarity, share) == [0.0] * len(scores)


@given(
    st.lists(st.tuples(st.floats(0, 10), st.sets(st.integers(0, 5))), min_size=1, max_size=12),
    st.dictionaries(st.integers(0, 5), st.floats(0.1, 10)),
    st.floats(0, 1),
)
def test_each_word_is_worth_something_once_and_to_whom_it_stands_first(
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


class Words:
    """As rare as a question's words are said to be; nothing else of a likeness is asked for."""

    def __init__(self, **rarity: float) -> None:
        self._rarity = {sparse.encode_query(word).indices[0]: idf for word, idf in rarity.items()}

    async def rarity(self) -> dict[int, float]:
        return self._rarity


def page(key: str, score: float, label: Label = Label.ENTITY) -> Candidate:
    return Candidate(ItemRef(uid=key, label=label, context="ctx", domain="general", created_at=EPOCH), score)


TEXTS = {"a": ["A regatta."], "b": ["The regatta, again."], "c": ["The organ."]}


@pytest.mark.parametrize(
    ("share", "limit", "order"),
    [(0.0, 2, ["a", "b", "c"]), (0.2, 2, ["a", "c", "b"]), (0.2, 3, ["a", "b", "c"])],
    ids=["off", "on", "all are shown"],
)
async def test_a_page_of_the_second_thing_comes_before_more_of_the_first(
    share: float, limit: int, order: list[str]
) -> None:
    found = [page("a", 4.0), page("b", 3.5), page("c", 3.2), page("unread", 0.1)]
    likeness = cast("QuerySimilarity", Words(regatta=3.0, organ=3.0))
    told = await cover(likeness, TEXTS, found[: 4 if limit < 3 else 3], limit, share)
    assert [one.key for one in told][:3] == order
    assert found[0].boosts == ({"coverage": pytest.approx(0.4)} if order[1] == "c" else {})


async def test_of_many_words_the_rarest_count() -> None:
    common = dict.fromkeys("one two three four five six seven eight nine ten eleven twelve".split(), 1.0)
    found = [page("a", 4.0), page("c", 3.0)]
    texts = {"a": [" ".join(common)], "c": ["The organ."]}
    await cover(cast("QuerySimilarity", Words(organ=6.0, **common)), texts, found, 1, 0.5)
    assert found[1].boosts["coverage"] == pytest.approx(0.5 * 4 * 6 / 24), "eleven others are left, at 2 on average"


async def test_a_question_s_answer_tells_what_gained(memory: Memory) -> None:
    await memory.ingest(*RACES, ORGAN)
    query = "Which organ has the chapel, and which regatta of the harbour had number 4?"
    off, on = [await explained(memory, query, NO_SPREADS | {"coverage": share}, limit=3) for share in (0.0, 0.5)]
    assert (off.gains("coverage"), set(on.gains("coverage"))) == ({}, {"race4", "organ"})


async def test_what_something_better_says_is_told_whatever_that_is(memory: Memory) -> None:
    said = {"id": "said", "speaker": "Ana", "text": "The organ of the regatta is out of tune."}
    await memory.ingest(said, *RACES, ORGAN)
    answer = await explained(memory, "organ of the regatta out of tune", NO_SPREADS | {"coverage": 0.5}, limit=4)
    assert answer.results["said"].rank == 1
    assert "organ" not in answer.gains("coverage")


def test_who_may_not_gain_leaves_nothing_to_gain_by_what_he_has() -> None:
    gains = coverage([5.0, 4.0, 3.0], [{1}, {1, 2}, {2}], {1: 3.0, 2: 3.0}, 0.1, {1, 2})
    assert gains == [0.0, 0.25, 0.0]


async def test_a_word_that_a_better_result_covers_gains_nothing(memory: Memory) -> None:
    said = [{"id": f"s{n}", "speaker": "Ana", "text": f"The regatta {n} was cold."} for n in range(4)]
    await memory.ingest(*said, {"id": "organ", "speaker": "Ben", "text": "The organ is out of tune."})
    answer = await explained(memory, "regatta and organ", {"coverage": 0.5}, limit=2)
    assert answer.gains("coverage") == {}
