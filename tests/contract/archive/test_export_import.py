"""What goes out of one store comes into another as it was, whatever kinds of stores these are."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract.sleep.test_consolidation import _STEP, consolidate, draft, sound, tell, thread, turn
from support.generators.example_count import TIMES
from support.generators.requests import INGESTS
from support.stores.exports import assert_same_exports, exported, imported, registries, reseal
from support.stores.pairs import START, Clockwork, Side, asked_for, embedded, platform
from support.stores.qdrant import server_if_any
from vicw_core.archive.manifest import NAME, USES
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge
from vicw_shared.errors import FixableError, StateConflictError, UnavailableError
from vicw_shared.ports import GraphTransaction, MaintenanceStep, NamedNodes, Outcome, Use
from vicw_sleep.archive.exporter import ExportSelection
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.consolidation.service import Consolidation
from vicw_stores.neo4j.archive import Neo4jSnapshot
from vicw_stores.sqlite.archive import SqliteSnapshot

_TEXTS = (
    "My sister Ana moved to Porto because Mara took the Sunken Amulet.",
    "Edran rode north after Mara left. Ana told Ben.",
    "I met Ben in Porto last Friday, so the build broke in src/app.py.",
)
_MERGE = st.tuples(st.integers(0, 19), st.integers(0, 19), st.just("merge"))
_ROUNDED = 0.004
"""The embedded store keeps a byte a dimension (decision 0001)."""
# Everything of interest falls between two batches.
exported_in_small_pages = partial(exported, node_group=7, node_page=3, edge_page=7, record_page=7)
imported_in_small_batches = partial(imported, batch=5)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def fill(side: Side) -> None:
    """Two tenants, late items, new versions, a retraction, a Macro-Event, receipts, what is unread and was shown."""
    await tell(side, [turn(n, _TEXTS[n % 3], tags=["trip"], about=["Ana"]) for n in range(9)])
    await tell(side, [turn(2, "Ben has left."), turn(20, "Nothing happened.", timestamp=None)])
    await side.ingest({"context": "d", "items": [{"text": "Elsewhere. " * 40}]}, "u", "a key")
    await side.ingest({"context": "d", "items": [{"text": "Of t.", "speaker": "Ana"}]}, "t", "a key")
    await side.retract({"context": "c", "ids": ["4"]}, "t")
    macro = await consolidate(side, await draft(side, (await thread(side))[:3]))
    await side.graph.outbox.requeue([macro.qdrant_id or ""])
    last = (await thread(side))[-1]

    async def wait_for_a_model(transaction: GraphTransaction) -> None:
        await transaction.queue_extractions([last.uid])

    await side.graph.write("t", "c", wait_for_a_model)
    await side.graph.uses.add_uses("t", {macro.uid: 3, last.uid: 1}, START)
    await side.graph.uses.add_uses("t", {last.uid: 1}, START + timedelta(microseconds=1))
    await side.graph.uses.add_uses("u", {n.uid: 7 for n in (await side.nodes()).values() if n.content_hash}, START)
    await sound(side)


def file_names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def store_content(side: Side) -> tuple[Any, ...]:
    """Return all that a store knows, its points too."""
    nodes = await side.nodes()
    dense = await side.vectors.dense(sorted(await side.points()))
    return nodes, await side.edges(), await side.payloads(), sorted(dense), await usage_counts_of(side)


async def usage_counts_of(side: Side) -> dict[str, Use]:
    """Return what answers have shown."""
    uids = [*await side.nodes()]
    return await side.graph.uses.uses("t", uids) | await side.graph.uses.uses("u", uids)


async def test_an_export_that_yields_more_often_has_the_same_bytes(side: Side, tmp_path: Path) -> None:
    await fill(side)
    await exported(side, tmp_path / "one")
    await exported(side, tmp_path / "two", node_page=3, edge_page=7, record_page=2)
    assert_same_exports(tmp_path / "one", tmp_path / "two", error=0)


async def test_an_export_imported_into_the_other_store_and_back_is_unchanged(
    side: Side, store: Path, tmp_path: Path
) -> None:
    async with embedded(store) as source, embedded(store) as last:
        await fill(source)
        await exported_in_small_pages(source, tmp_path / "one")
        result = await imported_in_small_batches(tmp_path / "one", side)
        assert result.vectors == len(await source.vectors.dense(sorted(await source.points()))) > 0
        assert await store_content(side) == await store_content(source)
        await sound(side)
        await exported_in_small_pages(side, tmp_path / "two")
        assert_same_exports(tmp_path / "one", tmp_path / "two")
        await imported_in_small_batches(tmp_path / "two", last)
        assert await store_content(last) == await store_content(source)
        await exported_in_small_pages(last, tmp_path / "three")
        assert_same_exports(tmp_path / "one", tmp_path / "three")


async def test_an_export_imported_into_an_embedded_store_is_unchanged(side: Side, store: Path, tmp_path: Path) -> None:
    await fill(side)
    await exported(side, tmp_path / "one")
    async with embedded(store) as other:
        await imported(tmp_path / "one", other)
        assert await store_content(other) == await store_content(side)
        assert (
            await other.graph.record.receipt("u", "key:a key")
            == await side.graph.record.receipt("u", "key:a key")
            is not None
        )
        await sound(other)
        await exported(other, tmp_path / "two")
        assert_same_exports(tmp_path / "one", tmp_path / "two", error=_ROUNDED)


async def test_usage_counts_are_exported_and_imported(side: Side, store: Path, tmp_path: Path) -> None:
    async with embedded(store) as source:
        await fill(source)
        manifest = await exported(source, tmp_path / "one")
        before = await usage_counts_of(source)
        assert Use(2, START + timedelta(microseconds=1)) in before.values()
        assert manifest.rows([USES]) == len(before) > 2
        await imported(tmp_path / "one", side)
        assert await usage_counts_of(side) == before
        later = START + timedelta(days=1)
        await side.graph.uses.add_uses("t", dict.fromkeys(before, 1), later)
        assert max(use.last for use in (await usage_counts_of(side)).values()) == later
        assert max(use.times for use in (await usage_counts_of(side)).values()) == 7


async def test_recently_used_events_are_not_consolidated_after_an_import(
    side: Side, store: Path, tmp_path: Path
) -> None:
    async with embedded(store) as source:
        await tell(source, [turn(n, f"We talked about {_TEXTS[n % 3]}") for n in range(5)])
        await source.graph.uses.add_uses("t", {event.uid: 1 for event in await thread(source)}, datetime.now(UTC))
        await exported(source, tmp_path / "one")
        await imported(tmp_path / "one", side)
    now = datetime.now(UTC) + timedelta(hours=2)
    for since, macros in ((now - timedelta(days=1), 0), (now, 1)):
        rules = ConsolidationRules(before=now, min_cohesion=0.0, used_since=since)
        work = Consolidation(
            side.graph, side.graph.pending_extractions, side.indexer.indexes, registries().edges, side.indexer
        )
        assert (await work.run(rules, now=now)).macros == macros


async def test_requests_after_an_import_behave_as_in_the_source_store(side: Side, store: Path, tmp_path: Path) -> None:
    async with embedded(store) as source:
        await fill(source)
        await exported(source, tmp_path / "one")
        await imported(tmp_path / "one", side)
        for one in (source, side):
            again = {"context": "d", "items": [{"text": "Elsewhere. " * 40}]}
            assert (await one.ingest(again, "u", "a key")).items[0].status.value == "created"
            await tell(one, [turn(0, _TEXTS[0]), turn(5, "Changed."), turn(30, "The last.")])
            await one.retract({"context": "c", "ids": ["1"]}, "t")
            await sound(one)
        ours, theirs = [[(n.source_id, n.version, n.flow_step) for n in await thread(one)] for one in (source, side)]
        assert ours == theirs
        assert len(await source.nodes()) == len(await side.nodes())


async def test_an_export_can_be_limited_to_a_context_or_a_tenant(side: Side, store: Path, tmp_path: Path) -> None:
    await fill(side)
    manifest = await exported(side, tmp_path / "one", ExportSelection(tenant="t", context="d"))
    assert manifest.rows(["contexts.jsonl"]) == 1
    assert "receipts.jsonl" not in manifest.files
    async with embedded(store) as other:
        await imported(tmp_path / "one", other)
        assert {(n.tenant, n.context) for n in (await other.nodes()).values()} == {("t", "d")}
        await sound(other)
        await exported(side, tmp_path / "two", ExportSelection(tenant="u"))
        await imported(tmp_path / "two", other)
        assert {(n.tenant, n.context) for n in (await other.nodes()).values()} == {("t", "d"), ("u", "d")}
        await sound(other)


async def test_an_import_into_a_store_with_the_tenants_data_is_refused(side: Side, tmp_path: Path) -> None:
    await fill(side)
    await exported(side, tmp_path / "one")
    before = await store_content(side)
    with pytest.raises(
        StateConflictError, match=r"Tenant 't' has data in this store.*--data-dir.*--replace.*forget tenant"
    ):
        await imported(tmp_path / "one", side)
    with pytest.raises(StateConflictError, match="not empty"):
        await imported(tmp_path / "one", side, restoring=True)
    assert await store_content(side) == before
    assert await side.graph.archive.import_mark() is None


@pytest.mark.parametrize("taken", ["events.jsonl", "edges.jsonl"])
async def test_an_import_does_not_change_another_tenants_nodes(
    side: Side, store: Path, tmp_path: Path, taken: str
) -> None:
    await tell(side, [turn(n, _TEXTS[n % 3]) for n in range(4)])
    await exported(side, tmp_path / "one")
    before = await store_content(side)
    async with embedded(store) as other:
        turns = [turn(n, "Of another.") for n in range(4)]
        await other.ingest({"context": "e", "extract": "none", "items": turns}, "u", None)
        await other.indexer.drain()
        await exported(other, tmp_path / "two")
    texts = ((tmp_path / name / taken).read_text("utf-8") for name in ("one", "two"))
    known, told = ([json.loads(row) for row in text.splitlines()] for text in texts)
    ours = told[0]
    theirs = next(row for row in known if row.get("type") == ours.get("type"))
    name = "uid" if taken == "events.jsonl" else "id"
    for path in (tmp_path / "two").rglob("*.json*"):
        path.write_text(path.read_text("utf-8").replace(ours[name], theirs[name]), "utf-8")
    edges_file = tmp_path / "two/edges.jsonl"
    edges_file.write_text(re.sub(r'"weight":[\d.]+', '"weight":0.1', edges_file.read_text("utf-8")), "utf-8")
    reseal(tmp_path / "two")
    if taken == "events.jsonl":
        with pytest.raises(StateConflictError, match=f"the store has the node {theirs[name]} already"):
            await imported(tmp_path / "two", side)
        assert await side.graph.archive.import_mark() is None
    else:
        await imported(tmp_path / "two", side)
    nodes, edges, payloads, *_ = before
    after = await store_content(side)
    assert {uid: after[0][uid] for uid in nodes} == nodes
    assert {uid: after[1][uid] for uid in edges} == edges
    assert {uid: after[2][uid] for uid in payloads} == payloads


async def test_an_import_does_not_change_another_tenants_maintenance_step(
    side: Side, store: Path, tmp_path: Path
) -> None:
    await tell(side, [turn(n, _TEXTS[n % 3]) for n in range(4)])
    item = (await thread(side))[0].uid
    step = MaintenanceStep(
        id=item, tenant="t", context="c", task="dream", outcome=Outcome.DONE, at=START, subject=item, reason="its own"
    )
    await side.graph.write("t", "c", methodcaller("log_step", step))
    async with embedded(store) as other:
        await other.ingest({"context": "e", "items": [turn(n, _TEXTS[n % 3]) for n in range(4)]}, "u", None)
        theirs = next(node.uid for node in (await other.nodes()).values() if node.content_hash is not None)
        forged = replace(step, tenant="u", context="e", subject=theirs)
        await other.graph.write("u", "e", methodcaller("log_step", forged))
        await exported(other, tmp_path / "two")
    with pytest.raises(StateConflictError, match=f"the store has the step {step.id} already"):
        await imported(tmp_path / "two", side)
    assert await side.graph.log.step(step.id) == step


async def test_an_import_keeps_the_receipts_that_the_store_has(side: Side, store: Path, tmp_path: Path) -> None:
    async with embedded(store) as source:
        for key in ("a key", "another"):
            await source.ingest({"context": "d", "items": [{"text": f"Of {key}."}]}, "t", key)
        await exported(source, tmp_path / "one")
    await side.ingest({"context": "e", "items": [{"text": "Of e."}]}, "t", "a key")
    before = await side.graph.record.receipt("t", "key:a key")
    await side.graph.write("t", "e", methodcaller("drop_nodes", [*await side.nodes()]))
    await imported(tmp_path / "one", side)
    assert await side.graph.record.receipt("t", "key:a key") == before is not None
    assert await side.graph.record.receipt("t", "key:another") is not None


class Killed(BaseException):
    """The end of a process, in the middle of a write or right behind one."""


def kill_writer_after(side: Side, after: int, *, behind: bool) -> Callable[[], None]:
    """Let the store's writer die after so many writes; return what brings it back to life."""
    graph, left = side.graph, after
    write = graph.write

    async def last(tenant: str, context: str, work: Callable[[GraphTransaction], Awaitable[Any]]) -> Any:
        nonlocal left
        left -= 1
        if left >= 0:
            return await write(tenant, context, work)
        if behind:
            await write(tenant, context, work)
            raise Killed

        async def torn(transaction: GraphTransaction) -> Any:
            await work(transaction)
            raise Killed

        return await write(tenant, context, torn)

    graph.write = last  # type: ignore[method-assign]
    return lambda: setattr(graph, "write", write)


