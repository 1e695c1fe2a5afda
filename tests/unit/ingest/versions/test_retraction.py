"""Items taken back: what goes with them, what stays, what the past still sees, and how they come back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_shared.clock import now
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports import Direction, GraphTransaction, Nodes, look_up
from vicw_shared.uids import edge_id, named_uid

AMULET = {"entities": [{"name": "amulet", "subtype": "artifact", "description": "cursed"}]}


async def live_names(memory: Memory) -> set[str]:
    """Return the live named things."""
    found = [
        node
        for label in (Label.ENTITY, Label.CONCEPT)
        for node in await memory.standalone.graph.scan(Nodes(label), limit=1000)
    ]
    return {node.name for node in found if node.content_hash is None and node.retired_at is None}


async def live_events(memory: Memory) -> set[str]:
    found = await memory.standalone.graph.scan(Nodes(Label.EVENT), limit=1000)
    return {node.name for node in found if node.content_hash is None and node.retired_at is None}


async def named_node(memory: Memory, subtype: str, name: str) -> Node:
    uid = named_uid("default", "ctx", subtype, name)
    return (await memory.standalone.graph.nodes("default", [uid]))[uid]


async def test_a_retracted_item_is_gone_from_every_answer(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "the harbour burned"}, {"id": "y", "text": "the harbour was rebuilt"})
    assert await memory.retract("x") == ["retracted"]
    assert await memory.found("harbour burned") == ["y"]
    for channel in ("dense", "bm25"):
        assert await memory.found("harbour burned", channels=[channel]) == ["y"]


async def test_a_second_retraction_changes_nothing(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "one"})
    assert await memory.retract("x", "nobody", "x") == ["retracted", "unknown", "retracted"]
    (before,) = await memory.standalone.graph.scan(Nodes(Label.CHUNK), limit=9)
    assert await memory.retract("x", "nobody", ended_at=now().isoformat()) == ["already", "unknown"]
    assert await memory.standalone.graph.scan(Nodes(Label.CHUNK), limit=9) == [before]


async def test_retracting_in_an_unknown_context_creates_none(memory: Memory) -> None:
    assert await memory.retract("x", context="elsewhere") == ["unknown"]
    assert await memory.standalone.graph.contexts("default") == []


async def test_an_item_is_retracted_in_its_own_context_and_tenant_alone(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "one"})
    await memory.ingest({"id": "x", "text": "one"}, context="other")
    assert await memory.retract("x", context="other") == ["retracted"]
    memory.tenant = "else"
    assert await memory.retract("x") == ["unknown"]
    memory.tenant = "default"
    assert [r.context for r in (await memory.retrieve("one")).results] == ["ctx"]


async def test_retraction_retires_nodes_that_rest_on_the_item_alone(memory: Memory) -> None:
    told = {
        "entities": [{"name": "Mara"}, {"name": "Edran"}, {"name": "amulet"}],
        "events": [{"name": "theft"}],
        "relations": [
            {"source": "Mara", "type": "INITIATED", "target": "theft"},
            {"source": "Mara", "type": "HAS_RELATIONSHIP", "target": "Edran", "desc": "foe"},
        ],
    }
    await memory.ingest({"id": "x", "text": "one", "speaker": "Ana", "tags": ["night", "sea"], "extraction": told})
    await memory.ingest(
        {"id": "y", "text": "two", "tags": ["sea"], "extraction": {"entities": [{"name": "Mara"}]}, "about": ["Ben"]}
    )
    await memory.retract("x")
    assert await live_names(memory) == {"sea", "Mara", "Ben"}
    assert await live_events(memory) == set()
    mara = named_uid("default", "ctx", "thing", "Mara")
    graph = memory.standalone.graph
    assert await graph.expand("default", [mara], [("HAS_RELATIONSHIP", Direction.OUT)], 9) == []


async def test_retraction_retires_the_statements_and_names_of_an_item(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "Mara took the amulet because Edran slept."}, extract="rules")
    assert await live_events(memory)
    await memory.retract("x")
    assert await live_events(memory) == set()
    assert await live_names(memory) == set()
    assert await look_up(memory.standalone.graph, "default", ["mara"]) == {}


async def test_chains_close_the_gap_of_retracted_items(memory: Memory) -> None:
    stored = await memory.ingest(
        *({"id": str(n), "text": f"turn {n}", "speaker": "Ana"} for n in range(4)), flow_id="f"
    )
    assert await memory.retract("1", "2") == ["retracted", "retracted"]
    graph, first = memory.standalone.graph, stored.items[0].uid
    (after,) = await graph.expand("default", [first], [("NEXT", Direction.OUT)], 9)
    (later,) = await graph.expand("default", [first], [("HAPPENED_AFTER", Direction.IN)], 9)
    assert after.node.source_id == later.node.source_id == "3"


async def test_retraction_hides_an_item_retroactively_and_an_end_only_later(memory: Memory) -> None:
    await memory.ingest(
        {"id": "wrong", "text": "the harbour", "timestamp": "2026-01-01T00:00:00Z"},
        {"id": "ended", "text": "our harbour", "timestamp": "2026-01-01T00:00:00Z"},
    )
    before = now().isoformat()
    await asyncio.sleep(0.002)  # payloads know of milliseconds
    await memory.retract("wrong")
    await memory.retract("ended", ended_at="2026-02-01T00:00:00Z")
    assert await memory.found("harbour") == []
    assert await memory.found("harbour", as_of="2026-01-15T00:00:00Z") == ["ended"]
    assert await memory.found("harbour", as_of="2026-02-15T00:00:00Z") == []
    assert sorted(map(str, await memory.found("harbour", known_at=before))) == ["ended", "wrong"]


async def test_an_end_in_the_future_is_refused(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "one"})
    with pytest.raises(InvalidInputError, match="ended_at: lies in the future"):
        await memory.retract("x", ended_at=(now() + timedelta(hours=1)).isoformat())
    assert await memory.found("one") == ["x"]


async def test_more_ids_than_a_request_may_have_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="VICW_MAX_ITEMS"):
        await memory.retract(*map(str, range(1001)))


async def test_a_retracted_item_can_be_ingested_again(memory: Memory) -> None:
    item: dict[str, Any] = {"id": "x", "text": "one", "speaker": "Ana", "flow_id": "f", "extraction": AMULET}
    first = (await memory.ingest(item)).items[0]
    told = {"relations": [{"source": "$item", "type": "CAUSED", "target": "x"}]}
    await memory.ingest({"id": "y", "text": "why", "speaker": "Ana", "extraction": told})
    await memory.retract("x")
    assert "amulet" not in await live_names(memory)

    second = (await memory.ingest(item)).items[0]

    assert (second.status, second.uid != first.uid) == ("created", True)
    assert await memory.found("one") == ["x", "y"]
    assert {"amulet", "Ana"} <= await live_names(memory)
    (cause,) = await memory.standalone.graph.expand("default", [second.uid], [("CAUSED", Direction.IN)], 9)
    assert cause.node.source_id == "y", "what others say of an item is of whichever version is live"
    assert (await memory.ingest(item)).items[0].status == "unchanged"


async def test_edges_of_a_retracted_item_do_not_return_with_their_other_end(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "one", "speaker": "Ana"})
    told = {"relations": [{"source": "$item", "type": "CAUSED", "target": "x"}]}
    await memory.ingest({"id": "y", "text": "why", "speaker": "Ana", "extraction": told})
    await memory.retract("y")
    second = (await memory.ingest({"id": "x", "text": "two", "speaker": "Ana"})).items[0]
    assert await memory.standalone.graph.expand("default", [second.uid], [("CAUSED", Direction.IN)], 9) == []


async def test_a_retired_entity_returns_with_its_new_description(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "one", "extraction": AMULET})
    await memory.retract("x")
    await memory.ingest(
        {"id": "y", "text": "two", "extraction": {"entities": [{"name": "Amulet", "subtype": "artifact"}]}}
    )
    amulet = await named_node(memory, "artifact", "amulet")
    assert (amulet.retired_at, amulet.text, amulet.name) == (None, None, "Amulet")


async def test_an_entity_takes_the_description_of_a_remaining_item(memory: Memory) -> None:
    def telling(item: str, description: str | None) -> dict[str, Any]:
        told = {"name": "amulet", "subtype": "artifact"} | ({"description": description} if description else {})
        return {"id": item, "text": item, "extraction": {"entities": [told]}}

    async def described() -> str | None:
        return (await named_node(memory, "artifact", "amulet")).text

    await memory.ingest(telling("x", "cursed"))
    await memory.ingest(telling("y", None), telling("z", "sunken"))
    assert await described() == "cursed"
    await memory.ingest(telling("x", "blessed"))
    assert await described() == "sunken", "the first that is told by what is live"
    await memory.retract("z")
    assert await described() == "blessed"
    await memory.retract("x")
    assert await described() is None


async def test_a_retired_person_becomes_a_subject_again_when_named(memory: Memory) -> None:
    stored = await memory.ingest({"id": "x", "text": "one", "about": ["Ana"]})
    (ana,) = [node.uid for node in stored.items[0].nodes if node.name == "Ana"]
    await memory.retract("x")
    with pytest.raises(InvalidInputError, match="not the uid of a known person"):
        await memory.ingest({"id": "y", "text": "two", "about": [ana]})
    await memory.ingest({"id": "y", "text": "two", "about": ["Ana"], "sensitivity": "personal"})
    assert (await named_node(memory, "person", "Ana")).retired_at is None
    assert await memory.found("two", viewer={"user": "Ana"}) == ["y"]


async def test_a_piece_of_knowledge_is_nobody_whom_an_item_is_about(memory: Memory) -> None:
    stored = await memory.ingest({"id": "x", "text": "How to sail."})
    with pytest.raises(InvalidInputError, match="not the uid of a known person"):
        await memory.ingest({"id": "y", "text": "two", "about": [stored.items[0].uid]})


async def test_retraction_keeps_entities_merged_or_renamed_by_hand(memory: Memory) -> None:
    names = ("Ana", "A. Souza", "Ben", "Cid")
    await memory.ingest({"id": "x", "text": "one", "about": list(names)})
    ana, souza, ben, _ = [named_uid("default", "ctx", "person", name) for name in names]

    async def by_hand(transaction: GraphTransaction) -> None:
        merge = Edge(
            id=edge_id("MERGED_INTO", souza, ana),
            type="MERGED_INTO",
            source=souza,
            target=ana,
            weight=1.0,
            created_at=now(),
            created_by="caller",
        )
        await transaction.put_edges([merge])
        (renamed,) = (await transaction.nodes([ben])).values()
        await transaction.put_nodes([replace(renamed, name="Benjamin", aliases=("Ben",))])

    await memory.standalone.graph.write("default", "ctx", by_hand)
    await memory.retract("x")
    assert await live_names(memory) == {"Ana", "A. Souza", "Benjamin"}


async def test_retraction_keeps_an_event_that_another_item_proves(memory: Memory) -> None:
    told = {"entities": [{"name": "Mara"}], "events": [{"name": "theft"}]}
    told |= {"relations": [{"source": "Mara", "type": "INITIATED", "target": "theft"}]}
    first = await memory.ingest({"id": "x", "text": "one", "extraction": told})
    other = await memory.ingest({"id": "y", "text": "two"})
    (theft,) = [node.uid for node in first.items[0].nodes if node.name == "theft"]
    (proof,) = [node.uid for node in other.items[0].nodes]

    async def prove(transaction: GraphTransaction) -> None:
        uid = edge_id("EVIDENCED_BY", theft, proof)
        edge = Edge(id=uid, type="EVIDENCED_BY", source=theft, target=proof, weight=1, created_at=now(), created_by="t")
        await transaction.put_edges([edge])

    await memory.standalone.graph.write("default", "ctx", prove)
    await memory.retract("x")
    assert await live_events(memory) == {"theft"}
    await memory.retract("y")
    assert await live_events(memory) == set()


async def test_an_update_retires_names_that_are_no_longer_mentioned(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "one", "speaker": "Ana", "tags": ["draft"], "extraction": AMULET})
    await memory.ingest({"id": "x", "text": "two", "speaker": "Ana"})
    assert await live_names(memory) == {"Ana"}


async def test_a_retraction_can_be_sent_without_waiting(memory: Memory) -> None:
    memory.standalone.indexer.everything = False
    await memory.ingest({"id": "x", "text": "one"})
    assert await memory.retract("x", wait=False) == ["retracted"]
    assert await memory.found("one") == [], "the graph knows already"
    assert (await memory.standalone.graph.outbox.backlog()).waiting == 1
    assert await memory.retract("x") == ["already"]
    assert (await memory.standalone.graph.outbox.backlog()).waiting == 0
