"""Pages hand over to the pages that they name, step by step; who hands over and who receives goes by the kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.answers.explanation import explained
from support.stores.memory import Memory, open_memory
from vicw_core.graph.edge_factory import EdgeFactory
from vicw_shared.clock import now
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.ports import GraphTransaction

QUERY = "which river crosses the old town where the founder of the theatre was born"
# They are more like the question than all but the first page of the chain: no other page leads on by itself.
FILLER = tuple(
    {"id": f"f{n}", "name": f"Notice {n}", "text": f"the old town and the theatre, notice {n}: which river crosses {n}"}
    for n in range(30)
)
FIRST = "the founder of the theatre was born where the river crosses the old town: Ada Quill"
CHAIN = (
    {"id": "a", "name": "Globe House", "text": FIRST},
    {"id": "b", "name": "Ada Quill", "text": "the theatre was that of her aunt Berta Stone"},
    {"id": "c", "name": "Berta Stone", "text": "in the old town her clerk was Carl Rook"},
    {"id": "d", "name": "Carl Rook", "text": "the river was near"},
)
SAID = {"speaker": "Ana"}
HAPPENED = {"timestamp": "2026-01-01T00:00:00Z"}


async def test_each_bridge_hop_reaches_one_page_further(memory: Memory) -> None:
    await memory.ingest(*CHAIN, *FILLER, domain="wiki")
    answers = [await explained(memory, QUERY, {"entity_hops": hops}) for hops in range(4)]
    assert [set(answer.gains("bridges")) for answer in answers] == [set(), {"b"}, {"b", "c"}, {"b", "c", "d"}]
    last = answers[-1]
    assert {hit.depth for hit in last.results["d"].channels if hit.channel == "graph"} == {3}
    gains = last.gains("bridges")
    assert gains["b"] > gains["c"] > gains["d"] > 0


@pytest.mark.parametrize(("kind", "leads"), [({}, True), (SAID, False), (HAPPENED, False)])
async def test_bridges_start_only_at_pages_not_at_turns_or_events(
    memory: Memory, kind: dict[str, Any], leads: bool
) -> None:
    first, second, *_ = CHAIN
    await memory.ingest(first | kind, second, *FILLER, domain="wiki")
    answer = await explained(memory, QUERY, {"entity_hops": 2})
    assert answer.results["a"].rank == 1, "whatever it is, it is the best that there is"
    assert ("b" in answer.gains("bridges")) is leads


@pytest.mark.parametrize(("kind", "receives"), [({}, True), (SAID, False), (HAPPENED, False)])
async def test_bridges_end_only_at_pages_not_at_turns_or_events(
    memory: Memory, kind: dict[str, Any], receives: bool
) -> None:
    first, *_ = CHAIN
    other = {"id": "other", "name": "Playbill", "text": "Tonight with Ada Quill."}
    await memory.ingest(first, other | kind, *FILLER, domain="wiki")
    answer = await explained(memory, QUERY, {"entity_hops": 2})
    assert ("other" in answer.gains("bridges")) is receives


@pytest.mark.parametrize(("kind", "lifted"), [({}, False), (SAID, True), (HAPPENED, True)])
async def test_only_events_lift_their_neighbours(store: Path, kind: dict[str, Any], lifted: bool) -> None:
    async with open_memory(store) as memory:
        beside = {"id": "beside", "text": "Nothing of it."}
        await memory.ingest({"id": "hit", "text": FIRST} | kind, beside | kind, *FILLER)
        answer = await explained(memory, QUERY)
        hit, other = answer.results["hit"], answer.results["beside"]
        assert hit.label is (Label.EVENT if kind else Label.ENTITY)

        async def join(transaction: GraphTransaction) -> None:
            ties = EdgeFactory(EdgeRegistry.with_core_types(), now())
            await transaction.put_edges([ties.edge("NEXT", hit.uid, other.uid, by="test")])

        await memory.standalone.graph.write(memory.tenant, hit.context, join)  # no caller can join documents so
        answer = await explained(memory, QUERY, {"neighbour_lift": True})
        assert ("beside" in answer.gains("lift")) is lifted


async def test_a_replaced_version_does_not_make_a_name_more_frequent(store: Path) -> None:
    first, *_ = CHAIN
    playbill = {"id": "other", "name": "Playbill", "text": "Tonight with Ada Quill."}
    gains = []
    for number, earlier in enumerate(((), ("Ada Quill, tomorrow.", "Ada Quill, today."))):
        async with open_memory(store / str(number)) as memory:
            for text in earlier:
                await memory.ingest(playbill | {"text": text}, domain="wiki")
            await memory.ingest(first, playbill, *FILLER, domain="wiki")
            gains.append((await explained(memory, QUERY, {"entity_hops": 2})).gains("bridges")["other"])
    assert gains[0] == pytest.approx(gains[1])