async def test_a_killed_import_is_resumed_until_the_stores_are_equal(side: Side, store: Path, tmp_path: Path) -> None:
    draw = random.Random(1)
    async with embedded(store) as source, embedded(store) as other:
        await fill(source)
        await exported_in_small_pages(source, tmp_path / "one")
        await other.ingest({"context": "elsewhere", "items": [turn(1, "Another.")]}, "v", None)
        await other.indexer.drain()
        await exported_in_small_pages(other, tmp_path / "other")
        deaths = 0
        while True:
            revive = kill_writer_after(side, draw.randrange(1, 12), behind=draw.random() < 0.5)
            try:
                await imported_in_small_batches(tmp_path / "one", side)
                break
            except Killed:
                deaths += 1
            finally:
                revive()
            for work in (
                imported_in_small_batches(tmp_path / "other", side),
                exported_in_small_pages(side, tmp_path / "half"),
            ):
                with pytest.raises(StateConflictError, match="broke off in this store"):
                    await work
        assert deaths > 5
        assert await store_content(side) == await store_content(source)
        await sound(side)
        with pytest.raises(StateConflictError, match="has data in this store"):
            await imported_in_small_batches(tmp_path / "one", side)
        await imported_in_small_batches(tmp_path / "other", side)
        await sound(side)


