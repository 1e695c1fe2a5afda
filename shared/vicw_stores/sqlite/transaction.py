"""Write transaction on SQLite, between BEGIN IMMEDIATE and COMMIT."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import batched

from vicw_shared.clock import from_us, to_us
from vicw_shared.errors import MissingRecordError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.core5 import LEDGER
from vicw_shared.model.names import MAX_NAMESAKES, UNCOUNTED
from vicw_shared.ports import Counters, Direction, ErasurePart, Gap, MaintenanceStep, NameMatch, NameQuery, Receipt, Use
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase
from vicw_stores.sqlite.erasure import drop_nodes, drop_receipts, drop_steps, put_erasure_record
from vicw_stores.sqlite.hop import read_isolated
from vicw_stores.sqlite.names import count_edges, find_names
from vicw_stores.sqlite.outbox_rows import put_entries, renew_payloads
from vicw_stores.sqlite.pending_extractions import dequeue_extraction, queue_extractions
from vicw_stores.sqlite.rows import (
    NODE_COLUMNS,
    NODE_WIDTH,
    columns_of,
    edge_of,
    edge_row,
    marks,
    node_of,
    node_row,
    pack,
    unpack,
)
from vicw_stores.sqlite.steps import put_step
from vicw_stores.sqlite.uses import raise_uses, transfer_uses

_BATCH = 500
_UPDATE = ", ".join(f"{c} = excluded.{c}" for c in NODE_COLUMNS.replace(" ", "").split(",") if c != "uid")
_PUT_NODE = (
    f"INSERT INTO node ({NODE_COLUMNS}) VALUES ({marks(NODE_WIDTH)}) "  # noqa: S608
    f"ON CONFLICT (uid) DO UPDATE SET {_UPDATE} WHERE tenant = excluded.tenant"
)
_PUT_EDGE = (
    "INSERT INTO edge (id, type, source, target, weight, created_at, created_by, properties) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET weight = excluded.weight, properties = excluded.properties "
    "WHERE source = excluded.source"
)
_COUNT = (
    "INSERT INTO counter (tenant, context, flow, value) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (tenant, context, flow) DO UPDATE SET value = max(value, excluded.value)"
)
_ARRIVAL = ""
"""Flow id of the counter of arrivals; no caller can use it."""


@measured("sqlite", inside="write")
class SqliteTransaction:
    """GraphTransaction over the writer's connection."""

    def __init__(self, database: SqliteDatabase, registry: EdgeRegistry, tenant: str, context: str) -> None:
        self._database = database
        self._registry = registry
        self._tenant = tenant
        self._context = context

    async def _do[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._database.write(work)

    async def receipt(self, key: str) -> Receipt | None:
        return await self._do(lambda c: read_receipt(c, self._tenant, key))

    async def put_receipt(self, receipt: Receipt) -> None:
        row = (
            self._tenant,
            receipt.key,
            receipt.fingerprint,
            to_us(receipt.created_at),
            json.dumps(receipt.body, ensure_ascii=False),
        )
        await self._do(lambda c: c.execute("INSERT OR REPLACE INTO receipt VALUES (?, ?, ?, ?, ?)", row))

    async def forget_receipts(self, before: datetime, *, limit: int) -> None:
        sql = (
            "DELETE FROM receipt WHERE rowid IN (SELECT rowid FROM receipt "
            "WHERE tenant = ? AND created_at < ? ORDER BY created_at LIMIT ?)"
        )
        await self._do(lambda c: c.execute(sql, (self._tenant, to_us(before), limit)))

    async def nodes(self, uids: Sequence[str]) -> dict[str, Node]:
        if not uids:
            return {}
        return await self._do(lambda c: read_nodes(c, self._tenant, uids))

    async def items(self, source_ids: Sequence[str]) -> dict[str, Node]:
        return await self._find_by_source_id(source_ids, "label <> 'Chunk'")

    async def consolidated(self, source_ids: Sequence[str]) -> dict[str, Node]:
        has_ledger = f"label = 'Chunk' AND metadata <> '{{}}' AND json_extract(metadata, '$.{LEDGER}') IS NOT NULL"
        return await self._find_by_source_id(source_ids, has_ledger)

    async def _find_by_source_id(self, source_ids: Sequence[str], condition: str) -> dict[str, Node]:
        """Return the context's nodes with these ids that meet an SQL condition, the latest version of each id."""
        if not source_ids:
            return {}

        def work(connection: sqlite3.Connection) -> dict[str, Node]:
            nodes: dict[str, Node] = {}
            for part in batched(source_ids, _BATCH):
                rows = connection.execute(
                    f"SELECT {NODE_COLUMNS} FROM node WHERE tenant = ? AND context = ? "  # noqa: S608
                    f"AND source_id IN ({marks(len(part))}) AND {condition} ORDER BY version",
                    (self._tenant, self._context, *part),
                )
                nodes.update((node.source_id or "", node) for node in map(node_of, rows))
            return nodes

        return await self._do(work)

    async def counters(self, flows: Sequence[str]) -> Counters:
        return await self._do(lambda c: read_counters(c, self._tenant, self._context, flows))

    async def gaps(self, flow: str | None, keys: Sequence[ChainKey]) -> list[Gap]:
        return await self._do(lambda c: find_gaps(c, self._tenant, self._context, flow, keys))

    async def latest(self, before: ChainKey, limit: int) -> list[Node]:
        sql = (
            f"SELECT {NODE_COLUMNS} FROM node WHERE tenant = ? AND context = ? AND arrival IS NOT NULL "  # noqa: S608
            "AND retired_at IS NULL AND (timestamp, arrival) < (?, ?) ORDER BY timestamp DESC, arrival DESC LIMIT ?"
        )
        values = (self._tenant, self._context, *before[:2], limit)
        return await self._do(lambda c: [node_of(row) for row in c.execute(sql, values)])

    async def edges(self, uids: Sequence[str], types: Sequence[str], direction: Direction | None = None) -> list[Edge]:
        if not uids:
            return []
        ends = [end for end, side in (("source", Direction.OUT), ("target", Direction.IN)) if direction in {None, side}]

        def work(connection: sqlite3.Connection) -> list[Edge]:
            edges: dict[bytes, Edge] = {}
            for batch in batched(uids, _BATCH):
                part = [pack(uid) for uid in batch]
                for end in ends:
                    rows = connection.execute(
                        "SELECT e.id, e.type, s.uid, t.uid, e.weight, e.created_at, e.created_by, e.properties "  # noqa: S608
                        f"FROM node n JOIN edge e ON e.{end} = n.pk AND e.type IN ({marks(len(types))}) "
                        "JOIN node s ON s.pk = e.source JOIN node t ON t.pk = e.target "
                        f"WHERE n.uid IN ({marks(len(part))}) AND n.tenant = ?",
                        (*types, *part, self._tenant),
                    )
                    for row in rows:
                        edges[row[0]] = edge_of(row)
            return list(edges.values())

        return await self._do(work)

    async def named(self, names: Sequence[str], *, limit: int = MAX_NAMESAKES) -> dict[str, list[Node]]:
        if not names:
            return {}
        query = NameQuery(NameMatch.NAME, tuple(names), limit)
        return await self._do(lambda c: find_names(c, self._tenant, [query], [self._context])[0])

    async def degrees(self, uids: Sequence[str]) -> dict[str, int]:
        return await self._do(lambda c: count_edges(c, self._tenant, uids, UNCOUNTED))

    async def edges_from_items(self, items: Sequence[str]) -> list[Edge]:
        def work(connection: sqlite3.Connection) -> list[Edge]:
            edges: list[Edge] = []
            for part in batched(items, _BATCH):
                rows = connection.execute(
                    "SELECT e.id, e.type, s.uid, t.uid, e.weight, e.created_at, e.created_by, e.properties "  # noqa: S608
                    "FROM edge e JOIN node s ON s.pk = e.source JOIN node t ON t.pk = e.target "
                    f"WHERE e.told_by IN ({marks(len(part))}) AND s.tenant = ?",
                    (*part, self._tenant),
                )
                edges += [edge_of(row) for row in rows]
            return edges

        return await self._do(work)

    async def isolated(self, uids: Sequence[str]) -> set[str]:
        return await self._do(lambda c: read_isolated(c, self._tenant, uids))

    async def put_nodes(self, nodes: Sequence[Node]) -> None:
        rows = [node_row(node) for node in nodes]
        chunks = [node for node in nodes if node.label is Label.CHUNK]
        entries = [(pack(node.uid), node.tenant, "payload" if node.indexed else "upsert") for node in chunks]
        counts = [
            (node.tenant, node.context, flow, value)
            for node in nodes
            for flow, value in ((_ARRIVAL, node.arrival), (node.flow_id, node.flow_step))
            if flow is not None and value is not None
        ]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(_PUT_NODE, rows)
            put_entries(connection, entries)
            connection.executemany(_COUNT, counts)

        await self._do(work)

    async def put_edges(self, edges: Sequence[Edge]) -> None:
        if not edges:
            return
        self._registry.require({edge.type for edge in edges})

        def work(connection: sqlite3.Connection) -> None:
            keys = _keys(connection, self._tenant, {uid for e in edges for uid in (e.source, e.target)})
            connection.executemany(_PUT_EDGE, [edge_row(e, keys[e.source], keys[e.target]) for e in edges])
            renew_payloads(connection, self._tenant, edges)

        await self._do(work)

    async def drop_edges(self, edges: Sequence[Edge]) -> None:
        if not edges:
            return
        rows = [(pack(edge.id),) for edge in edges]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM edge WHERE id = ?", rows)
            renew_payloads(connection, self._tenant, edges)

        await self._do(work)

    async def drop_nodes(self, uids: Sequence[str]) -> None:
        await self._do(lambda c: drop_nodes(c, self._tenant, uids))

    async def transfer_uses(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        await self._do(lambda c: transfer_uses(c, sources, targets))

    async def raise_uses(self, uses: Mapping[str, Use]) -> None:
        await self._do(lambda c: raise_uses(c, self._tenant, uses))

    async def log_step(self, step: MaintenanceStep) -> None:
        await self._do(lambda c: put_step(c, step))

    async def raise_counters(self, counters: Counters) -> None:
        numbers = [(_ARRIVAL, counters.arrival), *counters.flow_steps.items()]
        rows = [(self._tenant, self._context, flow, value) for flow, value in numbers]
        await self._do(lambda c: c.executemany(_COUNT, rows))

    async def record_erasure(self, note: ErasurePart) -> None:
        await self._do(lambda c: put_erasure_record(c, note))

    async def drop_receipts(self, keys: Sequence[str]) -> None:
        await self._do(lambda c: drop_receipts(c, self._tenant, keys))

    async def drop_steps(self, ids: Sequence[str]) -> None:
        await self._do(lambda c: drop_steps(c, ids))

    async def drop_counters(self, flows: Sequence[str], *, arrivals: bool = False) -> None:
        rows = [(self._tenant, self._context, flow) for flow in (*([_ARRIVAL] if arrivals else []), *flows)]
        sql = "DELETE FROM counter WHERE tenant = ? AND context = ? AND flow = ?"
        await self._do(lambda c: c.executemany(sql, rows))

    async def mark_import(self, mark: str | None) -> None:
        if mark is None:
            await self._do(lambda c: c.execute("DELETE FROM meta WHERE key = 'import'"))
        else:
            await self._do(lambda c: c.execute("INSERT OR REPLACE INTO meta VALUES ('import', ?)", (mark,)))

    async def queue_extractions(self, items: Sequence[str]) -> None:
        await self._do(lambda c: queue_extractions(c, self._tenant, self._context, items))

    async def dequeue_extraction(self, item: str) -> bool:
        return await self._do(lambda c: dequeue_extraction(c, self._tenant, item))


def read_receipt(connection: sqlite3.Connection, tenant: str, key: str) -> Receipt | None:
    """Return the receipt stored under ``key``, or None."""
    row = connection.execute(
        "SELECT fingerprint, created_at, body FROM receipt WHERE tenant = ? AND key = ?", (tenant, key)
    ).fetchone()
    return Receipt(key, row[0], from_us(row[1]), json.loads(row[2])) if row else None


def read_nodes(connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
    """Return the tenant's nodes among ``uids``."""
    nodes: dict[str, Node] = {}
    for batch in batched(uids, _BATCH):
        part = [pack(uid) for uid in batch]
        rows = connection.execute(
            f"SELECT {columns_of('n')} FROM node n WHERE uid IN ({marks(len(part))}) AND tenant = ?",  # noqa: S608
            (*part, tenant),
        )
        for row in rows:
            nodes[unpack(row[0])] = node_of(row)
    return nodes


def read_counters(connection: sqlite3.Connection, tenant: str, context: str, flows: Sequence[str]) -> Counters:
    """Return the counters of a context and of these flows."""
    values: dict[str, int] = {}
    for part in batched([_ARRIVAL, *flows], _BATCH):
        rows = connection.execute(
            "SELECT flow, value FROM counter WHERE tenant = ? AND context = ? "  # noqa: S608
            f"AND flow IN ({marks(len(part))})",
            (tenant, context, *part),
        )
        values.update(rows.fetchall())
    return Counters(values.pop(_ARRIVAL, 0), {flow: values.get(flow, 0) for flow in flows})


def find_gaps(
    connection: sqlite3.Connection, tenant: str, context: str, flow: str | None, keys: Sequence[ChainKey]
) -> list[Gap]:
    """Return the gaps for ascending keys, with one pair of look-ups per gap, not per key."""
    if flow is None:
        where, columns, width = "tenant = ? AND context = ?", "timestamp, arrival", 2
        fixed: tuple[str, ...] = (tenant, context)
    else:
        where, columns, width = (
            "tenant = ? AND context = ? AND flow_id = ?",
            "unstepped, step, timestamp, flow_step",
            4,
        )
        fixed = (tenant, context, flow)
    select = f"SELECT uid, {columns} FROM node WHERE {where} AND arrival IS NOT NULL AND retired_at IS NULL "  # noqa: S608
    row_value = f"({columns})"
    descending = ", ".join(f"{c} DESC" for c in columns.split(", "))
    before_sql = f"{select} AND {row_value} < ({marks(width)}) ORDER BY {descending} LIMIT 1"
    after_sql = f"{select} AND {row_value} > ({marks(width)}) ORDER BY {columns} LIMIT 1"
    gaps: list[Gap] = []
    index = 0
    while index < len(keys):
        key = keys[index][:width]
        before = connection.execute(before_sql, (*fixed, *key)).fetchone()
        after = connection.execute(after_sql, (*fixed, *key)).fetchone()
        end = index + 1
        while end < len(keys) and (after is None or keys[end][:width] < tuple(after[1:])):
            end += 1
        gaps.append(Gap(unpack(before[0]) if before else None, unpack(after[0]) if after else None, end - index))
        index = end
    return gaps


def _keys(connection: sqlite3.Connection, tenant: str, uids: set[str]) -> dict[str, int]:
    ordered = list(uids)
    keys: dict[str, int] = {}
    for batch in batched(ordered, _BATCH):
        part = [pack(uid) for uid in batch]
        rows = connection.execute(
            f"SELECT uid, pk FROM node WHERE uid IN ({marks(len(part))}) AND tenant = ?",  # noqa: S608
            (*part, tenant),
        )
        keys.update((unpack(uid), pk) for uid, pk in rows)
    if len(keys) < len(ordered):
        missing = sorted(uids - keys.keys())
        raise MissingRecordError(f"An edge names nodes that do not exist: {', '.join(missing[:5])}")
    return keys
