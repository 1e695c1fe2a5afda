"""Events are consolidated into a Macro-Event and restored, on every pair of stores, over graphs made from texts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support.generators.example_count import TIMES
from support.generators.requests import RETRACTIONS, UPDATES
from support.stores.pairs import START, Clockwork, Side, asked_for, embedded
from vicw_core.consolidation.consolidate import ChangedError, ConsolidatedBatch, Consolidator
from vicw_core.consolidation.restore import RestoredItems, Restorer
from vicw_shared.errors import FixableError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.core5 import LEDGER
from vicw_shared.ports import Direction, Flow, FlowEvents, GraphTransaction

REGISTRY = EdgeRegistry.with_core_types()
_TEXTS = (
    "My sister Ana moved to Porto because Mara took the Sunken Amulet.",
    "Edran rode north after Mara left. Ana told Ben.",
    "I met Ben in Porto last Friday, so the build broke in src/app.py.",
    "We did not ship on 14 March 2025: 3 tests failed because of the cache.",
    "Nothing happened.",
)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def turn(number: int, text: str, **fields: Any) -> dict[str, Any]:
    told = {"id": str(number), "text": text, "speaker": ("Ana", "Ben")[number % 2], "flow_id": "f"}
    return told | {"timestamp": (START + timedelta(minutes=number)).isoformat()} | fields


async def tell(side: Side, turns: Sequence[dict[str, Any]], **fields: Any) -> None:
    await side.ingest({"context": "c", "extract": "rules", "items": list(turns)} | fields, "t", None)
    await side.indexer.drain()


async def thread(side: Side, flow: str = "f") -> list[Node]:
    return await side.graph.scan(FlowEvents(Flow("t", "c", flow)), limit=1000)


async def draft(
    side: Side, sources: Sequence[Node], summary: str = "What was said.", heavy: Sequence[str] = ()
) -> ConsolidatedBatch:
    proofs = [("EVIDENCED_BY", Direction.OUT)]
    found = await side.graph.expand("t", [source.uid for source in sources], proofs, 1000)
    return ConsolidatedBatch(tuple(sources), tuple(one.node for one in found), (summary,), "Summary", tuple(heavy))


async def consolidate(side: Side, what: ConsolidatedBatch, now: datetime = START) -> Node:
    async def work(transaction: GraphTransaction) -> Node:
        return await Consolidator(transaction, REGISTRY, now).consolidate(what)

    return await side.graph.write("t", what.sources[0].context, work)


async def restore(side: Side, macro: Node, now: datetime = START) -> RestoredItems:
    async def work(transaction: GraphTransaction) -> RestoredItems:
        return await Restorer(transaction, REGISTRY, now).restore(macro)

    done = await side.graph.write("t", macro.context, work)
    await side.vectors.delete(done.deleted_points)
    return done


def plain(nodes: Mapping[str, Node]) -> dict[str, Node]:
    return {uid: replace(node, indexed=True) for uid, node in nodes.items()}


def said(edges: Mapping[str, Edge]) -> set[tuple[str, str, str, str]]:
    return {(e.id, e.type, e.source, e.target) for e in edges.values()}


async def sound(side: Side) -> None:
    await side.indexer.drain()
    report = await side.check()
    assert (report.violations, report.waiting) == ([], 0)


async def test_a_macro_event_takes_the_place_of_its_five_sources(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n % 5]) for n in range(8)])
    before = await thread(side)
    macro = await consolidate(side, await draft(side, before[1:6]))
    assert [node.uid for node in await thread(side)] == [before[0].uid, macro.uid, before[6].uid, before[7].uid]
    assert (macro.timestamp, macro.flow_step, macro.arrival) == (before[5].timestamp, 6, before[5].arrival)
    nodes = await side.nodes()
    assert not {source.uid for source in before[1:6]} & nodes.keys(), "the details are gone"
    chunks = [node for node in nodes.values() if node.label is Label.CHUNK]
    assert {chunk.text for chunk in chunks} >= set(_TEXTS), "the proof is not"
    owners = await side.graph.owners("t", [chunk.uid for chunk in chunks])
    assert sorted(owner.uid for owner in owners.values()).count(macro.uid) == 6
    with pytest.MonkeyPatch.context():
        await side.graph.outbox.requeue([macro.qdrant_id or ""])
    await sound(side)


async def test_undoing_a_consolidation_restores_its_sources(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n % 5], tags=["trip"], about=["Ana"]) for n in range(7)])
    await side.ingest({"context": "d", "items": [turn(9, "Elsewhere.")]}, "t", None)
    await sound(side)
    nodes, edges, points = await side.nodes(), await side.edges(), await side.payloads()
    macro = await consolidate(side, await draft(side, (await thread(side))[:5]))
    await side.graph.outbox.requeue([macro.qdrant_id or ""])
    await sound(side)
    assert await side.nodes() != nodes
    done = await restore(side, macro)
    assert [item.source_id for item in done.items] == ["0", "1", "2", "3", "4"]
    await sound(side)
    assert plain(await side.nodes()) == plain(nodes)
    assert said(await side.edges()) == said(edges)
    assert {uid: e.properties for uid, e in (await side.edges()).items()} == {u: e.properties for u, e in edges.items()}
    assert await side.payloads() == points


async def test_a_consolidated_passage_keeps_words_and_statements_without_vector(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n]) for n in range(5)])
    sources = await thread(side)
    heavy = sources[3].qdrant_id or ""
    macro = await consolidate(side, await draft(side, sources, heavy=[heavy]))
    await side.graph.outbox.requeue([macro.qdrant_id or ""])
    await sound(side)
    light = [source.qdrant_id or "" for source in sources if source.qdrant_id != heavy]
    vectors = await side.vectors.dense([*light, heavy, macro.qdrant_id or ""])
    assert vectors.keys() == {heavy, macro.qdrant_id}
    assert await side.vectors.present(light) == set(light)
    payloads = await side.payloads()
    statements = {uid for uid, payload in payloads.items() if payload["label"] == "Event"}
    assert statements
    assert (await side.vectors.dense(sorted(statements))).keys() == statements
    assert payloads[light[0]]["source_id"] == "0"
    assert payloads[light[0]]["subtype"] == sources[0].subtype
    await side.graph.outbox.requeue(light)
    await sound(side)
    assert (await side.vectors.dense(light)).keys() == set(), "nor does it come back when it is indexed anew"


async def test_consolidation_moves_the_edges_of_its_sources_to_the_macro_event(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n]) for n in range(5)])
    sources = await thread(side)
    gone = {source.uid for source in sources}
    macro = await consolidate(side, await draft(side, sources))
    edges = (await side.edges()).values()
    assert not [e for e in edges if {e.source, e.target} & gone or e.properties.get("item") in gone]
    assert {"INITIATED", "MENTIONS", "EVIDENCED_BY", "BELONGS_TO"} <= {
        e.type for e in edges if macro.uid in {e.source, e.target}
    }
    assert [e for e in edges if e.type == "CAUSED" and e.properties.get("item") == macro.uid]


async def test_a_macro_event_is_consolidated_again_and_restored_by_level(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n % 5]) for n in range(8)])
    events = await thread(side)
    first = await consolidate(side, await draft(side, events[:3]))
    await side.graph.outbox.requeue([first.qdrant_id or ""])
    await sound(side)
    nodes, edges, points = await side.nodes(), await side.edges(), await side.payloads()
    higher = await consolidate(side, await draft(side, (await thread(side))[:3], "All of it."))
    assert (higher.metadata["level"], higher.metadata["steps"]) == (2, [[1, 5]])
    await side.graph.outbox.requeue([higher.qdrant_id or ""])
    await sound(side)
    await restore(side, higher)
    await sound(side)
    assert await side.payloads() == points
    assert plain(await side.nodes()) == plain(nodes)
    assert said(await side.edges()) == said(edges)
    await restore(side, first)
    assert [node.source_id for node in await thread(side)] == [str(n) for n in range(8)]
    await sound(side)


async def test_edges_added_to_a_macro_event_move_to_its_last_source(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n]) for n in range(5)])
    sources = await thread(side)
    macro = await consolidate(side, await draft(side, sources[:3]))
    (mention,) = [e for e in (await side.edges()).values() if e.type == "NEXT" and e.source == macro.uid]
    new = replace(mention, id=sources[0].uid, type="RELATED_TO", properties={"desc": "is like"}, created_by="somebody")

    async def relate(transaction: GraphTransaction) -> None:
        await transaction.put_edges([new])

    await side.graph.write("t", "c", relate)
    await restore(side, macro)
    (found,) = [e for e in (await side.edges()).values() if e.created_by == "somebody"]
    assert (found.source, found.target, found.properties) == (sources[2].uid, new.target, new.properties)


async def test_an_edge_dropped_after_consolidation_stays_dropped(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n]) for n in range(5)])
    macro = await consolidate(side, await draft(side, await thread(side)))
    dropped = [e for e in (await side.edges()).values() if e.type == "INITIATED" and e.target == macro.uid]
    assert dropped

    async def take_back(transaction: GraphTransaction) -> None:
        await transaction.drop_edges(dropped)

    await side.graph.write("t", "c", take_back)
    done = await restore(side, macro)
    back = {item.uid for item in done.items}
    assert not [e for e in (await side.edges()).values() if e.type == "INITIATED" and e.target in back]


async def test_a_batch_with_a_changed_source_is_not_consolidated(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n]) for n in range(5)])
    sources = await thread(side)
    what = await draft(side, sources)
    await tell(side, [turn(2, "Something else entirely.")])
    nodes = await side.nodes()
    with pytest.raises(ChangedError, match="changed since"):
        await consolidate(side, what)
    assert await side.nodes() == nodes
    with pytest.raises(ChangedError):
        await consolidate(
            side, replace(what, sources=tuple(sources[:2]), passages=(replace(what.passages[0], text="x"),))
        )


async def status(side: Side, *turns: dict[str, Any]) -> list[str]:
    response = await side.ingest({"context": "c", "extract": "rules", "items": list(turns)}, "t", None)
    return [item.status.value for item in response.items]


async def test_a_batch_with_a_missing_passage_is_not_consolidated(side: Side) -> None:
    await tell(side, [turn(n, " ".join(_TEXTS)) for n in range(3)])
    what = await draft(side, await thread(side))
    assert len(what.passages) > 3
    nodes, edges = await side.nodes(), await side.edges()
    with pytest.raises(ChangedError, match="1 of its passages were not read"):
        await consolidate(side, replace(what, passages=what.passages[1:]))
    assert (await side.nodes(), await side.edges()) == (nodes, edges)


async def test_a_consolidated_item_that_is_sent_again_is_unchanged(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n]) for n in range(5)])
    events = await thread(side)
    macro = await consolidate(side, await draft(side, events))
    nodes = await side.nodes()
    again = {"context": "c", "extract": "rules", "items": [turn(2, _TEXTS[2])]}
    response = await side.ingest(again, "t", None)
    assert [(item.uid, item.status.value) for item in response.items] == [(events[2].uid, "unchanged")]
    assert await side.nodes() == nodes
    assert [node.uid for node in await thread(side)] == [macro.uid]


async def test_updating_a_consolidated_item_restores_its_batch_first(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n]) for n in range(5)])
    before = await thread(side)
    macro = await consolidate(side, await draft(side, before))
    await side.graph.outbox.requeue([macro.qdrant_id or ""])
    await sound(side)
    assert await status(side, turn(2, "Ben has left."), turn(3, _TEXTS[3])) == ["updated", "unchanged"]
    await sound(side)
    events = await thread(side)
    assert [event.source_id for event in events] == ["0", "1", "2", "3", "4"]
    assert [event.version for event in events] == [1, 1, 2, 1, 1]
    assert (await side.vectors.dense([event.qdrant_id or "" for event in events])).keys() == {
        event.qdrant_id for event in events
    }


_LONG = "The telescope of the old observatory in Porto was sold to Ben last Friday."


async def test_new_tags_alone_update_a_consolidated_item(side: Side) -> None:
    await tell(side, [turn(n, _LONG if n == 4 else _TEXTS[n], speaker="Ana") for n in range(5)])
    macro = await consolidate(side, await draft(side, await thread(side)))
    await side.graph.outbox.requeue([macro.qdrant_id or ""])
    await sound(side)
    assert await status(side, turn(4, _LONG, speaker="Ana", tags=["sold"])) == ["updated"]
    await sound(side)
    assert [event.version for event in await thread(side)] == [1, 1, 1, 1, 2]
    assert not [edge for edge in (await side.edges()).values() if edge.type == "DERIVED_FROM"]


async def test_a_copy_of_a_restored_item_is_linked_to_it(side: Side) -> None:
    await tell(side, [turn(n, _LONG if n == 2 else _TEXTS[n]) for n in range(5)])
    events = await thread(side)
    macro = await consolidate(side, await draft(side, events))
    await side.graph.outbox.requeue([macro.qdrant_id or ""])
    await sound(side)
    said = {"id": "9", "text": _LONG, "speaker": "assistant", "flow_id": "f"}
    again = {"context": "c", "extract": "rules", "items": [turn(3, "Ben has left."), said]}
    response = await side.ingest(again, "t", None)
    assert [item.status.value for item in response.items] == ["updated", "linked"]
    assert [source.uid for source in response.items[1].sources] == [events[2].uid]
    await sound(side)


async def test_retracting_a_consolidated_item_restores_its_batch_first(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n % 5]) for n in range(6)])
    first = await consolidate(side, await draft(side, (await thread(side))[:3]))
    await consolidate(side, await draft(side, (await thread(side))[:3]))
    assert first.uid not in {event.uid for event in await thread(side)}
    done = await side.retract({"context": "c", "ids": ["1", "nobody"]}, "t")
    assert [item.status.value for item in done.items] == ["retracted", "unknown"]
    await sound(side)
    assert [event.source_id for event in await thread(side)] == ["0", "2", "3", "4", "5"], "level by level"
    assert [item.status.value for item in (await side.retract({"context": "c", "ids": ["1"]}, "t")).items] == [
        "already"
    ]
    assert await status(side, turn(1, _TEXTS[1])) == ["created"]
    await sound(side)


async def test_a_late_event_restores_the_macro_events_it_falls_into(side: Side) -> None:
    await tell(side, [turn(n, _TEXTS[n % 5]) for n in range(8)])
    first = await consolidate(side, await draft(side, (await thread(side))[:3]))
    higher = await consolidate(side, await draft(side, (await thread(side))[:3], "All of it."))
    last = await consolidate(side, await draft(side, (await thread(side))[1:4], "The rest."))
    await side.graph.outbox.requeue([one.qdrant_id or "" for one in (first, higher, last)])
    await sound(side)
    between = (START + timedelta(minutes=1, seconds=30)).isoformat()
    earlier = (START - timedelta(days=1)).isoformat()
    late = [turn(8, "Cleo came late.", timestamp=between), turn(9, "It was dark.", timestamp=earlier)]
    assert await status(side, *late) == ["created", "created"]
    await sound(side)
    *events, end = await thread(side)
    assert [event.source_id for event in events] == ["9", "0", "1", "8", "2", "3", "4"]
    assert end.uid == last.uid, "what nothing came between stays as it is"


_STEP = (
    st.builds(
        lambda request, texts: (
            request
            | {
                "context": "c",
                "extract": "rules",
                "items": [i | {"text": t, "flow_id": "f"} for i, t in zip(request["items"], texts, strict=False)],
            }
        ),
        UPDATES,
        st.lists(st.sampled_from(_TEXTS), min_size=3, max_size=3),
    )
    | RETRACTIONS.map(lambda request: request | {"context": "c"})
    | st.tuples(st.integers(0, 6), st.integers(2, 5))
)


@pytest.mark.timeout(1800)
def test_random_updates_around_consolidations_keep_the_graph_restorable(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clockwork()
    clock.install(monkeypatch)
    store.mkdir()

    async def run(steps: Sequence[Any]) -> None:
        async with embedded(store) as side:
            for step in steps:
                clock.next_operation()
                clock.next_side()
                if not isinstance(step, tuple):
                    with suppress(FixableError):
                        await (side.ingest(step, "t", None) if "items" in step else side.retract(step, "t"))
                    continue
                start, count = step
                sources = [node for node in (await thread(side))[start : start + count] if not node.is_duplicate]
                if len(sources) < 2:
                    continue
                nodes, edges = await side.nodes(), await side.edges()
                macro = await consolidate(side, await draft(side, sources), clock.now)
                await restore(side, macro, clock.now)
                assert plain(await side.nodes()) == plain(nodes)
                assert said(await side.edges()) == said(edges)
                macro = await consolidate(side, await draft(side, sources), clock.now)
                await side.graph.outbox.requeue([macro.qdrant_id or ""])
            await sound(side)
            texts = {node.text for node in (await side.nodes()).values() if node.label is Label.CHUNK}
            while macros := [node for node in await thread(side) if node.is_macro]:
                for macro in macros:
                    await restore(side, macro, clock.now)
            await sound(side)
            nodes_now = (await side.nodes()).values()
            assert not [node for node in nodes_now if LEDGER in node.metadata]
            assert {node.text for node in nodes_now if node.label is Label.CHUNK} >= texts - {"What was said."}

    with asyncio.Runner() as runner:

        @settings(
            max_examples=60 * TIMES,
            phases=[Phase.generate],
            database=None,
            derandomize=TIMES == 1,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(_STEP, min_size=3, max_size=9))
        def told(steps: list[Any]) -> None:
            runner.run(run(steps))

        told()