async def test_an_import_resumes_after_failed_vector_writes_without_embedding(
    side: Side, store: Path, tmp_path: Path
) -> None:
    async with embedded(store) as source, embedded(store) as other:
        await fill(source)
        await exported(source, tmp_path / "one")
        upsert, left = side.vectors.upsert, 0

        async def failing(points: Sequence[Any]) -> None:
            nonlocal left
            left += 1
            if left < 3:
                await upsert(points[: len(points) // 2])
                raise UnavailableError("vectors", "it went away")
            await upsert(points)

        side.vectors.upsert = failing  # type: ignore[method-assign]
        for _ in range(2):
            with pytest.raises(UnavailableError):
                await imported(tmp_path / "one", side)
        result = await imported(tmp_path / "one", side)
        assert result.vectors == (await imported(tmp_path / "one", other)).vectors > 0, (
            "those of the runs before count, too"
        )
        assert await store_content(side) == await store_content(source)
        assert side.embedder.seen == [], "nothing is embedded anew"


async def test_an_import_without_vectors_queues_all_points_for_embedding(
    side: Side, store: Path, tmp_path: Path
) -> None:
    async with embedded(store) as source:
        await fill(source)
        await exported(source, tmp_path / "one")
        side.embedder.name = "another"
        await side.graph.record.set_model(await side.embedder.identity())
        assert (await imported(tmp_path / "one", side)).vectors == 0
        assert (await side.check()).waiting > 0
        await sound(side)
        assert await store_content(side) == await store_content(source)


async def test_an_export_during_writes_is_consistent_per_context(side: Side, store: Path, tmp_path: Path) -> None:
    await fill(side)
    over = asyncio.Event()

    async def writing() -> None:
        for number in range(100, 1000):
            await tell(side, [turn(number % 7 + 50, f"Ana wrote {number}.", timestamp=None)])
            await side.ingest({"context": "d", "items": [{"text": f"x {number}"}]}, "t", None)
            if over.is_set():
                return

    writer = asyncio.create_task(writing())
    await asyncio.sleep(0.2)
    for number in range(3):
        await exported_in_small_pages(side, tmp_path / str(number))
    over.set()
    await writer
    for number in range(3):
        async with embedded(store) as other:
            await imported_in_small_batches(tmp_path / str(number), other)
            await sound(other)


async def test_a_context_that_keeps_changing_is_exported_under_its_lock(
    side: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(side)
    await exported(side, tmp_path / "one")
    numbers, locked = itertools.count(), list[str]()
    write = side.graph.write

    async def restless(self: object, root: object) -> int:
        return next(numbers)

    async def noting(tenant: str, context: str, work: Callable[[GraphTransaction], Awaitable[Any]]) -> Any:
        locked.append(context)
        return await write(tenant, context, work)

    for snapshot in (SqliteSnapshot, Neo4jSnapshot):
        monkeypatch.setattr(snapshot, "version", restless)
    monkeypatch.setattr(side.graph, "write", noting)
    await exported(side, tmp_path / "two")
    assert_same_exports(tmp_path / "one", tmp_path / "two")
    assert locked == ["c", "d", "d"], "of two tenants"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("kind", "examples"), [("embedded", 20), pytest.param("platform", 6, marks=pytest.mark.servers)]
)
def test_export_and_import_preserve_random_stores(
    kind: str,
    examples: int,
    request: pytest.FixtureRequest,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clockwork()
    clock.install(monkeypatch)
    store.mkdir()
    servers = [request.getfixturevalue("neo4j_server"), server_if_any(request)] if kind == "platform" else []

    async def run(steps: Sequence[Any], room: Path) -> None:
        async with embedded(store) as side, platform(*servers) if servers else embedded(store) as other:
            for step in steps:
                clock.next_operation()
                clock.next_side()
                await apply_step(side, step, clock.now)
            await side.indexer.drain()
            await exported(side, room / "one")
            await imported(room / "one", other)
            assert await store_content(other) == await store_content(side)
            await exported(other, room / "two")
            assert_same_exports(room / "one", room / "two")
            await sound(other)

    rooms = iter(tmp_path / str(number) for number in range(10**6))
    with asyncio.Runner() as runner:

        @settings(
            max_examples=examples * TIMES,
            phases=[Phase.generate],
            database=None,
            derandomize=TIMES == 1,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(_STEP | INGESTS | _MERGE, min_size=3, max_size=9))
        def told(steps: list[Any]) -> None:
            runner.run(run(steps, next(rooms)))

        told()


async def apply_step(side: Side, step: Any, now: datetime) -> None:
    """Ingest, retract, fold so many Events from one of them on, or merge two things."""
    if not isinstance(step, tuple):
        with suppress(FixableError):
            await (side.ingest(step, "t", "key") if "items" in step else side.retract(step, "t"))
        return
    start, count, *merged = step
    if merged:
        things = await side.graph.scan(NamedNodes(tenant="t", context="c"), limit=20)
        one, other = (things[number % len(things)].uid if things else "" for number in (start, count))
        with suppress(FixableError):
            await merge(side.graph, MergeDecision("t", now, registries().edges), one, other)
        return
    sources = [node for node in (await thread(side))[start : start + count] if not node.is_duplicate]
    if len(sources) > 1:
        macro = await consolidate(side, await draft(side, sources), now)
        await side.graph.outbox.requeue([macro.qdrant_id or ""])


async def test_a_failed_export_leaves_the_previous_archive_unchanged(side: Side, tmp_path: Path) -> None:
    await fill(side)
    path = tmp_path / "one"
    await exported(side, path)
    before = (path / NAME).read_bytes()
    dense = side.vectors.dense

    async def failing(ids: Sequence[str]) -> Any:
        raise UnavailableError("vectors", "it went away")

    side.vectors.dense = failing  # type: ignore[method-assign]
    with pytest.raises(UnavailableError):
        await exported(side, path)
    assert file_names_in(tmp_path) == ["one"]
    assert (path / NAME).read_bytes() == before
    side.vectors.dense = dense  # type: ignore[method-assign]
    await exported(side, path)
    assert file_names_in(tmp_path) == ["one"]
