"""Questions about who asks: the asker's own turns come first."""

from __future__ import annotations

from typing import Any

import pytest

from support.answers.explanation import Explained
from support.stores.memory import Memory
from vicw_retrieval.refine.asker_boost import is_about_asker

TURNS = (
    {"id": "jo", "speaker": "Jo", "user": "u-17", "text": "I am not allowed to lift anything heavy."},
    {"id": "lu", "speaker": "Lu", "user": "u-18", "text": "I am allowed to lift everything."},
    {"id": "mo", "speaker": "Mo", "user": "mo", "text": "I am allowed to lift no boxes."},
)


@pytest.mark.parametrize(("user", "best"), [("u-17", "jo"), ("u-18", "lu"), ("mo", "mo"), ("MO", "mo")])
async def test_i_is_the_viewer_by_user_or_name(memory: Memory, user: str, best: str) -> None:
    await memory.ingest(*TURNS)
    assert (await memory.found("What am I allowed to lift?", viewer={"user": user}))[0] == best


async def test_a_question_about_others_or_without_a_viewer_has_the_order_of_the_search(memory: Memory) -> None:
    await memory.ingest(*TURNS)
    others = await memory.found("What is Lu allowed to lift?", viewer={"user": "mo"})
    assert others[0] == "lu"
    question: dict[str, Any] = {"query": "What am I allowed to lift?", "explain": True}
    assert not Explained(await memory.retrieve(**question)).gains("asker")
    assert Explained(await memory.retrieve(**question, viewer={"user": "mo"})).gains("asker").keys() == {"mo"}


@pytest.mark.parametrize(
    ("query", "is_own"),
    [
        ("Where did I park?", True),
        ("what's my blood type", True),
        ("Which of those are mine?", True),
        ("I’ve lost what?", True),
        ("Wo habe ich geparkt?", True),
        ("Où est ma voiture, et moi ?", True),
        ("¿Dónde aparqué yo?", True),
        ("我昨天做了什么?", True),
        ("Tell me about the harbour.", False),
        ("Can you show me Lu's notes?", False),
        ("Henry I of England", True),
        ("i.e. the second one", False),
        ("Where is Mia?", True),
        ("Who owns the mine shaft?", True),
        ("What did Lu say?", False),
    ],
)
def test_first_person_words(query: str, *, is_own: bool) -> None:
    assert is_about_asker(query) is is_own
