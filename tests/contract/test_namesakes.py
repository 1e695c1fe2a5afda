"""People of one name in one context, on both pairs of stores: apart, found by whoever speaks of them, and merged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.sides import Side, asked_for
from vicw_ingest.identity.merges import merge
from vicw_shared.clock import now
from vicw_shared.identity.joining import Decision
from vicw_shared.model import EdgeRegistry, Label


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def turn(number: int, speaker: str, text: str, **fields: Any) -> dict[str, Any]:
    at = f"2026-03-{number:02d}T09:00:00Z"
    return {"id": f"t{number}", "text": text, "speaker": speaker, "timestamp": at, **fields}


async def tell(side: Side, *turns: dict[str, Any]) -> None:
    for one in turns:
        body = {"context": "c", "domain": "general", "items": [one], "extract": "rules"}
        await side.ingest(body, "t", None)
    await side.indexer.drain()
    assert (await side.check()).violations == []


async def whose(side: Side) -> dict[str, set[str]]:
    """Return the uids of everybody's relatives."""
    nodes, found = await side.nodes(), dict[str, set[str]]()
    for edge in (await side.edges()).values():
        if edge.type == "HAS_RELATIONSHIP":
            found.setdefault(nodes[edge.source].name, set()).add(edge.target)
    return found


async def agents(side: Side) -> dict[str, set[str]]:
    nodes, found = await side.nodes(), dict[str, set[str]]()
    for edge in (await side.edges()).values():
        if edge.type == "INITIATED" and nodes[edge.target].is_statement:
            found.setdefault(str(nodes[edge.target].text), set()).add(edge.source)
    return found


async def anas(side: Side) -> set[str]:
    nodes = (await side.nodes()).values()
    return {node.uid for node in nodes if node.name == "Ana" and node.label is Label.ENTITY and not node.retired_at}


async def test_two_sisters_of_one_name_are_two_until_somebody_says_that_they_are_one(side: Side) -> None:
    await tell(side, turn(1, "Lena", "My sister Ana lives in Porto."), turn(2, "Tom", "My sister Ana lives in Oslo."))
    found = await whose(side)
    (lenas,), (toms,) = found["Lena"], found["Tom"]
    assert await anas(side) == {lenas, toms}
    await tell(side, turn(3, "Lena", "Ana broke the mug."), turn(4, "Tom", "Ana broke the vase."))
    await tell(side, turn(5, "Ben", "Ana broke the lamp."))
    did = await agents(side)
    assert (did["Ana broke the mug."], did["Ana broke the vase."]) == ({lenas}, {toms})
    assert "Ana broke the lamp." not in did

    decision = Decision("t", now(), EdgeRegistry.with_core_types())
    assert await merge(side.graph, decision, toms, lenas)
    await tell(side, turn(6, "Ben", "Ana broke the pot."), turn(7, "Tom", "My sister Ana broke the cup."))
    did = await agents(side)
    assert did["Ana broke the pot."] == did["My sister Ana broke the cup."] == {lenas}
    assert await anas(side) == {lenas, toms}


async def test_siblings_have_one_sister(side: Side) -> None:
    await tell(side, turn(1, "Lena", "My brother Tom came."), turn(2, "Lena", "My sister Ana came."))
    await tell(side, turn(3, "Tom", "My sister Ana left."))
    assert len(await anas(side)) == 1


async def test_who_speaks_is_neither_sister_of_the_name(side: Side) -> None:
    await tell(side, turn(1, "Lena", "My sister Ana lives in Porto."), turn(2, "Tom", "My sister Ana lives in Oslo."))
    await tell(side, turn(3, "Ana", "I fixed the mug.", user="u1"), turn(4, "Ana", "I fixed the vase.", user="u1"))
    did, nodes = await agents(side), await side.nodes()
    assert did["I fixed the mug."] == did["I fixed the vase."]
    users = {edge.target for edge in (await side.edges()).values() if edge.type == "IS_PERSON"}
    assert users == did["I fixed the mug."]
    assert users.isdisjoint({uid for relatives in (await whose(side)).values() for uid in relatives})
    assert {nodes[uid].name for uid in users} == {"Ana"}
