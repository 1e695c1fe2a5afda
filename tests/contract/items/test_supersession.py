"""What replaced what, on both pairs of stores: in whatever order it comes, whoever says it, and when it is undone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_shared.wire.retrieve import RetrieveResponse


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def at(day: int) -> str:
    return f"2026-03-{day:02d}T09:00:00+00:00"


def turn(key: str, day: int, text: str, speaker: str | None = "Lena", **fields: Any) -> dict[str, Any]:
    return {"id": key, "text": text, "speaker": speaker, "timestamp": at(day), **fields}


async def tell(side: Side, *items: dict[str, Any], context: str = "c") -> None:
    body = {"context": context, "domain": "general", "items": items, "extract": "rules"}
    await side.ingest(body, "t", None)
    await side.indexer.drain()
    assert (await side.check()).violations == []


async def told(side: Side, *types: str) -> set[tuple[str, str, str]]:
    """Return the edges of these types between live statements, by their texts."""
    nodes = {uid: node for uid, node in (await side.nodes()).items() if node.is_statement and node.retired_at is None}
    edges = [edge for edge in (await side.edges()).values() if edge.type in types]
    return {
        (str(nodes[e.source].text), e.type, str(nodes[e.target].text))
        for e in edges
        if e.source in nodes and e.target in nodes
    }


async def ends(side: Side) -> dict[str, str | None]:
    """Return until when each live statement was true."""
    live = [node for node in (await side.nodes()).values() if node.is_statement and node.retired_at is None]
    return {str(node.text): node.valid_to.isoformat() if node.valid_to else None for node in live}


async def asked(side: Side, query: str, **fields: Any) -> RetrieveResponse:
    return await side.retrieve({"query": query, "context": "c", **fields}, "t")


async def found(side: Side, query: str, **fields: Any) -> set[str | None]:
    return {result.id for result in (await asked(side, query, **fields)).results}


LYON, PORTO, OSLO = "I live in Lyon.", "I moved to Porto.", "I moved to Oslo."


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_the_newer_replaces_the_older_in_whatever_order_they_come(side: Side, order: tuple[int, ...]) -> None:
    turns = [turn("a", 1, LYON), turn("b", 5, PORTO), turn("c", 9, OSLO)]
    for number in order:
        await tell(side, turns[number])
    assert await told(side, "SUPERSEDES") == {(PORTO, "SUPERSEDES", LYON), (OSLO, "SUPERSEDES", PORTO)}
    assert await ends(side) == {LYON: at(5), PORTO: at(9), OSLO: None}


async def test_the_present_is_found_by_default_and_the_past_as_of_then(side: Side) -> None:
    await tell(side, turn("a", 1, LYON), turn("b", 5, PORTO), turn("c", 6, "The weather is lovely here."))
    assert await found(side, "Where does Lena live?") == {"b", "c"}
    assert await found(side, "Where does Lena live?", as_of=at(3)) == {"a"}
    answer = await asked(side, "Where does Lena live?")
    assert f"replaces: {LYON}" in answer.text, answer.text


async def test_a_passage_that_says_more_is_found_still(side: Side) -> None:
    await tell(side, turn("a", 1, f"{LYON} My violin lesson is on Monday."), turn("b", 5, PORTO))
    assert await ends(side) == {LYON: at(5), "My violin lesson is on Monday.": None, PORTO: None}
    answer = await asked(side, "violin lesson")
    assert "a" in {result.id for result in answer.results}
    assert f"{LYON} replaced by: {PORTO}" in answer.text, answer.text
    assert "replaced by" not in (await asked(side, "violin lesson", as_of=at(3))).text


async def test_a_claim_told_of_two_things_is_past_if_it_is_replaced_for_one(side: Side) -> None:
    older, newer = "The project is called Hawk.", "We renamed Hawk to Kestrel."
    await tell(side, turn("a", 1, older), turn("b", 5, newer))
    assert await told(side, "SUPERSEDES") == {(newer, "SUPERSEDES", older)}
    assert (await ends(side))[older] == at(5)


async def test_what_may_have_several_values_is_replaced_only_by_a_word_of_change(side: Side) -> None:
    older, beside, newer = (
        "My flatmate is Jess.",
        "My flatmate is Anouk.",
        "My flatmate is Priya now.",
    )
    await tell(side, turn("a", 1, older), turn("b", 5, beside))
    assert await told(side, "SUPERSEDES") == set()
    await tell(side, turn("c", 9, newer))
    assert await told(side, "SUPERSEDES") == {(newer, "SUPERSEDES", older), (newer, "SUPERSEDES", beside)}


async def test_what_is_taken_back_or_told_anew_has_replaced_nothing(side: Side) -> None:
    await tell(side, turn("a", 1, LYON), turn("b", 5, PORTO))
    await side.retract({"context": "c", "ids": ["b"]}, "t")
    await side.indexer.drain()
    assert await ends(side) == {LYON: None}
    assert await found(side, "Where does Lena live?") == {"a"}
    await tell(side, turn("b", 5, PORTO))
    assert await ends(side) == {LYON: at(5), PORTO: None}
    await tell(side, turn("b", 5, "The sea was calm on that day."))
    assert (await ends(side))[LYON] is None
    assert (await side.check()).violations == []


async def test_two_people_two_contexts_and_two_audiences_are_not_mixed_up(side: Side) -> None:
    await tell(side, turn("a", 1, LYON), turn("b", 5, PORTO, "Tom"))
    await tell(side, turn("c", 6, OSLO), context="another")
    secret = turn("d", 7, OSLO, sensitivity="personal", about=["Tom"])
    await tell(side, secret)
    assert await told(side, "SUPERSEDES") == set()
    assert set((await ends(side)).values()) == {None}


async def test_what_is_told_of_yours_is_told_of_whom_it_is_said_to(side: Side) -> None:
    await tell(
        side,
        turn("a", 1, "When do I have to be there?", flow_id="f"),
        turn("b", 2, "Your flight leaves at 8.", "Tom", flow_id="f"),
    )
    await tell(side, turn("c", 5, "My flight is at 9 now.", flow_id="f"))
    assert await told(side, "SUPERSEDES") == {("My flight is at 9 now.", "SUPERSEDES", "Your flight leaves at 8.")}


async def test_hearsay_does_not_replace_hearsay(side: Side) -> None:
    old, new = "According to Ben, Ana works at Bosch.", "I heard that Ana works at Siemens."
    await tell(side, turn("a", 1, old), turn("b", 5, new))
    assert await told(side, "SUPERSEDES", "CONTRADICTS") == {(new, "CONTRADICTS", old)}
    assert await ends(side) == {old: None, new: None}


async def test_hearsay_replaces_nothing_and_is_replaced_by_who_knows(side: Side) -> None:
    heard = "Tom said that Ana lives in Oslo."
    await tell(side, turn("a", 1, heard), turn("b", 5, "I live in Porto.", "Ana"))
    assert await told(side, "SUPERSEDES") == {("I live in Porto.", "SUPERSEDES", heard)}
    again = "Tom told me that Ana lives in Lyon."
    await tell(side, turn("c", 9, again))
    assert await told(side, "CONTRADICTS") == {(again, "CONTRADICTS", "I live in Porto.")}
    assert (await ends(side))["I live in Porto."] is None
    names = {uid: node.name for uid, node in (await side.nodes()).items()}
    sources = {(names[e.source], names[e.target]) for e in (await side.edges()).values() if e.type == "STATED_BY"}
    assert {(heard, "Tom"), ("I live in Porto.", "Ana"), (again, "Tom")} <= sources


async def test_who_says_the_same_supports_it(side: Side) -> None:
    one, other = "The port of the staging server is 8080.", "The staging server's port is 8080."
    await tell(side, turn("a", 1, one, "Ana"), turn("b", 2, other, "Tom"))
    assert await told(side, "SUPPORTS", "SUPERSEDES") == {(other, "SUPPORTS", one)}
    third = "The port of the staging server is now 9090."
    await tell(side, turn("c", 3, third, "Ana"))
    assert await told(side, "SUPERSEDES") == {(third, "SUPERSEDES", one), (third, "SUPERSEDES", other)}
