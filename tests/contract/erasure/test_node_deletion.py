"""What every GraphStore does with nodes that go for good, with consolidated items, and with the sleep cycle's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_core.step_pages import place_before
from vicw_shared.model import Label, Node
from vicw_shared.model.chain import next_key
from vicw_shared.model.core5 import LEDGER
from vicw_shared.ports import Edges, Flow, FlowEvents, Flows, GraphTransaction, MaintenanceStep, Outcome, Steps, look_up
from vicw_shared.uids import make_uid


async def drop(graph: Graph, *names: str, tenant: str = "t") -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.drop_nodes([make_uid(name) for name in names])

    await graph.write(tenant, "c", work)


async def existing_names(graph: Graph, *names: str) -> set[str]:
    return {found.name for found in (await graph.nodes("t", [make_uid(name) for name in names])).values()}


async def test_dropping_a_node_removes_its_edges_names_and_trigger_phrases(graph: Graph) -> None:
    turn = node("turn", Label.EVENT, content_hash="h", trigger_phrases=("deploy",), source_id="1")
    await put(
        graph, [turn, node("Ana"), node("Ben")], [edge("INITIATED", "Ana", "turn"), edge("RELATED_TO", "Ana", "Ben")]
    )
    await drop(graph, "turn", "Ana", "nobody")
    assert await existing_names(graph, "turn", "Ana", "Ben") == {"Ben"}
    assert await graph.triggered("t", ["deploy"], limit=9) == []
    assert await look_up(graph, "t", ["ana", "ben"]) == {"ben": [node("Ben")]}
    assert await graph.items("t", "1", ["c"]) == []
    assert await graph.scan(Edges(), limit=9) == []
    await put(graph, [turn])
    assert await existing_names(graph, "turn") == {"turn"}, "its uid is free again"


async def test_a_tenant_cannot_drop_another_tenants_nodes(graph: Graph) -> None:
    await put(graph, [node("Ana")])
    await drop(graph, "Ana", tenant="u")
    assert await existing_names(graph, "Ana") == {"Ana"}


async def test_a_dropped_passage_leaves_outbox_and_pending_extractions(graph: Graph) -> None:
    chunk = node("passage", Label.CHUNK, text="the amulet", qdrant_id=make_uid("passage"))
    turn = node("turn", Label.EVENT, content_hash="h", qdrant_id=chunk.uid)
    await put(graph, [chunk, turn], [edge("EVIDENCED_BY", "turn", "passage")])

    async def unread(transaction: GraphTransaction) -> None:
        await transaction.queue_extractions([turn.uid])

    await graph.write("t", "c", unread)
    await drop(graph, "passage", "turn")
    assert [point.point_id for point in await graph.outbox.claim(9, seconds=5)] == []
    assert await graph.pending_extractions.claim(9, seconds=5) == []
    assert await graph.owners("t", [chunk.uid]) == {}
    assert (await graph.outbox.backlog()).waiting == 0


async def test_dropping_a_tag_requeues_the_payloads_that_carry_it(graph: Graph) -> None:
    chunk = node("passage", Label.CHUNK, text="x", qdrant_id=make_uid("passage"), indexed=True)
    turn = node("turn", Label.EVENT, content_hash="h", qdrant_id=chunk.uid)
    tag = node("magic", Label.CONCEPT, subtype="tag")
    await put(graph, [chunk, turn, tag], [edge("EVIDENCED_BY", "turn", "passage"), edge("TAGGED", "turn", "magic")])
    await graph.outbox.acknowledge(await graph.outbox.claim(9, seconds=5))
    await drop(graph, "magic")
    (point,) = await graph.outbox.claim(9, seconds=5)
    assert (point.point_id, point.tags) == (chunk.uid, ())


async def consolidated(graph: Graph, ids: Sequence[str], context: str = "c") -> dict[str, str]:
    async def work(transaction: GraphTransaction) -> dict[str, str]:
        return {key: found.name for key, found in (await transaction.consolidated(ids)).items()}

    return await graph.write("t", context, work)


async def test_a_consolidated_item_is_found_by_its_id_in_its_context(graph: Graph) -> None:
    first = node("one", Label.CHUNK, text="x", source_id="1", metadata={LEDGER: "…"})
    await put(
        graph,
        [
            first,
            replace(first, uid=make_uid("two"), name="two", version=2),
            node("rest", Label.CHUNK, text="y", source_id="1", version=3),
            node("other", Label.CHUNK, text="z", source_id="2", metadata={"light": True}),
            node("item", Label.EVENT, content_hash="h", source_id="3", metadata={LEDGER: "a caller's"}),
        ],
    )
    assert await consolidated(graph, ["1", "2", "3", "4"]) == {"1": "two"}, "the latest version, of passages alone"
    assert await consolidated(graph, ["1"], context="elsewhere") == {}
    assert await consolidated(graph, []) == {}
    await put(graph, [replace(first, uid=make_uid("two"), name="two", version=2, metadata={})])
    assert await consolidated(graph, ["1"]) == {"1": "one"}


def step(number: int, **fields: object) -> MaintenanceStep:
    base = MaintenanceStep(
        id=f"s{number}",
        tenant="t",
        context="c",
        task="consolidate",
        outcome=Outcome.DONE,
        at=AT + timedelta(minutes=number),
        subject=make_uid(str(number)),
        details={"sources": [number, "ä"]},
    )
    return replace(base, **fields)  # type: ignore[arg-type]


async def log(graph: Graph, *steps: MaintenanceStep) -> None:
    async def work(transaction: GraphTransaction) -> None:
        for one in steps:
            await transaction.log_step(one)

    await graph.write("t", "c", work)


async def test_maintenance_steps_are_listed_unchanged_latest_first(graph: Graph) -> None:
    steps = [step(n, task=("consolidate", "dream")[n % 2], tenant=("t", "u")[n // 4]) for n in range(6)]
    await log(graph, *steps)
    assert await graph.scan(Steps(), limit=9) == steps[::-1]
    assert await graph.scan(Steps(tenant="t"), limit=2) == [steps[3], steps[2]]
    assert await graph.scan(Steps(tenant="t", task="dream"), limit=9) == [steps[3], steps[1]]
    assert await graph.scan(Steps(tenant="t"), after=steps[2], limit=9) == [steps[1], steps[0]]
    assert await graph.scan(Steps(tenant="t", oldest_first=True), limit=3) == steps[:3]
    forward = Steps(tenant="t", task="dream", oldest_first=True)
    assert await graph.scan(forward, after=place_before(steps[1].at), limit=9) == [steps[1], steps[3]]
    assert await graph.scan(forward, after=steps[1], limit=9) == [steps[3]]
    assert await graph.log.step("s3") == steps[3]
    assert await graph.log.step("none") is None


async def test_an_undone_maintenance_step_keeps_its_place_in_the_log(graph: Graph) -> None:
    await log(graph, step(1), step(2))
    undone = step(1, outcome=Outcome.UNDONE, at=AT + timedelta(hours=1), reason="somebody asked for it")
    await log(graph, undone)
    assert await graph.scan(Steps(tenant="t"), limit=9) == [undone, step(2)]


async def test_maintenance_steps_with_equal_timestamps_are_paged_without_loss(graph: Graph) -> None:
    steps = [step(n, at=AT) for n in range(5)]
    await log(graph, *steps)
    paged, before = [], None
    while page := await graph.scan(Steps(tenant="t"), after=before, limit=2):
        paged += page
        before = page[-1]
    assert paged == steps[::-1]


async def test_a_maintenance_step_is_rolled_back_with_its_transaction(graph: Graph) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.log_step(step(1))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await graph.write("t", "c", work)
    assert await graph.scan(Steps(), limit=9) == []


def event(flow: str, step: int, context: str = "c", tenant: str = "t", **fields: object) -> Node:
    name = f"{tenant} {context} {flow} {step}"
    at = AT + timedelta(minutes=step)
    kept = {"context": context, "tenant": tenant, "flow_id": flow, "flow_step": step, "arrival": step, "timestamp": at}
    return node(name, Label.EVENT, content_hash="h", **{**kept, **fields})


async def test_flows_are_listed_once_each_and_paged(graph: Graph) -> None:
    flows = [("t", "c", "a"), ("t", "c", "b"), ("t", "d", "a"), ("u", "c", "a")]
    for tenant, context, flow in flows:

        async def work(transaction: GraphTransaction, at: tuple[str, str, str] = (flow, context, tenant)) -> None:
            await transaction.put_nodes([event(at[0], step, at[1], at[2]) for step in (1, 2, 3)])

        await graph.write(tenant, context, work)
    await put(graph, [event("gone", 1, retired_at=AT), node("no flow", Label.EVENT, content_hash="h")])
    found: list[Flow] = []
    while page := await graph.scan(Flows(), after=found[-1] if found else None, limit=3):
        found += page
    assert sorted((flow.tenant, flow.context, flow.flow_id) for flow in found) == flows
    assert len(await graph.scan(Flows(), limit=1)) == 1
    within = [Flow("t", "c", "a"), Flow("t", "c", "b")]
    assert sorted(await graph.scan(Flows(("t", "c")), limit=9), key=lambda flow: flow.flow_id) == within
    (first,) = await graph.scan(Flows(("t", "c")), limit=1)
    (second,) = await graph.scan(Flows(("t", "c")), after=first, limit=9)
    assert {first, second} == set(within)
    assert await graph.scan(Flows(("t", "c")), after=second, limit=9) == []
    assert await graph.scan(Flows(("u", "d")), limit=9) == []


async def test_flow_events_are_paged_past_a_deleted_event(graph: Graph) -> None:
    events = [event("f", step, own_step=step if step > 3 else None) for step in range(1, 7)]
    await put(graph, events)
    order = await graph.scan(FlowEvents(Flow("t", "c", "f")), limit=9)
    assert [one.flow_step for one in order] == [4, 5, 6, 1, 2, 3], "the caller's own steps come first"
    await drop(graph, order[2].name)
    assert await graph.scan(FlowEvents(Flow("t", "c", "f")), limit=2, after=next_key(order[2])) == order[3:5]
    assert await graph.scan(FlowEvents(Flow("t", "c", "f")), limit=9, after=next_key(order[5])) == []
