"""What every GraphArchive must show an export, and note of an import."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports import Counters, GraphTransaction, MaintenanceStep, Outcome, Receipt, Use
from vicw_shared.uids import make_uid


def home(name: str, **fields: object) -> Node:
    return node(name, Label.CONTEXT, **({"context": name} | fields))


async def fill(graph: Graph) -> tuple[Node, list[Node], list[Edge]]:
    """Put a context of five nodes, one of another context, and edges inside and between them."""
    root, other = home("c"), home("d")
    members = [node(name) for name in "abxy"]
    stranger = node("s", context="d")
    inside = [edge("RELATED_TO", *ends) for ends in ("ab", "ax", "bx", "ya", "as")]
    homes = [edge("BELONGS_TO", name, "c") for name in "abxy"] + [edge("BELONGS_TO", "s", "d")]
    await put(graph, [root, other, *members, stranger], [*inside, *homes, edge("RELATED_TO", "s", "b")])
    return root, members, [*inside, *homes[:4]]


async def test_a_snapshot_reads_the_members_and_edges_of_a_context(graph: Graph) -> None:
    root, members, edges = await fill(graph)
    await put(graph, [home("c", uid=make_uid("theirs"), tenant="u")], tenant="u")
    async with graph.archive.snapshot() as snapshot:
        assert [(one.tenant, one.context) for one in await snapshot.roots()] == [("t", "c"), ("t", "d"), ("u", "c")]
        uids = await snapshot.members(root)
        assert uids == sorted([root.uid, *(member.uid for member in members)])
        assert await snapshot.nodes(root, uids) == {one.uid: one for one in (root, *members)}
        assert await snapshot.nodes(root, [make_uid("theirs"), make_uid("nobody")]) == {}
        everything = await snapshot.edges(root, uids, after=None, limit=100)
        assert everything == sorted(edges, key=lambda one: one.id), "out of the members, wherever they lead"
        paged: list[Edge] = []
        while page := await snapshot.edges(root, uids, after=paged[-1].id if paged else None, limit=2):
            assert len(page) <= 2
            paged += page
        assert paged == everything
        assert await snapshot.edges(root, [], after=None, limit=5) == []


async def test_raise_counters_never_lowers_a_counter(graph: Graph) -> None:
    root, *_ = await fill(graph)

    async def count(transaction: GraphTransaction) -> None:
        await transaction.raise_counters(Counters(7, {"f": 3, "g": 0}))

    await graph.write("t", "c", count)

    async def less(transaction: GraphTransaction) -> None:
        await transaction.raise_counters(Counters(2, {"f": 9}))
        assert await transaction.counters(["f"]) == Counters(7, {"f": 9})

    await graph.write("t", "c", less)
    async with graph.archive.snapshot() as snapshot:
        assert await snapshot.counters(root, ["f", "h"]) == Counters(7, {"f": 9, "h": 0})
        assert await snapshot.counters(home("d"), []) == Counters(0, {})


async def test_a_snapshot_lists_pending_extractions_even_given_up_ones(graph: Graph) -> None:
    root, members, _ = await fill(graph)
    uids = [member.uid for member in members]

    async def leave(transaction: GraphTransaction) -> None:
        await transaction.queue_extractions(uids[:2])

    await graph.write("t", "c", leave)
    await graph.pending_extractions.postpone(uids[0], seconds=None, error="nonsense")
    async with graph.archive.snapshot() as snapshot:
        assert await snapshot.pending_extractions(root, uids) == set(uids[:2])
        assert await snapshot.pending_extractions(root, []) == set()
        assert await snapshot.pending_extractions(replace(root, tenant="u"), uids) == set()


async def test_a_snapshot_reads_usage_counts_of_its_tenant(graph: Graph) -> None:
    root, members, _ = await fill(graph)
    uids = [member.uid for member in members]
    await graph.uses.add_uses("t", {uids[0]: 2}, AT)
    async with graph.archive.snapshot() as snapshot:
        assert await snapshot.uses(root, uids) == {uids[0]: Use(2, AT)}
        assert await snapshot.uses(root, []) == {}
        assert await snapshot.uses(replace(root, tenant="u"), uids) == {}


async def test_a_snapshot_pages_receipts_in_order_of_time(graph: Graph) -> None:
    told = [Receipt(f"k{n}", "f" * 64, AT + timedelta(seconds=n // 3), {"n": n}) for n in range(8)]

    async def remember(transaction: GraphTransaction) -> None:
        for one in told:
            await transaction.put_receipt(one)

    await graph.write("t", "c", remember)
    async with graph.archive.snapshot() as snapshot:
        found: list[Receipt] = []
        while page := await snapshot.receipts("t", after=found[-1] if found else None, limit=2):
            found += page
        assert found == told
        assert await snapshot.receipts("u", after=None, limit=2) == []


async def test_a_snapshot_lists_maintenance_steps_latest_first(graph: Graph) -> None:
    steps = [
        MaintenanceStep(id=f"s{n}", tenant="tu"[n % 2], context="c", task="x", outcome=Outcome.DONE, at=AT, subject="")
        for n in range(3)
    ]

    async def log(transaction: GraphTransaction) -> None:
        for step in steps:
            await transaction.log_step(step)

    await graph.write("t", "c", log)
    async with graph.archive.snapshot() as snapshot:
        assert [step.id for step in await snapshot.steps(before=None, limit=9)] == ["s2", "s1", "s0"]
        assert [step.id for step in await snapshot.steps(before=steps[2], limit=1)] == ["s1"]


async def test_a_snapshot_hides_later_writes_or_shows_them_by_its_version(graph: Graph) -> None:
    root, *_ = await fill(graph)
    async with graph.archive.snapshot() as snapshot:
        before = await snapshot.version(root), await snapshot.members(root)
        await put(graph, [home("d")])
        await graph.write("t", "d", _nothing)
        at = await snapshot.version(root)
        await put(graph, [node("late")], [edge("BELONGS_TO", "late", "c"), edge("RELATED_TO", "late", "a")])
        after = await snapshot.version(root), await snapshot.members(root)
        assert after == before or after[0] != at
        await graph.write("t", "", _nothing)
        assert after == before or await snapshot.version(root) != after[0]
    async with graph.archive.snapshot() as snapshot:
        assert make_uid("late") in await snapshot.members(root)


async def test_a_rolled_back_write_does_not_change_the_context_version(graph: Graph) -> None:
    root, *_ = await fill(graph)
    async with graph.archive.snapshot() as snapshot:
        before = await snapshot.version(root)

        async def fail(transaction: GraphTransaction) -> None:
            await transaction.put_nodes([node("late")])
            raise ValueError("undone")

        with pytest.raises(ValueError, match="undone"):
            await graph.write("t", "c", fail)
        assert await snapshot.version(root) == before


async def test_the_import_marker_is_rolled_back_with_its_transaction(graph: Graph) -> None:
    assert await graph.archive.import_mark() is None

    async def mark(transaction: GraphTransaction, text: str = "one") -> None:
        await transaction.mark_import(text)

    await graph.write("t", "c", mark)
    assert await graph.archive.import_mark() == "one"

    async def fail(transaction: GraphTransaction) -> None:
        await mark(transaction, "two")
        raise ValueError("undone")

    with pytest.raises(ValueError, match="undone"):
        await graph.write("t", "c", fail)
    assert await graph.archive.import_mark() == "one"

    async def give_up(transaction: GraphTransaction) -> None:
        await transaction.mark_import(None)

    await graph.write("t", "c", give_up)
    assert await graph.archive.import_mark() is None


async def _nothing(_: GraphTransaction) -> None:
    """Write nothing under the lock."""
