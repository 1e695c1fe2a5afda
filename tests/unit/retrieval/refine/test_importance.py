"""Of what fits a question alike, the more important comes first and keeps a place."""

from __future__ import annotations

import pytest

from support.answers.explanation import Explained
from support.stores.memory import Memory
from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.refine.importance import prefer_important
from vicw_shared.clock import now
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef


def candidate(uid: str, score: float, importance: float | None = None) -> Candidate:
    item = ItemRef(uid=uid, label=Label.EVENT, context="c", domain="general", created_at=now(), importance=importance)
    return Candidate(item, score)


def order(candidates: list[Candidate], limit: int = 10, weight: float = 0.15) -> list[str]:
    return [one.key for one in prefer_important(candidates, limit, weight)]


@pytest.mark.parametrize(
    ("importance", "expected"), [(0.9, ["b", "a"]), (0.5, ["a", "b"]), (0.1, ["a", "b"]), (None, ["a", "b"])]
)
def test_importance_decides_a_tie(importance: float | None, expected: list[str]) -> None:
    assert order([candidate("a", 2.0), candidate("b", 1.95, importance)]) == expected


def test_what_matters_little_comes_after_its_like() -> None:
    assert order([candidate("a", 2.0, 0.2), candidate("b", 1.95)]) == ["b", "a"]


def test_importance_does_not_decide_a_clear_difference() -> None:
    assert order([candidate("a", 2.0), candidate("b", 1.2, 1.0)]) == ["a", "b"]


def test_without_importance_or_weight_nothing_changes() -> None:
    plain = [candidate("a", 2.0), candidate("b", 1.9)]
    assert prefer_important(plain, 10, 0.15) == plain
    weighty = [candidate("a", 2.0), candidate("b", 1.9, 1.0)]
    assert prefer_important(weighty, 10, 0.0) == weighty


def test_an_important_one_takes_a_place_from_lesser_ones_if_it_fits_half_as_well() -> None:
    crowd = [candidate(f"c{n}", 2.0 - n / 100) for n in range(12)]
    fitting, unfitting = candidate("x", 1.1, 0.9), candidate("y", 0.9, 1.0)
    assert order([*crowd, fitting, unfitting], limit=4)[:4] == ["c0", "c1", "c2", "x"]
    assert order([*crowd, fitting], limit=1)[:1] == ["c0"], "half of the places at most"
    many = [candidate(f"x{n}", 1.1 - n / 100, 0.9) for n in range(8)]
    assert sum(one.startswith("x") for one in order([*crowd, *many], limit=6)[:6]) == 3
    equal = [candidate(f"c{n}", 2.0 - n / 100, 0.9) for n in range(12)]
    assert "x" not in order([*equal, fitting], limit=4)[:4]


async def test_an_allergy_is_not_crowded_out_by_fifteen_doses(memory: Memory) -> None:
    doses = [
        {
            "id": f"d{n}",
            "speaker": "Ida",
            "text": f"I took ibuprofen number {n} after {place}.",
            "importance": "temporary",
        }
        for n, place in enumerate("work lunch tennis school breakfast skiing rowing dinner golf choir".split() * 2)
    ]
    allergy = {"id": "allergy", "speaker": "Ida", "text": "Ibuprofen gives me asthma.", "importance": "critical"}
    await memory.ingest(*doses[:15], allergy)
    answer = await memory.retrieve("ibuprofen", limit=5, explain=True)
    assert "allergy" in [result.id for result in answer.results]
    assert "allergy" in Explained(answer).gains("importance")
