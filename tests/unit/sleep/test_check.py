"""The check finds what is broken: each invariant is broken by hand, below the ports."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from support.stores.memory import Memory, open_memory
from vicw_sleep.reconcile.service import reconcile


@pytest.fixture
async def filled(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store) as memory:
        await memory.ingest(*({"id": f"m{n}", "text": f"turn {n}", "speaker": "Ana"} for n in range(4)), flow_id="f")
        assert (await memory.check()).violations == []
        yield memory


def spoil(memory: Memory, statement: str) -> None:
    path = memory.standalone.settings.storage.data_dir / "graph.sqlite3"
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DELETE FROM edge WHERE id = (SELECT id FROM edge WHERE type = 'NEXT' LIMIT 1)", "NEXT chain is broken"),
        ("DELETE FROM edge WHERE id = (SELECT id FROM edge WHERE type = 'HAPPENED_AFTER' LIMIT 1)", "AFTER chain is"),
        ("UPDATE node SET timestamp = timestamp + 9 WHERE source_id = 'm0'", "NEXT chain has a stray edge"),
        ("DELETE FROM edge WHERE id = (SELECT id FROM edge WHERE type = 'BELONGS_TO' LIMIT 1)", "0 contexts"),
        ("UPDATE edge SET type = 'HATES' WHERE type = 'INITIATED'", "'HATES' is not registered"),
        ("UPDATE edge SET type = 'CAUSED' WHERE type = 'INITIATED'", "CAUSED may not join Entity → Event"),
        ("UPDATE node SET flow_step = 9 WHERE source_id = 'm3'", "not gap-free"),
        ("DELETE FROM counter WHERE flow = ''", "would give again"),
        ("DELETE FROM counter WHERE flow = 'f'", "would give again"),
        ("UPDATE counter SET value = 3", "would give again"),
        ("UPDATE node SET indexed = 0 WHERE label = 'Chunk'", "neither indexed nor queued"),
        (
            "UPDATE node SET indexed = 0 WHERE source_id = 'm3' AND label = 'Event'",
            "not marked indexed but has a point",
        ),
        ("UPDATE node SET indexed = 1 WHERE label = 'Entity'", "marked indexed but has no point"),
        ("DELETE FROM node WHERE name = 'Ana'", "an end that does not exist"),
        ("UPDATE edge SET type = 'MERGED_INTO', target = source WHERE type = 'INITIATED'", "merged in a circle"),
        ("UPDATE edge SET type = 'MERGED_INTO' WHERE type = 'INITIATED'", "merged into several nodes"),
    ],
)
async def test_every_broken_invariant_is_named(filled: Memory, statement: str, says: str) -> None:
    spoil(filled, statement)
    assert any(says in violation for violation in (await filled.check()).violations)


async def test_points_and_passages_that_disagree_are_named_and_reconciled(filled: Memory) -> None:
    vectors, graph = filled.standalone.vectors, filled.standalone.graph
    points = await vectors.ids(after=None, limit=10)
    await vectors.delete(points[:1])
    lost = f"SELECT pk FROM node WHERE hex(uid) = '{points[1].replace('-', '').upper()}'"
    spoil(filled, f"DELETE FROM edge WHERE target = ({lost}) OR source = ({lost})")
    spoil(filled, f"DELETE FROM node WHERE pk = ({lost})")
    violations = (await filled.check()).violations
    assert f"Chunk {points[0]} is marked indexed but has no point" in violations
    assert f"Point {points[1]} has no Chunk" in violations
    result = await reconcile(graph.outbox, graph.audit, vectors)
    assert (result.missing, result.orphaned) == (1, 1)
    await filled.standalone.indexer.wake()
    await filled.standalone.indexer.drain()
    assert not [v for v in (await filled.check()).violations if v.startswith(("Chunk", "Point"))]


async def test_a_point_stored_during_the_check_is_no_violation(filled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, graph = filled.standalone.vectors, filled.standalone.graph
    (point,) = await vectors.ids(after=None, limit=1)
    states = graph.audit.point_states
    looks = 0

    async def stored_at_the_second_look(uids: Sequence[str]) -> dict[str, bool]:
        nonlocal looks
        looks += 1
        return {uid: at for uid, at in (await states(uids)).items() if looks > 1 or uid != point}

    monkeypatch.setattr(graph.audit, "point_states", stored_at_the_second_look)
    assert (await filled.check()).violations == []
    assert looks > 1


async def test_reconciliation_restores_a_lost_point_with_a_pending_payload(filled: Memory) -> None:
    vectors, graph = filled.standalone.vectors, filled.standalone.graph
    points = await vectors.ids(after=None, limit=10)
    filled.embedder.down = True
    await filled.ingest({"id": "m0", "text": "changed", "speaker": "Ana"}, flow_id="f", wait=False)
    (retired,) = await graph.outbox.queued(points)
    await vectors.delete([retired])
    assert (await reconcile(graph.outbox, graph.audit, vectors)).missing == 1
    filled.embedder.down = False
    await filled.standalone.indexer.drain()
    assert await vectors.present([retired]) == {retired}
