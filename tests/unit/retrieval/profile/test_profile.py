"""A question for what is known of its asker is answered with what the asker told of themself."""

from __future__ import annotations

from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_retrieval.profile.question import asks_for_profile
from vicw_retrieval.profile.statements import OTHER, SelfStatement, self_statement

QUESTION = "What do you know about me?"
TOLD = {
    "name": "My name is Rosalind and I was born in 1988.",
    "nuts": "I am allergic to hazelnuts.",
    "sister": "My sister Pia keeps bees.",
    "job": "I work as a surveyor for the canal company.",
    "flat": "I live in a flat above the bakery.",
    "rowing": "I love rowing before breakfast.",
    "trip": "I cycled to the reservoir last week.",
}
EMPTY = {
    "request": "Can you tell me what you know about train times to Hull?",
    "order": "Write a letter about me to the bakery.",
    "joke": "I am the secret queen of Hull, just kidding.",
    "thanks": "Thank you, you know me so well!",
    "question": "What do I know about bees?",
}


def turns(texts: dict[str, str], speaker: str, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"id": name, "speaker": speaker, "text": text, "timestamp": f"2026-03-{day:02d}T09:00:00Z"} | fields
        for day, (name, text) in enumerate(texts.items(), start=1)
    ]


async def remember(memory: Memory) -> None:
    others = {f"o{n}": f"I know what you know about me, and about boat number {n}." for n in range(12)}
    await memory.ingest(*turns(TOLD | EMPTY, "Rosalind", user="u-1"), *turns(others, "Gus", user="u-2"))


async def test_the_viewer_gets_the_own_statements_topic_by_topic(memory: Memory) -> None:
    await remember(memory)
    answer = await memory.retrieve(QUESTION, viewer={"user": "u-1"}, min_relevance=0.5)
    found = [result.id for result in answer.results]
    assert (answer.answered, answer.relevance) == ("likely", 1.0)
    assert found[: len(TOLD)] == ["name", "nuts", "sister", "job", "flat", "rowing", "trip"]
    assert not set(found) & EMPTY.keys()
    assert "nuts" not in (await memory.found(QUESTION, viewer={"user": "u-2"}))[:10]


async def test_few_places_are_shared_by_the_topics(memory: Memory) -> None:
    likes = {f"l{n}": f"I like the colour of boat number {n}." for n in range(9)}
    await memory.ingest(*turns(TOLD | likes, "Rosalind", user="u-1"))
    assert await memory.found(QUESTION, viewer={"user": "u-1"}, limit=6) == [
        "name", "nuts", "sister", "job", "flat", "l8",
    ]  # fmt: skip


async def test_in_a_topic_the_later_comes_first(memory: Memory) -> None:
    await memory.ingest(*turns({"old": "I live in Ghent.", "new": "I live in Bruges now."}, "Rosalind", user="u-1"))
    assert (await memory.found(QUESTION, viewer={"user": "u-1"}))[:2] == ["new", "old"]


async def test_without_a_viewer_the_only_person_of_the_context_is_meant(memory: Memory) -> None:
    await memory.ingest(*turns(TOLD | EMPTY, "user"), *turns({"a": "I know about you that you row."}, "assistant"))
    found = await memory.found(QUESTION, context="ctx")
    assert found[: len(TOLD)] == ["name", "nuts", "sister", "job", "flat", "rowing", "trip"]
    await memory.ingest(*turns({"g": "I know all about me."}, "Gus"))
    assert "name" not in (await memory.found(QUESTION, context="ctx"))[:1]


async def test_nobody_is_told_what_is_hidden_from_them(memory: Memory) -> None:
    await memory.ingest(*turns({"open": "I live in Ghent."}, "Rosalind", user="u-1"))
    secret = turns({"secret": "I am allergic to lupins."}, "Rosalind", user="u-1", sensitivity="sensitive")
    await memory.ingest(secret[0] | {"about": ["Rosalind"]})
    alone = await memory.found(QUESTION, viewer={"user": "u-1", "chat": "private"})
    assert set(alone) == {"open", "secret"}
    assert await memory.found(QUESTION, viewer={"user": "u-1", "chat": "group"}) == ["open"]


async def test_without_statements_or_switched_off_the_search_answers(memory: Memory) -> None:
    await memory.ingest(*turns(EMPTY, "Rosalind", user="u-1"))
    assert set(await memory.found(QUESTION, viewer={"user": "u-1"})) == EMPTY.keys()


async def test_the_text_keeps_the_topics_together(memory: Memory) -> None:
    backwards = dict(reversed(TOLD.items()))
    await memory.ingest(*turns(backwards, "Rosalind", user="u-1"), flow_id="chat")
    text = (await memory.retrieve(QUESTION, viewer={"user": "u-1"})).text
    shown = [line.removeprefix("> ") for line in text.splitlines() if line.startswith("> ")]
    assert shown == [TOLD[name] for name in ("name", "nuts", "sister", "job", "flat", "rowing", "trip")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("So what do you remember about me so far?", True),
        ("Tell me everything you know about me.", True),
        ("Who am I?", True),
        ("Was weißt du alles über mich?", True),
        ("Que sais-tu déjà de moi ?", True),
        ("¿Qué sabes de mí?", True),
        ("Che cosa sai di me?", True),
        ("O que você sabe sobre mim?", True),
        ("你知道关于我的什么？", True),
        ("私について何を知っていますか？", True),
        ("What do you know about my boat?", False),
        ("What do you know about me and Gus?", False),
        ("What do you know about Gus?", False),
        ("Tell me about yourself.", False),
        ("Was weißt du über mich und Pia?", False),
        ("x" * 400, False),
    ],
)
def test_questions_for_a_profile(query: str, *, expected: bool) -> None:
    assert asks_for_profile(query) is expected


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Ich wohne in Graz.", "home"),
        ("J'ai deux filles.", "family"),
        ("Soy vegetariana.", "health"),
        ("Lavoro in banca.", "work"),
        ("Eu gosto de remar.", "likes"),
        ("我叫小林。", "person"),
        ("私は犬を飼っています。", "family"),
        ("Thanks! I moved to Lyon in May.", "home"),
        ("I once saw a comet.", OTHER),
    ],
)
def test_statements_of_eight_languages_have_a_topic(text: str, topic: str) -> None:
    said = self_statement(text)
    assert said is not None
    assert said.topic == topic


@pytest.mark.parametrize(
    "text",
    [
        "Bitte hilf mir mit meinem Rad.",
        "Peux-tu m'aider ?",
        "Dime dónde está mi barco.",
        "Puoi ricordarmi il mio orario?",
        "Você pode me ajudar?",
        "请帮我订票。",
        "教えてください。",
        "Danke, mein Lieber!",
        "我是国王，开玩笑的。",
        "I see.",
        "I'd like some ideas for dinner.",
        "The lock is shut.",
        "",
    ],
)
def test_what_says_nothing_of_its_speaker(text: str) -> None:
    assert self_statement(text) is None


def test_a_state_lasts_and_an_event_does_not() -> None:
    assert self_statement("I have two canoes.") == SelfStatement(OTHER, lasting=True)
    assert self_statement("I fell off a canoe.") == SelfStatement(OTHER, lasting=False)
