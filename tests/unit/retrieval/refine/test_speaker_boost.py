"""Who is named in a question tells of which domain it is, where he speaks in one alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from support.answers.explanation import explained
from support.stores.memory import Memory
from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.refine.speaker_boost import VOTE, prefer_speaker, raise_speaker_votes
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef

STRENGTHS = {"0": 1.0, "1": 2.0, "2": 3.0}


def candidates(*turns: tuple[str | None, str]) -> list[Candidate]:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    items = [
        ItemRef(uid=str(n), label=Label.EVENT, context="c", domain=domain, created_at=at, speaker=speaker)
        for n, (speaker, domain) in enumerate(turns)
    ]
    return [Candidate(item, 0.0, [(item.uid, 0.0)]) for item in items]


@pytest.mark.parametrize("query", ["What did Maria Braun cook?", "Why is Maria late?", "maria? No, Maria!"])
def test_turns_of_a_named_speaker_weigh_more_in_the_domain_vote(query: str) -> None:
    found = candidates(("Maria Braun", "general"), (None, "creative"), ("Ben", "general"))
    assert raise_speaker_votes(query, found, STRENGTHS).strengths == {**STRENGTHS, "0": 1.0 + VOTE}


@pytest.mark.parametrize(
    ("query", "speaker"),
    [
        ("What did J. Doe say?", "J. Doe"),
        ("What did J Doe say?", "J. Doe"),
        ("What did Dr. Braun cook?", "Dr. Braun"),
        ("What did O’Brien cook?", "O'Brien"),
        ("What did Jean cook?", "Jean-Luc"),
        ("小明喜欢什么", "小明"),
    ],
)
def test_names_with_punctuation_or_without_spaces_are_recognised(query: str, speaker: str) -> None:
    found = candidates((speaker, "general"), (None, "creative"))
    assert raise_speaker_votes(query, found, STRENGTHS).strengths == {**STRENGTHS, "0": 1.0 + VOTE}


@pytest.mark.parametrize(
    ("query", "speaker", "other"),
    [("小明喜欢什么", "小明", "小红"), ("What did Maria, A or O, cook?", "Maria", "O'Brien")],
)
def test_the_first_letter_of_a_name_does_not_name_the_speaker(query: str, speaker: str, other: str) -> None:
    found = prefer_speaker(query, [replace(one, score=1.0) for one in candidates((other, "c"), (speaker, "c"))])
    assert [("speaker" in one.boosts) for one in found if one.item.speaker == other] == [False]
    assert found[0].item.speaker == speaker


@pytest.mark.parametrize(
    ("query", "speaker"),
    [
        ("What did anybody cook?", "Maria"),
        ("what will happen?", "Will"),
        ("Mariandl cooks", "Maria"),
        ("Which field has the user?", "user"),
        ("Human, or not?", "Human"),
        ("the assistant fails", "assistant"),
    ],
)
def test_turns_of_speakers_that_are_not_named_do_not_weigh_more(query: str, speaker: str) -> None:
    found = candidates((speaker, "general"), (None, "creative"))
    assert raise_speaker_votes(query, found, STRENGTHS).strengths == STRENGTHS


def test_a_speaker_of_two_domains_raises_no_domain_vote() -> None:
    found = candidates(("Maria", "general"), ("Maria", "coding"), (None, "creative"))
    assert raise_speaker_votes("What did Maria say?", found, STRENGTHS).strengths == STRENGTHS


@pytest.mark.parametrize(("on", "domain"), [(True, "general"), (False, None)])
async def test_a_question_naming_a_speaker_is_narrowed_to_the_speakers_domain(
    memory: Memory, on: bool, domain: str | None
) -> None:
    said = ({"id": f"m{n}", "text": f"The stew {n} was late again.", "speaker": "Maria"} for n in range(20))
    tales = ({"id": f"t{n}", "text": f"The witch liked her stew {n}."} for n in range(20))
    await memory.ingest(*said, context="chat", domain="general")
    await memory.ingest(*tales, context="tales", domain="story")
    intent = (await explained(memory, "Which stew has Maria made?", {"speaker_boost": on})).response.intent
    assert (intent.domain if intent.filtered else None) == domain, intent
