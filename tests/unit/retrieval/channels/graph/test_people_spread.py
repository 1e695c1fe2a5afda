"""The walk from those who take part follows what they did and whom they know, not what replaced what (seed 004)."""

from __future__ import annotations

from typing import Any

import pytest

from support.answers.explanation import explained
from support.stores.memory import Memory
from vicw_core.graph.edge_factory import EdgeFactory
from vicw_shared.clock import now
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import GraphTransaction

FILLER = tuple({"id": f"f{n}", "text": f"Gifts for the feast, list {n}: candles, paper {n}."} for n in range(40))
MAPS = {"id": "maps", "text": "Old maps are gifts that one treasures at the feast."}


async def ids_gaining_through_mara(memory: Memory) -> set[str | None]:
    viewer = {"user": "Ben", "chat": "private", "participants": ["Mara"]}
    return set(
        (await explained(memory, "Which gifts for the feast?", {"people_match": True}, viewer=viewer)).gains("people")
    )


async def join(memory: Memory, source: str, edge_type: str, target: str) -> None:
    """Put an edge that no caller can tell of."""

    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_edges(
            [EdgeFactory(EdgeRegistry.with_core_types(), now()).edge(edge_type, source, target)]
        )

    await memory.standalone.graph.write(memory.tenant, "ctx", work)


@pytest.mark.parametrize(("edge_type", "known"), [("HAS_RELATIONSHIP", {"maps"}), ("SUPERSEDES", set())])
async def test_a_person_spreads_to_acquaintances_not_along_supersession(
    memory: Memory, edge_type: str, known: set[str | None]
) -> None:
    people: list[dict[str, Any]] = [{"id": name, "name": name, "subtype": "person"} for name in ("Mara", "Ida")]
    text = "They were here for a while, and left again early without a word to anybody."
    both = {"id": "both", "text": text, "extraction": {"entities": people}}
    response = await memory.ingest(both, MAPS | {"about": ["Ida"]}, *FILLER)
    uids = {node.name: node.uid for item in response.items for node in item.nodes}
    await join(memory, uids["Mara"], edge_type, uids["Ida"])
    assert await ids_gaining_through_mara(memory) == known


@pytest.mark.parametrize(("source", "target"), [("maps", "hers"), ("hers", "maps")])
async def test_a_persons_memory_does_not_spread_along_supersession(memory: Memory, source: str, target: str) -> None:
    hers = {"id": "hers", "text": "Maps of old are gifts at the feast.", "about": ["Mara"]}
    response = await memory.ingest(hers, MAPS, *FILLER)
    uids = {item.id or "": item.uid for item in response.items}
    await join(memory, uids[source], "SUPERSEDES", uids[target])
    assert await ids_gaining_through_mara(memory) == {"hers"}


TOLD = {"id": "told", "text": "Gifts for the feast of Mara: which of them?", "about": ["Mara"]}


async def people_gains(memory: Memory, **fields: Any) -> dict[str | None, float]:
    return dict(
        (await explained(memory, "Which gifts for the feast?", {"people_match": True}, **fields)).gains("people")
    )


async def test_subjects_of_results_spread_without_participants(memory: Memory) -> None:
    other = {"id": "tom's", "text": "A lamp is a gift for the feast, too.", "about": ["Tom"]}
    await memory.ingest(TOLD, other, *FILLER)
    assert await people_gains(memory) == {}, "no result leads on to itself"
    await memory.ingest(MAPS | {"about": ["Mara"]})
    assert (await people_gains(memory)).keys() == {"maps"}


async def test_participants_spread_more_than_subjects_of_lower_results(memory: Memory) -> None:
    best = {"id": "best", "text": "Which gifts for the feast?"}
    await memory.ingest(best, TOLD, MAPS | {"about": ["Mara"]}, *FILLER)
    result, part = [
        (await people_gains(memory, viewer={"user": "Ben", "chat": "private", "participants": people}))["maps"]
        for people in ([], ["Mara"])
    ]
    assert 0 < result < part


async def test_subjects_of_results_do_not_spread_to_hidden_memories(memory: Memory) -> None:
    await memory.ingest(TOLD, MAPS | {"about": ["Mara"], "sensitivity": "sensitive"}, *FILLER)
    assert "maps" in await people_gains(memory)
    assert await people_gains(memory, viewer={"user": "Ben", "chat": "private"}) == {}
