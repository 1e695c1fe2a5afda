"""Export reads on SQLite: one read transaction, which shows all data as of one moment despite concurrent writes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from itertools import batched

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Counters, GraphSnapshot, MaintenanceStep, Receipt, Steps, Use
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase, translated
from vicw_stores.sqlite.rows import NODE_COLUMNS, edge_of, marks, node_of, pack, unpack
from vicw_stores.sqlite.steps import read_steps
from vicw_stores.sqlite.transaction import read_counters, read_nodes
from vicw_stores.sqlite.uses import read_uses

_BATCH = 500
_ROOTS = f"SELECT {NODE_COLUMNS} FROM node WHERE label = 'Context' ORDER BY tenant, context"  # noqa: S608
_MEMBERS = (
    "SELECT s.uid FROM node r JOIN edge e ON e.target = r.pk AND e.type = 'BELONGS_TO' JOIN node s ON s.pk = e.source "
    "WHERE r.uid = ? AND r.label = 'Context'"
)
_RECEIPTS = (
    "SELECT key, fingerprint, created_at, body FROM receipt "
    "WHERE tenant = ? AND (created_at, key) > (?, ?) ORDER BY created_at, key LIMIT ?"
)
_BEFORE_ALL = (-(2**62), "")


class SqliteArchive:
    """GraphArchive over the database of a graph."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[GraphSnapshot]:
        with ThreadPoolExecutor(1, thread_name_prefix="sqlite-snapshot") as thread, translated():
            connection = await asyncio.get_running_loop().run_in_executor(thread, self._begin)
            with closing(connection):
                yield SqliteSnapshot(connection, thread)

    def _begin(self) -> sqlite3.Connection:
        connection = self._database.connect()
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM meta").fetchone()  # the snapshot begins with the first read
        return connection

    async def import_mark(self) -> str | None:
        sql = "SELECT value FROM meta WHERE key = 'import'"
        row = await self._database.read(lambda c: c.execute(sql).fetchone())
        return str(row[0]) if row else None


@measured("sqlite")
class SqliteSnapshot:
    """GraphSnapshot over a connection with a read transaction, and the connection's thread."""

    def __init__(self, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._thread = thread

    async def _do[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        with translated():
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._connection)

    async def roots(self) -> list[Node]:
        return await self._do(lambda c: [node_of(row) for row in c.execute(_ROOTS)])

    async def version(self, root: Node) -> int:
        return 0  # a snapshot does not change

    async def members(self, root: Node) -> list[str]:
        rows = await self._do(lambda c: c.execute(_MEMBERS, (pack(root.uid),)).fetchall())
        return sorted({root.uid, *(unpack(uid) for (uid,) in rows)})

    async def nodes(self, root: Node, uids: Sequence[str]) -> dict[str, Node]:
        return await self._do(lambda c: read_nodes(c, root.tenant, uids))

    async def edges(self, root: Node, uids: Sequence[str], *, after: str | None, limit: int) -> list[Edge]:
        sql = (
            "SELECT e.id, e.type, s.uid, t.uid, e.weight, e.created_at, e.created_by, e.properties "
            "FROM node s JOIN edge e ON e.source = s.pk JOIN node t ON t.pk = e.target "
            "WHERE s.uid IN ({}) AND s.tenant = ? AND e.id > ? ORDER BY e.id LIMIT ?"
        )
        values = (root.tenant, pack(after) if after else b"", limit)

        def work(connection: sqlite3.Connection) -> list[Edge]:
            edges: list[Edge] = []
            for part in batched(uids, _BATCH):
                rows = connection.execute(sql.format(marks(len(part))), (*map(pack, part), *values))
                edges += map(edge_of, rows)
            return sorted(edges, key=lambda edge: edge.id)[:limit]

        return await self._do(work)

    async def counters(self, root: Node, flows: Sequence[str]) -> Counters:
        return await self._do(lambda c: read_counters(c, root.tenant, root.context, flows))

    async def pending_extractions(self, root: Node, items: Sequence[str]) -> set[str]:
        def work(connection: sqlite3.Connection) -> set[str]:
            pending: set[str] = set()
            for part in batched(items, _BATCH):
                sql = f"SELECT item FROM unread WHERE item IN ({marks(len(part))}) AND tenant = ?"  # noqa: S608
                rows = connection.execute(sql, (*map(pack, part), root.tenant))
                pending.update(unpack(uid) for (uid,) in rows)
            return pending

        return await self._do(work)

    async def uses(self, root: Node, items: Sequence[str]) -> dict[str, Use]:
        return await self._do(lambda c: read_uses(c, root.tenant, items))

    async def receipts(self, tenant: str, *, after: Receipt | None, limit: int) -> list[Receipt]:
        place = (to_us(after.created_at), after.key) if after is not None else _BEFORE_ALL
        rows = await self._do(lambda c: c.execute(_RECEIPTS, (tenant, *place, limit)).fetchall())
        return [Receipt(key, fingerprint, from_us(at), json.loads(body)) for key, fingerprint, at, body in rows]

    async def steps(self, *, before: MaintenanceStep | None, limit: int) -> list[MaintenanceStep]:
        return await self._do(lambda c: read_steps(c, Steps(with_feedback=True), before, limit))
