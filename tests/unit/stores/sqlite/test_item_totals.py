"""Counts that are kept while items change equal counts that are made anew."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from support.stores.graph_records import AT, edge, node, put
from vicw_shared.errors import SchemaVersionError
from vicw_shared.model import EdgeRegistry, Label, Node, Sensitivity
from vicw_shared.ports import GraphTransaction, PassingEstimate, Scope
from vicw_shared.ports.item_filter import OneOf
from vicw_shared.uids import make_uid
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore
from vicw_stores.sqlite.item_totals import count_changed, count_part
from vicw_stores.sqlite.store import GRAPH

_COUNTED = (
    "SELECT t.tenant, t.live, t.context, t.domain, t.label, t.sensitivity, t.portable, t.items, t.first, t.last, "
    "t.passages, t.chars, t.indexed FROM context_total t ORDER BY 1, 2, 3, 4, 5, 6, 7",
    "SELECT t.tenant, t.user, t.speaker, t.context, t.sensitivity, t.portable, t.items, t.first, t.last "
    "FROM speaker_total t ORDER BY 1, 2, 3, 4, 5, 6",
    "SELECT c.node, c.live, c.told, c.expires_at, c.passages, c.chars, c.indexed FROM counted_item c ORDER BY 1",
)


def _passage(number: int) -> Node:
    return node(f"passage {number}", Label.CHUNK, text="x" * (number + 1))


def _item(number: int, **fields: Any) -> Node:
    given = {"content_hash": "h", "speaker": f"s{number % 3}", "arrival": number + 1} | fields
    return node(f"item {number}", Label.EVENT, **given)


CHANGES: dict[str, Callable[[GraphTransaction], Any]] = {
    "an item is retired": lambda t: t.put_nodes([_item(1, retired_at=AT)]),
    "an item comes back": lambda t: t.put_nodes([_item(1)]),
    "an item is hidden": lambda t: t.put_nodes([_item(2, sensitivity=Sensitivity.PERSONAL, portable=False)]),
    "an item is told at another time": lambda t: t.put_nodes([_item(3, timestamp=AT - timedelta(days=9))]),
    "an item is of another domain and speaker": lambda t: t.put_nodes([_item(4, domain="coding", speaker=None)]),
    "an item expires some day": lambda t: t.put_nodes([_item(5, expires_at=AT + timedelta(days=1))]),
    "a user gets another name": lambda t: t.put_nodes([replace(node("u1", subtype="user"), name="u9")]),
    "a user turns out to be none": lambda t: t.put_nodes([node("u2", subtype="person")]),
    "a passage has another text": lambda t: t.put_nodes([replace(_passage(6), text="longer than before")]),
    "a passage has lost its proof": lambda t: t.drop_edges([edge("EVIDENCED_BY", "item 7", "passage 7")]),
    "an item has two users": lambda t: t.put_edges([edge("STATED_BY", "item 8", "u1")]),
    "items are erased": lambda t: t.drop_nodes([_item(n).uid for n in (9, 10)] + [_passage(9).uid]),
    "nothing is": lambda t: t.put_nodes([_item(11)]),
}


@pytest.fixture
def counts(store: Path) -> Callable[[bool], list[list[Any]]]:
    """Return what is counted, as it is kept or made anew."""

    def read(anew: bool) -> list[list[Any]]:
        connection = sqlite3.connect(store / GRAPH)
        connection.create_function("fold", 1, str.casefold)
        if anew:
            for table in ("context_total", "speaker_total", "counted_item"):
                connection.execute(f"DELETE FROM {table}")
            connection.execute(
                "INSERT INTO uncounted_item SELECT pk FROM node WHERE content_hash IS NOT NULL AND label <> 'Chunk'"
            )
            count_changed(connection)
        found = [connection.execute(sql).fetchall() for sql in _COUNTED]
        connection.close()  # without a commit
        return found

    return read


async def test_counts_that_are_kept_equal_counts_made_anew(
    store: Path, counts: Callable[[bool], list[list[Any]]]
) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        users = [node("u1", subtype="user"), node("u2", subtype="user")]
        items, passages = [_item(n) for n in range(12)], [_passage(n) for n in range(12)]
        proofs = [edge("EVIDENCED_BY", f"item {n}", f"passage {n}") for n in range(12)]
        said = [edge("STATED_BY", f"item {n}", f"u{n % 2 + 1}") for n in range(10)]
        await put(graph, [*users, *items, *passages], [*proofs, *said])
        assert counts(False) == counts(True)
        names = random.Random(0).sample(sorted(CHANGES), len(CHANGES))
        for name in names:
            await graph.write("t", "c", CHANGES[name])
            await graph.outbox.acknowledge(await graph.outbox.claim(1, seconds=60))
            assert counts(False) == counts(True), name
        everything = [one.uid for one in (*users, *items, *passages)]
        await graph.write("t", "c", lambda t: t.drop_nodes(everything))
        assert counts(False) == [[], [], []], "no name is left of what was erased"
        await graph.close()


@pytest.mark.parametrize(
    "fault",
    [
        "UPDATE context_total SET items = items + 1 WHERE context = 'c'",
        "UPDATE speaker_total SET items = items - 1 WHERE id = 1",
        "UPDATE counted_item SET chars = chars + 1 WHERE node = (SELECT min(node) FROM counted_item)",
        "DELETE FROM counted_item WHERE node = (SELECT min(node) FROM counted_item)",
        "INSERT INTO counted_item SELECT 99, live, context_total, NULL, told, NULL, 0, 0, 0 FROM counted_item LIMIT 1",
    ],
)
async def test_wrong_counts_are_found_and_made_anew(
    store: Path, counts: Callable[[bool], list[list[Any]]], fault: str
) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        said = [edge("STATED_BY", f"item {n}", "u1") for n in range(3)]
        old = _item(8, retired_at=AT)
        await put(graph, [node("u1", subtype="user"), *map(_item, range(4)), old, _passage(0)], said)
        right = counts(False)
        assert await graph.audit.wrong_counts() == []
        connection = sqlite3.connect(store / GRAPH)
        connection.execute(fault)
        connection.commit()
        connection.close()
        assert counts(False) != right
        (scope,) = await graph.audit.wrong_counts()
        await graph.outbox.recount(scope)
        assert (await graph.audit.wrong_counts(), counts(False)) == ([], right)
        await graph.close()


async def test_what_has_expired_is_not_counted_before_it_is_retired(store: Path) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        times = [AT - timedelta(days=3), AT - timedelta(days=2), AT - timedelta(days=1)]
        await put(graph, [_item(n, timestamp=at, expires_at=AT if n == 0 else None) for n, at in enumerate(times)])
        for now, first, items in ((AT - timedelta(hours=1), times[0], 3), (AT + timedelta(hours=1), times[1], 2)):
            (part,) = await graph.context_parts(Scope(tenant="t", now=now))
            assert (part.items, part.first, part.last) == (items, first, times[2])
            assert sum(one.items for one in await graph.speaker_parts(Scope(tenant="t", now=now))) == items
        await graph.close()


async def test_what_had_expired_when_it_was_retired_is_not_gone_through_again(
    store: Path, counts: Callable[[bool], list[list[Any]]]
) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        expired = [_item(n, expires_at=AT) for n in range(3)]
        later = AT + timedelta(hours=1)
        await put(graph, [*expired, _item(3, retired_at=later)])
        await put(graph, [replace(one, retired_at=later) for one in expired])
        assert [len(rows) for rows in counts(False)] == [1, 0, 1], "the one that was retracted"
        (part,) = await graph.context_parts(Scope(tenant="t", now=later), retired=True)
        assert part.items == 1
        await put(graph, [replace(expired[0], retired_at=AT - timedelta(hours=1))])
        assert counts(False) == counts(True), "it was retired before it would have expired"
        assert len(counts(False)[-1]) == 2
        await graph.close()


def _as_before_counts(store: Path) -> None:
    """Make a store of the schema before the one that counts items."""
    connection = sqlite3.connect(store / GRAPH)
    triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'count_*'"
    for (trigger,) in connection.execute(triggers).fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    for table in ("context_total", "speaker_total", "counted_item", "uncounted_item"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("PRAGMA user_version = 29")
    connection.commit()
    connection.close()


async def test_a_store_of_an_earlier_version_is_counted_as_it_is_opened(
    store: Path, counts: Callable[[bool], list[list[Any]]]
) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        await put(graph, [*map(_item, range(7)), _passage(0)], [edge("EVIDENCED_BY", "item 0", "passage 0")])
        await graph.close()
        counted = counts(False)
        _as_before_counts(store)
        await SqliteGraphStore(data_dir, EdgeRegistry.with_core_types()).close()
        assert counts(False) == counted
        assert len(counted[-1]) == 7


async def test_counting_that_was_interrupted_goes_on_and_nobody_reads_beside_it_before(
    store: Path, counts: Callable[[bool], list[list[Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        await put(graph, [*map(_item, range(7))])
        await graph.close()
        counted = counts(False)
        _as_before_counts(store)

        parts: list[int] = []

        def killed(connection: sqlite3.Connection) -> bool:
            if len(parts) == 2:
                raise KeyboardInterrupt
            parts.append(1)
            return count_part(connection)

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("vicw_stores.sqlite.item_totals.PART", 2)
            patch.setattr("vicw_stores.sqlite.store.count_part", killed)
            SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        assert counts(False)[-1] == counted[-1][:4], "what was counted before stays"
        with pytest.raises(SchemaVersionError, match="not counted yet"):
            SqliteGraphStore(data_dir, EdgeRegistry.with_core_types(), beside=True)
        await SqliteGraphStore(data_dir, EdgeRegistry.with_core_types()).close()
        assert counts(False) == counted
        await SqliteGraphStore(data_dir, EdgeRegistry.with_core_types(), beside=True).close()


async def test_how_many_items_pass_is_estimated_of_one_tenant_alone(store: Path) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        await put(graph, [replace(_item(n), speaker="a" if n % 2 else "b") for n in range(200)])
        await put(graph, [replace(_item(n), uid=make_uid("u", str(n)), tenant="u") for n in range(100)], tenant="u")
        half = await graph.passing_estimate("t", OneOf("speaker", ("a",)))
        every = await graph.passing_estimate("t", OneOf("speaker", ("a", "b")))
        none = await graph.passing_estimate("none", OneOf("speaker", ("a",)))
        assert half is not None
        assert 40 < half.items < 100
        assert every is not None
        assert (100 < every.items <= 200, every.share, none) == (True, 1.0, PassingEstimate(0, 0.0))
        await graph.close()


async def test_a_few_lucky_items_of_a_sample_and_retired_ones_say_nothing_of_live_ones(store: Path) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        items = [replace(_item(n), speaker="rare" if n % 50 == 0 else "b") for n in range(400)]
        old = [replace(_item(n), speaker="old", retired_at=AT) for n in range(400, 800)]
        await put(graph, [*items, *old])
        rare = [await graph.passing_estimate("t", OneOf("speaker", ("rare",)), live=live) for live in (False, True)]
        assert [one.items for one in rare if one is not None] == [0, 0]
        past = await graph.passing_estimate("t", OneOf("speaker", ("old",)))
        now = await graph.passing_estimate("t", OneOf("speaker", ("old",)), live=True)
        live = await graph.passing_estimate("t", OneOf("speaker", ("b",)), live=True)
        assert past is not None
        assert past.items > 200
        assert now == PassingEstimate(0, 0.0)
        assert live is not None
        assert (live.items > 200, live.share > 0.9) == (True, True)
        await graph.close()
