"""Parts of the read path that hang, fail, or bring nonsense: the answer stands, in time, and tells what it lacks."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from support.stores.memory import Memory, open_memory
from vicw_shared.errors import OverloadedError, UnavailableError
from vicw_shared.model import Edge, Label
from vicw_shared.ports import Neighbour, ScoreQuery, VectorHit, VectorQuery, WeightedNeighbour, look_up
from vicw_shared.settings import RetrievalSettings
from vicw_shared.uids import edge_id, make_uid

ITEMS = (
    {"id": "a", "text": "The harbour was closed because the storm broke the crane.", "speaker": "Ana", "tags": ["sea"]},
    {"id": "b", "text": "Ben repaired the crane of the harbour.", "speaker": "Ben", "tags": ["sea"]},
    {"id": "c", "text": "The Crane is a page about cranes.", "name": "The Crane", "subtype": "page"},
)
QUERY = "Why was the harbour closed?"
BUDGET_MS, SPREAD_MS = 400, 100
ASLEEP_MS = 2500
WITHIN = 5.0
SLACK = 4.0
"""What the work itself may take on a busy machine, in seconds."""
HUB = 50_000


async def hang(*_: Any, **__: Any) -> NoReturn:
    await asyncio.sleep(4 * WITHIN)  # what works in the background meets it, too, and has to come to an end
    raise UnavailableError("graph", "hangs")


async def fill(memory: Memory) -> None:
    """Store the items. Those who ask have all the time they need: a busy machine is not the part that fails."""
    await memory.ingest(*ITEMS, flow_id="f", extract="rules", wait=True)


async def fill_with_short_time_limits(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store the items. Those who ask have little time."""
    await fill(memory)
    await memory.retrieve(QUERY)  # what the engines do once is done
    settings = RetrievalSettings(channel_ms=BUDGET_MS, spread_ms=SPREAD_MS, graph_ms=BUDGET_MS)
    ports = replace(memory.standalone.retrieval_ports(), settings=settings)
    monkeypatch.setattr(memory.standalone, "retrieval_ports", lambda: ports)


GRAPH_OPERATIONS = ["find_names", "expand", "weighted_neighbours", "nodes", "owners", "triggered"]
VECTOR_OPERATIONS = ["domains", "search"]


@pytest.mark.parametrize(
    ("engine", "operation"),
    [*(("graph", name) for name in GRAPH_OPERATIONS), *(("vectors", name) for name in VECTOR_OPERATIONS)],
)
async def test_an_answer_comes_within_the_time_budget_whichever_operation_hangs(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, engine: str, operation: str
) -> None:
    await fill_with_short_time_limits(memory, monkeypatch)
    monkeypatch.setattr(getattr(memory.standalone, engine), operation, hang)
    begun = time.monotonic()
    answer = await memory.retrieve(QUERY)
    assert time.monotonic() - begun < 2 * BUDGET_MS / 1000 + SLACK
    assert answer.results[0].id == "a"
    assert answer.degraded


