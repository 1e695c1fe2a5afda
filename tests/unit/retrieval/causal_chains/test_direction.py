from __future__ import annotations

import pytest

from vicw_retrieval.causal_chains.model import ChainDirection
from vicw_retrieval.intent.analysis import direction_of


@pytest.mark.parametrize(
    "query",
    [
        "Why is the server throwing a 500 error?",
        "why did the bird's voice frighten all the folk?",
        "How come nobody answered?",
        "What caused the outage?",
        "what has led to the crash",
        "Which commit made the tests fail?",
        "What was the reason for the delay?",
        "What’s the root cause?",
        "Tell me the reason why she left",
        "What is behind the slow start?",
        "Why did the bridge fall, and what were the consequences of it?",
    ],
)
def test_questions_for_causes_have_direction_back(query: str) -> None:
    assert direction_of(query) is ChainDirection.BACK


@pytest.mark.parametrize(
    "query",
    [
        "What if log rotation is off?",
        "What did the outage lead to?",
        "What does a full disk cause?",
        "what would break if we dropped the index?",
        "What were the consequences of the treaty?",
        "What happened because of the storm?",
        "What happened in the story after the explosion?",
        "what came of it",
        "What will happen if the certificate expires?",
        "What is the effect of the spell?",
        "What did the crash trigger, and why?",
    ],
)
def test_questions_for_consequences_have_direction_forward(query: str) -> None:
    assert direction_of(query) is ChainDirection.FORWARD


@pytest.mark.parametrize(
    "query",
    [
        "Where does Ana live?",
        "Who stole the amulet?",
        "What did we discuss 10 minutes ago?",
        "harbour",
        "What did Ana say?",
        "The reasonable causeway",
        "🔥",
    ],
)
def test_questions_without_cause_or_consequence_have_no_direction(query: str) -> None:
    assert direction_of(query) is None


def test_direction_of_handles_very_long_questions() -> None:
    assert direction_of("what did " * 100_000) is None
    assert direction_of("what " + "did x " * 100_000) is None
