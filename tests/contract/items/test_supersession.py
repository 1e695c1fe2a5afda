"""Supersession on both pairs of stores: in any order, by any speaker, and undone. A scripted model makes the claims."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.fakes.chat_server import NOTHING
from support.fakes.chat_server import extraction_json as answered
from support.stores.llm_extraction import Story, claim, open_story_with_model
from support.stores.pairs import Side, asked_for
from vicw_shared.wire.retrieve import RetrieveResponse

LYON, PORTO, OSLO = "I live in Lyon.", "I moved to Porto.", "I moved to Oslo."
LESSON = "My violin lesson is on Monday."
JESS, ANOUK, PRIYA = "My flatmate is Jess.", "My flatmate is Anouk.", "My flatmate is Priya now."
BOSCH, SIEMENS = "According to Ben, Ana works at Bosch.", "I heard that Ana works at Siemens."
HEARD, AGAIN, IN_PORTO = "Tom said that Ana lives in Oslo.", "Tom told me that Ana lives in Lyon.", "I live in Porto."
PORT, SAME_PORT = "The port of the staging server is 8080.", "The staging server's port is 8080."
NEW_PORT = "The port of the staging server is now 9090."


def home(text: str, city: str, **fields: Any) -> dict[str, Any]:
    return claim(text, "$speaker", "home", city, **fields)


def people(*names: str) -> list[dict[str, Any]]:
    return [{"id": f"e{n}", "name": name, "subtype": "person"} for n, name in enumerate(names, 1)]


def port(text: str, value: str, **fields: Any) -> str:
    server = [{"id": "e1", "name": "staging server", "subtype": "server"}]
    return answered(entities=server, claims=[claim(text, "e1", "port", value, **fields)])


ANSWERS = {
    LYON: answered(claims=[home(LYON, "Lyon")]),
    PORTO: answered(claims=[home(PORTO, "Porto", changed=True)]),
    OSLO: answered(claims=[home(OSLO, "Oslo", changed=True)]),
    IN_PORTO: answered(claims=[home(IN_PORTO, "Porto")]),
    f"{LYON} {LESSON}": answered(
        claims=[home(LYON, "Lyon"), claim(LESSON, "$speaker", "schedule", "Monday", of="violin lesson")]
    ),
    JESS: answered(claims=[claim(JESS, "$speaker", "flatmate", "Jess")]),
    ANOUK: answered(claims=[claim(ANOUK, "$speaker", "flatmate", "Anouk")]),
    PRIYA: answered(claims=[claim(PRIYA, "$speaker", "flatmate", "Priya", changed=True)]),
    BOSCH: answered(
        entities=people("Ben", "Ana"), claims=[claim("Ana works at Bosch", "e2", "employer", "Bosch", heard_from="e1")]
    ),
    SIEMENS: answered(
        entities=people("Ana"), claims=[claim("Ana works at Siemens", "e1", "employer", "Siemens", heard_from="rumour")]
    ),
    HEARD: answered(
        entities=people("Tom", "Ana"), claims=[claim("Ana lives in Oslo", "e2", "home", "Oslo", heard_from="e1")]
    ),
    AGAIN: answered(
        entities=people("Tom", "Ana"), claims=[claim("Ana lives in Lyon", "e2", "home", "Lyon", heard_from="e1")]
    ),
    PORT: port(PORT, "8080"),
    SAME_PORT: port(SAME_PORT, "8080"),
    NEW_PORT: port(NEW_PORT, "9090", changed=True),
}


def answer(body: dict[str, Any]) -> str:
    return ANSWERS.get(json.loads(body["messages"][-1]["content"])["text"], NOTHING)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def story(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Story]:
    async with asked_for(request, store) as opened, open_story_with_model(opened, answer) as read:
        yield read


@pytest.fixture
def side(story: Story) -> Side:
    return story.side


def at(day: int) -> str:
    return f"2026-03-{day:02d}T09:00:00+00:00"


def turn(key: str, day: int, text: str, speaker: str | None = "Lena", **fields: Any) -> dict[str, Any]:
    return {"id": key, "text": text, "speaker": speaker, "timestamp": at(day), **fields}


async def tell(story: Story, *items: dict[str, Any], context: str = "c") -> None:
    await story.ingest(*items, context=context, domain="general")
    await story.settle()


async def edges_between_statements(side: Side, *types: str) -> set[tuple[str, str, str]]:
    """Return the edges of these types between live statements, by their texts."""
    nodes = {uid: node for uid, node in (await side.nodes()).items() if node.is_statement and node.retired_at is None}
    edges = [edge for edge in (await side.edges()).values() if edge.type in types]
    return {
        (str(nodes[e.source].text), e.type, str(nodes[e.target].text))
        for e in edges
        if e.source in nodes and e.target in nodes
    }


async def statement_ends(side: Side) -> dict[str, str | None]:
    """Return until when each live statement was true."""
    live = [node for node in (await side.nodes()).values() if node.is_statement and node.retired_at is None]
    return {str(node.text): node.valid_to.isoformat() if node.valid_to else None for node in live}


async def asked(side: Side, query: str, **fields: Any) -> RetrieveResponse:
    return await side.retrieve({"query": query, "context": "c", **fields}, "t")


async def found(side: Side, query: str, **fields: Any) -> set[str | None]:
    return {result.id for result in (await asked(side, query, **fields)).results}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_newer_claims_supersede_older_ones_in_any_order_of_arrival(
    story: Story, side: Side, order: tuple[int, ...]
) -> None:
    turns = [turn("a", 1, LYON), turn("b", 5, PORTO), turn("c", 9, OSLO)]
    for number in order:
        await tell(story, turns[number])
    assert await edges_between_statements(side, "SUPERSEDES") == {
        (PORTO, "SUPERSEDES", LYON),
        (OSLO, "SUPERSEDES", PORTO),
    }
    assert await statement_ends(side) == {LYON: at(5), PORTO: at(9), OSLO: None}


async def test_superseded_claims_are_found_only_with_as_of(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, LYON), turn("b", 5, PORTO), turn("c", 6, "The weather is lovely here."))
    assert await found(side, "Where does Lena live?") == {"b", "c"}
    assert await found(side, "Where does Lena live?", as_of=at(3)) == {"a"}
    answer = await asked(side, "Where does Lena live?")
    assert f"replaces: {LYON}" in answer.text, answer.text


async def test_a_partly_superseded_passage_is_still_found(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, f"{LYON} {LESSON}"), turn("b", 5, PORTO))
    assert await statement_ends(side) == {LYON: at(5), LESSON: None, PORTO: None}
    answer = await asked(side, "violin lesson")
    assert "a" in {result.id for result in answer.results}
    assert f"{LYON} replaced by: {PORTO}" in answer.text, answer.text
    assert "replaced by" not in (await asked(side, "violin lesson", as_of=at(3))).text


async def test_a_multi_valued_attribute_is_superseded_only_by_a_word_of_change(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, JESS), turn("b", 5, ANOUK))
    assert await edges_between_statements(side, "SUPERSEDES") == set()
    await tell(story, turn("c", 9, PRIYA))
    assert await edges_between_statements(side, "SUPERSEDES") == {
        (PRIYA, "SUPERSEDES", JESS),
        (PRIYA, "SUPERSEDES", ANOUK),
    }


async def test_a_retracted_or_changed_statement_supersedes_nothing(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, LYON), turn("b", 5, PORTO))
    await side.retract({"context": "c", "ids": ["b"]}, "t")
    await side.indexer.drain()
    assert await statement_ends(side) == {LYON: None}
    assert await found(side, "Where does Lena live?") == {"a"}
    await tell(story, turn("b", 5, PORTO))
    assert await statement_ends(side) == {LYON: at(5), PORTO: None}
    await tell(story, turn("b", 5, "The sea was calm on that day."))
    assert (await statement_ends(side))[LYON] is None
    assert (await side.check()).violations == []


async def test_claims_supersede_only_within_one_person_context_and_audience(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, LYON), turn("b", 5, PORTO, "Tom"))
    await tell(story, turn("c", 6, OSLO), context="another")
    secret = turn("d", 7, OSLO, sensitivity="personal", about=["Tom"])
    await tell(story, secret)
    assert await edges_between_statements(side, "SUPERSEDES") == set()
    assert set((await statement_ends(side)).values()) == {None}


async def test_hearsay_contradicts_hearsay_without_superseding_it(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, BOSCH), turn("b", 5, SIEMENS))
    assert await edges_between_statements(side, "SUPERSEDES", "CONTRADICTS") == {(SIEMENS, "CONTRADICTS", BOSCH)}
    assert await statement_ends(side) == {BOSCH: None, SIEMENS: None}


async def test_a_first_hand_claim_supersedes_hearsay_and_not_vice_versa(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, HEARD), turn("b", 5, IN_PORTO, "Ana"))
    assert await edges_between_statements(side, "SUPERSEDES") == {(IN_PORTO, "SUPERSEDES", HEARD)}
    await tell(story, turn("c", 9, AGAIN))
    assert await edges_between_statements(side, "CONTRADICTS") == {(AGAIN, "CONTRADICTS", IN_PORTO)}
    assert (await statement_ends(side))[IN_PORTO] is None
    names = {uid: node.name for uid, node in (await side.nodes()).items()}
    sources = {(names[e.source], names[e.target]) for e in (await side.edges()).values() if e.type == "STATED_BY"}
    assert {(HEARD, "Tom"), (IN_PORTO, "Ana"), (AGAIN, "Tom")} <= sources


async def test_a_claim_of_the_same_value_supports_the_earlier_one(story: Story, side: Side) -> None:
    await tell(story, turn("a", 1, PORT, "Ana"), turn("b", 2, SAME_PORT, "Tom"))
    assert await edges_between_statements(side, "SUPPORTS", "SUPERSEDES") == {(SAME_PORT, "SUPPORTS", PORT)}
    await tell(story, turn("c", 3, NEW_PORT, "Ana"))
    assert await edges_between_statements(side, "SUPERSEDES") == {
        (NEW_PORT, "SUPERSEDES", PORT),
        (NEW_PORT, "SUPERSEDES", SAME_PORT),
    }