async def test_repeated_slow_vector_calls_do_not_exceed_the_total_time(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(memory)
    ports = memory.standalone.retrieval_ports()
    settings = ports.settings.model_copy(update={"channel_ms": 2 * ASLEEP_MS, "total_ms": BUDGET_MS})
    ports = replace(ports, settings=settings)
    monkeypatch.setattr(memory.standalone, "retrieval_ports", lambda: ports)
    vectors = memory.standalone.vectors
    for name in VECTOR_OPERATIONS:
        monkeypatch.setattr(vectors, name, delayed(getattr(vectors, name)))
    begun = time.monotonic()
    with contextlib.suppress(UnavailableError):
        await memory.retrieve(QUERY, limit=50)
    assert time.monotonic() - begun < BUDGET_MS / 1000 + SLACK


def delayed(operation: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return an operation that sleeps for a while, less than a channel may, before it works."""

    async def call(*args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(ASLEEP_MS / 1000)
        return await operation(*args, **kwargs)

    return call


@pytest.mark.parametrize("operation", ["find_names", "expand"])
async def test_a_graph_hanging_in_the_second_wave_is_given_up_in_time(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    await fill_with_short_time_limits(memory, monkeypatch)
    monkeypatch.setattr(memory.standalone.graph, operation, hang)
    begun = time.monotonic()
    answer = await memory.retrieve(QUERY)
    assert time.monotonic() - begun < WITHIN
    assert answer.results[0].id == "a"
    assert "graph" in answer.degraded


@pytest.mark.parametrize("error", [UnavailableError("graph", "gone"), OverloadedError("no room", dependency="graph")])
@pytest.mark.parametrize("operation", ["find_names", "expand"])
async def test_a_graph_failure_in_the_second_wave_keeps_the_best_result(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, operation: str, error: Exception
) -> None:
    async def fail(*_: Any, **__: Any) -> NoReturn:
        raise error

    await fill(memory)
    monkeypatch.setattr(memory.standalone.graph, operation, fail)
    answer = await memory.retrieve(QUERY)
    assert answer.results[0].id == "a"
    assert "graph" in answer.degraded


_AT_ONCE = {"merge_duplicates", "prefer_recent", "infer", "analyse_time"}
"""Stages that wait for nothing."""


@pytest.mark.parametrize(
    ("place", "name", "stage"),
    [
        ("channels.graph.channel", "lift", "graph"),
        ("channels.graph.channel", "reach_named_pages", "graph"),
        ("channels.graph.channel", "reach_memories", "graph"),
        ("refine.pipeline", "rank_by_time", "time"),
        ("refine.pipeline", "merge_duplicates", "near_duplicates"),
        ("refine.pipeline", "prefer_current", "current"),
        ("channels.tags", "walk_tags", "tags"),
        ("search.item_search", "seeds_of", "graph"),
        ("pipeline", "analyse_time", "time"),
        ("refine.pipeline", "prefer_recent", "recent"),
        ("search.first_wave", "infer", "domain"),
        ("synthesis.expansion", "expand", "expand"),
        ("synthesis.expansion", "with_adjacent", "expand"),
        ("synthesis.expansion", "find_chains", "causal_chains"),
    ],
)
async def test_a_stage_that_raises_is_skipped_and_alone_degraded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, place: str, name: str, stage: str
) -> None:
    async def mistake(*_: Any, **__: Any) -> NoReturn:
        raise KeyError("no such item")

    def at_once(*_: Any, **__: Any) -> NoReturn:
        raise KeyError("no such item")

    await fill(memory)
    monkeypatch.setattr(f"vicw_retrieval.{place}.{name}", at_once if name in _AT_ONCE else mistake)
    questions = {"time": f"{QUERY} Today?", "recent": "Why is the harbour closed right now?"}
    answer = await memory.retrieve(questions.get(stage, QUERY))
    assert answer.results[0].id == "a"
    assert answer.degraded == (stage,)


async def test_passages_that_no_item_has_are_left_out(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(memory)
    vectors = memory.standalone.vectors
    search, score = vectors.search, vectors.score

    async def lie(query: Any) -> Sequence[VectorHit]:
        return [*(VectorHit(make_uid(f"nobody {n}"), 9.0 + n) for n in range(50)), *await search(query)]

    monkeypatch.setattr(vectors, "search", lie)
    monkeypatch.setattr(vectors, "score", score)
    answer = await memory.retrieve(QUERY)
    assert {result.id for result in answer.results} <= {"a", "b", "c"}
    assert answer.results[0].id == "a"


@pytest.mark.parametrize("hit", [VectorHit("not-a-uid", 9.0), VectorHit(make_uid("a"), float("nan"))])
@pytest.mark.parametrize("channel", ["bm25", "dense"])
async def test_invalid_ids_and_scores_are_dropped_and_their_channel_degraded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, channel: str, hit: VectorHit
) -> None:
    await fill(memory)
    search = memory.standalone.vectors.search

    async def lie(query: VectorQuery) -> Sequence[VectorHit]:
        lies = (query.sparse is not None) == (channel == "bm25") and query.label is not Label.EVENT
        return [*([hit] if lies else []), *await search(query)]

    monkeypatch.setattr(memory.standalone.vectors, "search", lie)
    answer = await memory.retrieve(QUERY)
    assert answer.results[0].id == "a"
    assert {result.id for result in answer.results} <= {"a", "b", "c"}
    assert answer.degraded == (channel,)


async def test_a_channel_that_raises_is_skipped_and_alone_degraded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(memory)
    search = memory.standalone.vectors.search

    async def break_down(query: VectorQuery) -> Sequence[VectorHit]:
        if query.sparse is not None:
            raise RuntimeError("a mistake")
        return await search(query)

    monkeypatch.setattr(memory.standalone.vectors, "search", break_down)
    answer = await memory.retrieve(QUERY)
    assert {result.id for result in answer.results} == {"a", "b", "c"}
    assert answer.degraded == ("bm25",)


async def test_an_error_in_cross_scoring_keeps_the_channels_hits(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(memory)
    await memory.ingest({"id": "far", "text": "Nobody sings."})

    score = memory.standalone.vectors.score

    async def mistaken(queries: Sequence[ScoreQuery]) -> list[dict[str, float]]:
        if len(queries) == 2:  # both channels': what comes later asks by one
            raise RuntimeError("no such row")
        return await score(queries)

    monkeypatch.setattr(memory.standalone.vectors, "score", mistaken)
    answer = await memory.retrieve(QUERY)
    assert answer.results[0].id == "a"
    assert answer.degraded
    assert set(answer.degraded) <= {"dense", "bm25"}


async def test_a_nan_score_degrades_its_channel_and_keeps_the_order(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(memory)
    await memory.ingest({"id": "far", "text": "Nobody sings."})
    before = await memory.retrieve(QUERY)
    score = memory.standalone.vectors.score

    async def lie(queries: Sequence[ScoreQuery]) -> list[dict[str, float]]:
        *first, lexical = await score(queries)
        return [*first, {**lexical, queries[1].ids[0]: float("nan")} if len(queries) == 2 else lexical]

    monkeypatch.setattr(memory.standalone.vectors, "score", lie)
    answer = await memory.retrieve(QUERY)
    assert [result.id for result in answer.results] == [result.id for result in before.results]
    assert answer.degraded == ("bm25",)


async def test_edges_to_unknown_nodes_are_ignored(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(memory)
    graph = memory.standalone.graph
    expand, leads = graph.expand, graph.weighted_neighbours

    async def twist(tenant: str, uids: Sequence[str], *rest: Any, **more: Any) -> list[Neighbour]:
        found = await expand(tenant, uids, *rest, **more)
        return [one._replace(node=replace(one.node, uid=make_uid(one.node.uid), qdrant_id=None)) for one in found]

    async def mislead(tenant: str, uids: Sequence[str], *rest: Any, **more: Any) -> list[WeightedNeighbour]:
        return [lead._replace(uid=make_uid(lead.uid)) for lead in await leads(tenant, uids, *rest, **more)]

    monkeypatch.setattr(graph, "expand", twist)
    monkeypatch.setattr(graph, "weighted_neighbours", mislead)
    answer = await memory.retrieve(QUERY)
    assert {result.id for result in answer.results} <= {"a", "b", "c"}
    assert answer.results[0].id == "a"


async def test_a_hub_of_fifty_thousand_edges_neither_slows_nor_changes_answers(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest(*ITEMS, flow_id="f", extract="rules", wait=True)
        graph = memory.standalone.graph
        before = await memory.retrieve("What did Ben repair?", explain=True)
        (ben,) = (await look_up(graph, memory.tenant, ["ben"]))["ben"]
        item = (await graph.nodes(memory.tenant, [before.results[0].uid]))[before.results[0].uid]
        told = [
            replace(
                item, uid=make_uid(f"deed {n}"), name=f"deed {n}", content_hash=None, qdrant_id=None, source_id=None
            )
            for n in range(HUB)
        ]
        edges = [
            Edge(
                id=edge_id("INITIATED", ben.uid, n.uid),
                type="INITIATED",
                source=ben.uid,
                target=n.uid,
                weight=0.5,
                created_at=item.created_at,
                created_by="test",
            )
            for n in told
        ]

        async def write(transaction: Any) -> None:
            await transaction.put_nodes(told)
            await transaction.put_edges(edges)

        await graph.write(memory.tenant, item.context, write)
        begun = time.monotonic()
        after = await memory.retrieve("What did Ben repair?", explain=True)
        assert time.monotonic() - begun < WITHIN
        assert [result.id for result in after.results] == [result.id for result in before.results]
        assert after.degraded == ()
        assert len(after.graph.nodes) < 200
        assert len(after.text) <= 8000


@pytest.mark.parametrize(
    "fields",
    [{"context": "nowhere"}, {"domain": "nothing"}, {"tags": {"all": ["none"]}}, {"as_of": "1999-01-01T00:00:00Z"}],
)
async def test_filters_that_match_nothing_give_an_empty_answer(memory: Memory, fields: dict[str, Any]) -> None:
    items = [{**item, "timestamp": "2026-01-01T10:00:00Z"} for item in ITEMS]
    await memory.ingest(*items, flow_id="f", extract="rules", wait=True)
    answer = await memory.retrieve(QUERY, **fields)
    assert (answer.results, answer.graph.nodes, answer.graph.edges, answer.text) == ((), (), (), "")
    assert answer.degraded == ()


async def test_a_viewer_without_rights_sees_nothing(memory: Memory) -> None:
    items = [{**item, "sensitivity": "sensitive", "about": ["Ana"]} for item in ITEMS]
    await memory.ingest(*items, flow_id="f", extract="rules", wait=True)
    assert (await memory.retrieve(QUERY, viewer={"user": "Ana", "chat": "private"})).results
    for viewer in ({"user": "Mallory"}, {"user": "Ana", "chat": "group"}):
        answer = await memory.retrieve(QUERY, viewer=viewer, explain=True)
        assert (answer.results, answer.graph.nodes, answer.text) == ((), (), "")
        assert answer.explain is not None
        assert not any(answer.explain.channels.values())
