"""The profile of one person: what the person told of themself, as far as the viewer may see and know it."""

from __future__ import annotations

from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_retrieval.profile.person import read_profile
from vicw_shared.errors import MissingRecordError
from vicw_shared.uids import named_uid
from vicw_shared.wire.people import PersonProfile, ProfileQuery

TOLD = {
    "flat": "I live in a flat above the chandlery.",
    "nuts": "I am allergic to walnuts.",
    "trip": "I sailed to the island last week.",
    "old": "I live in a caravan.",
    "other": "The island has two wells.",
    "request": "Could you find me a ferry to the island?",
    "joke": "I am the emperor of the island, just kidding.",
}


def person(name: str, subtype: str = "person") -> str:
    return named_uid("default", "ctx", subtype, name)


async def profile(memory: Memory, uid: str, **query: Any) -> PersonProfile:
    return await read_profile(uid, ProfileQuery(**query), "default", memory.standalone.retrieval_ports())


async def tell(memory: Memory, texts: dict[str, str], **fields: Any) -> None:
    days = range(len(texts), 0, -1)  # the first told last
    told = [
        {"id": name, "text": text, "timestamp": f"2026-05-{day:02d}T09:00:00Z"} | fields
        for day, (name, text) in zip(days, texts.items(), strict=True)
    ]
    await memory.ingest(*told)


async def test_a_profile_has_the_statements_topic_by_topic(memory: Memory) -> None:
    await tell(memory, TOLD, speaker="Solveig", user="u-1")
    await tell(memory, {"gus": "I live in a lighthouse."}, speaker="Gus", user="u-2")
    found = await profile(memory, person("Solveig"))
    assert (found.name, found.complete) == ("Solveig", True)
    assert [(one.id, one.topic) for one in found.statements] == [
        ("nuts", "health"), ("flat", "home"), ("old", "home"), ("trip", "other"),
    ]  # fmt: skip
    assert [one.lasting for one in found.statements] == [True, True, True, False]
    assert (found.statements[1].text, found.statements[1].context) == (TOLD["flat"], "ctx")
    assert (await profile(memory, person("u-1", "user"))).statements == found.statements, "the user is this person"
    some = await profile(memory, person("Solveig").upper(), limit=2)
    assert ([one.id for one in some.statements], some.complete) == (["nuts", "flat"], False)


async def test_what_is_hidden_is_in_no_profile(memory: Memory) -> None:
    await tell(memory, {"open": "I live in a houseboat."}, speaker="Solveig", user="u-1")
    hidden = {"speaker": "Solveig", "user": "u-1", "sensitivity": "personal", "about": ["Solveig"]}
    await tell(memory, {"secret": "I am allergic to lupins."}, **hidden)

    async def seen(**viewer: Any) -> list[str | None]:
        return [one.id for one in (await profile(memory, person("Solveig"), **viewer)).statements]

    assert await seen() == ["secret", "open"]
    assert await seen(viewer="u-1") == ["secret", "open"]
    assert await seen(viewer="u-2") == ["open"]


async def test_whom_the_viewer_does_not_know_has_no_profile(memory: Memory) -> None:
    hidden = {"speaker": "Solveig", "user": "u-1", "sensitivity": "personal", "about": ["Solveig"]}
    await tell(memory, {"secret": "I am allergic to lupins."}, **hidden)
    assert (await profile(memory, person("Solveig"))).statements
    with pytest.raises(MissingRecordError) as of_hidden:
        await profile(memory, person("Solveig"), viewer="u-2")
    unknown = person("Nobody")
    with pytest.raises(MissingRecordError) as of_unknown:
        await profile(memory, unknown, viewer="u-2")
    assert str(of_hidden.value).replace(person("Solveig"), unknown) == str(of_unknown.value)


async def test_what_is_no_person_has_no_profile(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "I live here.", "speaker": "Solveig", "tags": ["sea"]})
    answer = await memory.retrieve("Who lives here?")
    for uid in (answer.results[0].uid, person("sea", "tag"), "no uid", person("Solveig")[:-1]):
        with pytest.raises(MissingRecordError, match="no person"):
            await profile(memory, uid)
