"""The check, page by page, comes to what one look at everything does, on both pairs of stores, in bounded memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from support.fakes.hash_embedder import SIZE
from support.generators.example_count import TIMES
from support.stores.graph_records import AT, edge, node, put
from support.stores.invariants import violations_of
from support.stores.pairs import START, Side, asked_for, embedded
from vicw_core.index.points import payload_of
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.ports import GraphTransaction, Lane, Nodes, Passages, Point
from vicw_shared.uids import edge_id
from vicw_sleep.check.flow_steps import gaps
from vicw_sleep.check.service import CheckLimits, check

_SECONDS_APART = 60
_SMALL_PAGES = CheckLimits(page=4)
"""Everything of interest falls between two pages."""


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as side:
        yield side


async def fill(side: Side) -> None:
    """Two contexts of two flows each, with late items, new versions, one of them in another flow, and a document."""
    for context in ("home", "work"):
        for flow, other in (("f", "g"), ("g", "f")):
            items = [
                {
                    "id": f"{flow}{number}",
                    "text": f"harbour {number}",
                    "speaker": "Ana",
                    "timestamp": (START + timedelta(seconds=_SECONDS_APART * (number * 7 % 11))).isoformat(),
                }
                for number in range(6)
            ]
            await side.ingest({"context": context, "flow_id": flow, "items": items}, "t", None)
            changed = [{"id": f"{flow}{number}", "text": "changed", "speaker": "Ben"} for number in (1, 5)]
            await side.ingest({"context": context, "flow_id": flow, "items": changed[:1]}, "t", None)
            await side.ingest({"context": context, "flow_id": other, "items": changed[1:]}, "t", None)
        document = {"id": "document", "text": "a long paper", "tags": ["sea"]}
        await side.ingest({"context": context, "items": [document]}, "t", None)
    await side.indexer.drain()


Break = Callable[["Breaker"], Awaitable[None]]


class Breaker:
    """Breaks a store as no request can."""

    def __init__(self, side: Side, seed: int) -> None:
        self.side = side
        self.draw = random.Random(seed)

    async def write(self, work: Callable[[GraphTransaction], Awaitable[None]]) -> None:
        await self.side.graph.write("t", "home", work)

    async def event(self) -> Node:
        events = [found for found in (await self.side.nodes()).values() if found.arrival is not None]
        return self.draw.choice(sorted(events, key=lambda event: event.uid))

    async def drop(self, *types: str) -> None:
        edges = [found for found in (await self.side.edges()).values() if found.type in types]
        await self.write(lambda t: t.drop_edges([self.draw.choice(sorted(edges, key=lambda found: found.id))]))

    async def join(self, kind: str, source: Node, target: Node) -> None:
        one = edge(kind, "", "")
        one = replace(one, id=edge_id(kind, source.uid, target.uid), source=source.uid, target=target.uid)
        await self.write(lambda t: t.put_edges([one]))

    async def a_chain_is_cut(self) -> None:
        await self.drop(NEXT, HAPPENED_AFTER)

    async def a_chain_has_a_side_branch(self) -> None:
        await self.join(self.draw.choice([NEXT, HAPPENED_AFTER]), await self.event(), await self.event())

    async def a_mark_is_wrong(self) -> None:
        event = await self.event()
        await self.write(lambda t: t.put_nodes([replace(event, indexed=not event.indexed)]))

    async def a_point_is_lost(self) -> None:
        await self.side.vectors.delete([self.draw.choice(sorted(await self.side.points()))])

    async def a_point_is_nobodys(self) -> None:
        (dense,) = await self.side.embedder.embed(["nobody's"], Lane.BULK)
        uid = str(UUID(int=self.draw.getrandbits(128)))
        await self.side.vectors.upsert([Point(uid, dense, None, {"tenant": "t", "label": "Chunk"})])

    async def a_node_is_at_home_twice(self) -> None:
        for root in await self.side.graph.contexts("t"):
            await self.join("BELONGS_TO", await self.event(), root)

    async def a_node_has_no_home(self) -> None:
        await self.drop("BELONGS_TO")

    async def a_step_is_left_out(self) -> None:
        event = await self.event()
        step = self.draw.choice([0, 4, 9])
        await self.write(lambda t: t.put_nodes([replace(event, flow_step=step)]))

    async def a_counter_is_lost(self) -> None:
        event = await self.event()
        await self.write(lambda t: t.drop_counters([event.flow_id or ""], arrivals=self.draw.random() < 0.5))

    async def an_event_is_retired_and_left_in_its_chains(self) -> None:
        event = await self.event()
        await self.write(lambda t: t.put_nodes([replace(event, retired_at=AT)]))

    async def an_event_happens_at_another_time(self) -> None:
        event = await self.event()
        at = START + timedelta(seconds=self.draw.choice([-1, 61, 10**6]))
        await self.write(lambda t: t.put_nodes([replace(event, timestamp=at)]))


BREAKS: Sequence[Break] = (
    Breaker.a_chain_is_cut,
    Breaker.a_chain_has_a_side_branch,
    Breaker.a_mark_is_wrong,
    Breaker.a_point_is_lost,
    Breaker.a_point_is_nobodys,
    Breaker.a_node_is_at_home_twice,
    Breaker.a_node_has_no_home,
    Breaker.a_step_is_left_out,
    Breaker.a_counter_is_lost,
    Breaker.an_event_is_retired_and_left_in_its_chains,
    Breaker.an_event_happens_at_another_time,
)


async def test_a_store_written_by_requests_has_no_violations(side: Side) -> None:
    await fill(side)
    report = await side.check(_SMALL_PAGES)
    assert (report.violations, report.unlisted) == ([], 0)
    assert (report.nodes, report.edges) == (len(await side.nodes()), len(await side.edges()))
    assert (report.points, report.waiting) == (len(await side.points()), 0)


async def test_the_check_reports_its_progress(store: Path) -> None:
    told: dict[str, list[tuple[int, int]]] = {}
    async with embedded(store) as side:
        await fill(side)
        registry = EdgeRegistry.with_core_types()

        def progress(what: str, done: int, total: int) -> None:
            told.setdefault(what, []).append((done, total))

        report = await check(side.graph.audit, side.graph.outbox, side.vectors, registry, progress, _SMALL_PAGES)
    assert list(told) == ["passages", "points", "nodes", "edges", "steps"]
    assert all(steps == sorted(steps) and len(steps) > 1 for steps in told.values())
    last = {what: steps[-1] for what, steps in told.items()}
    assert last["points"] == last["passages"] == (report.points, report.points)
    assert last["nodes"] == (report.nodes, report.nodes)
    assert last["edges"] == (report.edges, 0)
    assert last["steps"][0] == last["steps"][1]


@pytest.mark.parametrize("seed", range(2 * TIMES))
async def test_every_broken_invariant_is_found_and_no_other(side: Side, seed: int) -> None:
    await fill(side)
    breaker = Breaker(side, seed)
    for one in breaker.draw.sample(BREAKS, k=len(BREAKS)):
        await one(breaker)
        assert sorted((await side.check(_SMALL_PAGES)).violations) == await violations_of(side)
    assert (await side.check(_SMALL_PAGES)).violations


async def test_violations_over_the_limit_are_counted_not_listed(side: Side) -> None:
    events = [turn(number, flow_step=2 * number) for number in range(1, 31)]
    await put(side.graph, events)
    expected = await violations_of(side)
    assert len(expected) == 30 + 30 + 2 * 29
    whole = await side.check(CheckLimits(listed=len(expected)))
    assert (sorted(whole.violations), whole.unlisted) == (expected, 0)
    for most in (100, 7, 0):
        report = await side.check(CheckLimits(listed=most))
        assert (report.violations, report.unlisted) == (whole.violations[:most], len(expected) - most)


def turn(number: int, **fields: object) -> Node:
    placed = {"flow_id": "f", "flow_step": number, "arrival": number, "timestamp": AT + timedelta(seconds=number)}
    return node(f"e{number}", Label.EVENT, **(placed | fields))


async def test_a_flow_step_stored_between_two_passes_is_no_gap(side: Side) -> None:
    events = [turn(number) for number in range(1, 4)]
    await put(side.graph, events)
    graph = side.graph

    class Busy:
        """A graph in which the second Event is stored while the steps are noted."""

        looks = 0

        async def scan(self, what: Nodes, *, after: str | None, limit: int) -> list[Node]:
            self.looks += after is None
            found = await graph.scan(what, after=after, limit=limit)
            return [event for event in found if self.looks > 1 or event.uid != events[1].uid]

        async def count(self, label: Label) -> int:
            return await graph.audit.count(label)

    assert await gaps(Busy(), 10, lambda done: None) == ([], 0)  # type: ignore[arg-type]


async def test_a_violation_repaired_during_the_check_is_not_reported(side: Side) -> None:
    await fill(side)

    class Busy:
        """A graph in which somebody is at work on whatever is looked at for the first time."""

        def __init__(self) -> None:
            self._seen: set[str] = set()

        def __getattr__(self, name: str) -> object:
            return getattr(side.graph.audit, name)

        async def belongs_to_counts(self, uids: Sequence[str]) -> dict[str, int]:
            found = await side.graph.audit.belongs_to_counts(uids)
            late = {uid: count for uid, count in found.items() if uid in self._seen}
            self._seen.update(found)
            return late

    report = await check(Busy(), side.graph.outbox, side.vectors, EdgeRegistry.with_core_types())  # type: ignore[arg-type]
    assert report.violations == []


async def test_memory_of_the_consistency_check_does_not_grow_with_the_store(store: Path) -> None:
    limits = CheckLimits(page=50)
    peaks = []
    for count in (1600, 4800):  # enough for each that as many pages as ever are read at once
        async with embedded(store / str(count)) as side:
            await fill_with(side, count)
            measured = []
            for _ in range(3):
                tracemalloc.start()
                try:
                    report = await side.check(limits)
                    measured.append(tracemalloc.get_traced_memory()[1])
                finally:
                    tracemalloc.stop()
            peaks.append(min(measured))
        assert report.violations == []
        assert (report.points, report.edges) == (count, 5 * count - 2)
    assert peaks[1] < 1.5 * peaks[0]  # a set of uids alone makes it 1.8; reading ahead differs by 1.25


async def fill_with(side: Side, count: int) -> None:
    """Store so many Events of one flow, chained, with a passage and its point each."""
    root = node("c", Label.CONTEXT)
    events = [turn(n, content_hash="h", indexed=True) for n in range(1, count + 1)]
    chunks = [node(f"k{n}", Label.CHUNK, text=f"harbour {n}", indexed=True) for n in range(1, count + 1)]
    events = [replace(event, qdrant_id=chunk.uid) for event, chunk in zip(events, chunks, strict=True)]
    edges: list[Edge] = []
    for n in range(1, count + 1):
        edges += [
            edge("BELONGS_TO", f"e{n}", "c"),
            edge("BELONGS_TO", f"k{n}", "c"),
            edge("EVIDENCED_BY", f"e{n}", f"k{n}"),
        ]
        if n > 1:
            edges += [edge(NEXT, f"e{n - 1}", f"e{n}"), edge(HAPPENED_AFTER, f"e{n}", f"e{n - 1}")]
    await put(side.graph, [root, *events, *chunks], edges)
    dense = np.full(SIZE, SIZE**-0.5, dtype=np.float32)
    passages = await side.graph.scan(Passages(), limit=count)
    await side.vectors.upsert([Point(one.point_id, dense, None, payload_of(one)) for one in passages])
