"""The share of a question's words that its best passages have."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from support.stores.memory import Memory
from vicw_retrieval.model.similarity import WordSimilarity
from vicw_retrieval.ranking.fusion import Candidate, Wave
from vicw_retrieval.relevance.word_share import covered_share
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef

RARE, COMMON, UNKNOWN = 1, 2, 3
WORDS = {RARE: 3.0, COMMON: 0.1, UNKNOWN: 4.0}


class Texts(WordSimilarity):
    """Passages that have these words."""

    def __init__(self, **words: set[int]) -> None:
        self.have = words
        self.asked: list[str] = []

    async def words(self, uids: Sequence[str], terms: Sequence[int]) -> dict[str, frozenset[int]]:
        self.asked = list(uids)
        return {uid: frozenset(self.have[uid] & set(terms)) for uid in uids if self.have.get(uid)}


def wave(scores: dict[str, float], words: dict[int, float] = WORDS) -> Wave:
    return Wave({}, {"dense": scores}, {"dense": 1.0}, words)


def found(*passages: str) -> list[Candidate]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    items = [ItemRef(uid=f"i{uid}", label=Label.EVENT, context="c", domain="d", created_at=at) for uid in passages]
    return [Candidate(item, 1.0, [(uid, 1.0)]) for item, uid in zip(items, passages, strict=True)]


async def test_rare_words_count_and_function_words_hardly() -> None:
    texts = Texts(a={COMMON}, b={RARE})
    strengths = {"a": 2.0, "b": 1.0}
    whole = 3.0**2 + 0.1**2 + 4.0**2
    assert await covered_share(wave(strengths), found("a"), texts) == pytest.approx(0.1**2 / whole)
    assert await covered_share(wave(strengths), found("a", "b"), texts) == pytest.approx((3.0**2 + 0.1**2) / whole)


async def test_only_the_best_passages_that_the_asker_may_see_are_read() -> None:
    names = [f"p{n:02}" for n in range(20)]
    texts = Texts(**{name: {RARE} for name in names})
    strengths = {name: float(-n) for n, name in enumerate(names)}
    await covered_share(wave(strengths), found(*names[1:]), texts)
    assert texts.asked == names[1:11]


async def test_without_words_or_passages_nothing_is_covered() -> None:
    assert await covered_share(wave({"a": 1.0}, {}), found("a"), Texts(a={RARE})) == 0.0
    assert await covered_share(wave({}), [], Texts()) == 0.0


async def test_an_attribute_that_nobody_told_is_not_covered(memory: Memory) -> None:
    told = ("Lena plays the cello.", "Lena lives in Graz.", "Lena sold her canoe in spring.", "Tom bakes bread.")
    await memory.ingest(*({"id": str(n), "text": text} for n, text in enumerate(told)))
    asked = [
        await memory.retrieve(query, explain=True) for query in ("Who plays the cello?", "What is Lena's shoe size?")
    ]
    known, unknown = (one.explain.relevance.answer["covered"] for one in asked if one.explain and one.explain.relevance)
    assert known == pytest.approx(1.0)
    assert unknown < 0.2
