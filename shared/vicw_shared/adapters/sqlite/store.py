"""SqliteGraphStore: the graph of the embedded default (design: "What was tried", embedded stores)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import batched

from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.sqlite.archive import SqliteArchive
from vicw_shared.adapters.sqlite.audit import SqliteAudit
from vicw_shared.adapters.sqlite.cache import ReadCache
from vicw_shared.adapters.sqlite.database import MAPPED_MB, Database
from vicw_shared.adapters.sqlite.erasing import SqliteErasures
from vicw_shared.adapters.sqlite.finding import find_passages, rarity_of
from vicw_shared.adapters.sqlite.growths import SqliteGrowths
from vicw_shared.adapters.sqlite.hop import read_leads
from vicw_shared.adapters.sqlite.items import (
    read_between,
    read_expired,
    read_items,
    read_owners,
)
from vicw_shared.adapters.sqlite.names import count_edges, find_names
from vicw_shared.adapters.sqlite.outbox import SqliteOutbox
from vicw_shared.adapters.sqlite.phrases import read_triggered
from vicw_shared.adapters.sqlite.rounds import SqliteRounds
from vicw_shared.adapters.sqlite.rows import (
    NODE_COLUMNS,
    marks,
    node_of,
    pack,
)
from vicw_shared.adapters.sqlite.scans import scan
from vicw_shared.adapters.sqlite.schema import migrate, require_current
from vicw_shared.adapters.sqlite.steps import read_step
from vicw_shared.adapters.sqlite.transaction import SqliteTransaction, read_receipt
from vicw_shared.adapters.sqlite.unread import SqliteUnreadItems
from vicw_shared.adapters.sqlite.uses import SqliteUses
from vicw_shared.adapters.sqlite.whole import read_whole
from vicw_shared.adapters.sqlite.wording import read_worded
from vicw_shared.adapters.sqlite.words import Domains
from vicw_shared.clock import from_us, to_us
from vicw_shared.finishing import finish
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.model.names import UNCOUNTED
from vicw_shared.ports import (
    GraphTransaction,
    ItemRef,
    Lead,
    ModelChange,
    ModelIdentity,
    Models,
    NameQuery,
    Neighbour,
    Receipt,
    Scan,
    Scope,
    Spread,
    Step,
    TextHit,
    WholeItem,
)
from vicw_shared.ports.scan import PAGE
from vicw_shared.telemetry.engines import measured

CACHED_NODES = 20_000
_BATCH = 500


@measured("sqlite")
class SqliteGraphStore(
    SqliteOutbox, SqliteAudit, SqliteArchive, SqliteErasures, SqliteUses, SqliteGrowths, SqliteRounds
):
    """All ports of a graph in one file of a folder: GraphStore, StoreRecord, GraphAudit, GraphArchive, SleepLog, …"""

    def __init__(
        self,
        data_dir: DataDir,
        registry: EdgeRegistry,
        *,
        beside: bool = False,
        mapped_mb: int = MAPPED_MB,
        cached_nodes: int = CACHED_NODES,
    ) -> None:
        """Open the file, and bring its schema to this program's. Edges of types in ``registry`` may be written.

        With ``beside`` another process may have the directory: the schema is left as it is, and must be this
        program's. Nothing may be claimed then. Of the file, ``mapped_mb`` MiB are mapped several times at most. So many
        ``cached_nodes`` stay in memory; none beside another process, whose writes nobody tells of.
        """
        self._data_dir = data_dir
        self._registry = registry
        self._changer: tuple[str, float] | None = None
        self._domains = Domains()
        cache = ReadCache(0 if beside else cached_nodes)

        def prepare(connection: sqlite3.Connection) -> None:
            (require_current if beside else migrate)(connection)
            cache.watch(connection)

        database = Database(data_dir.path / "graph.sqlite3", prepare, mapped_mb=mapped_mb)
        SqliteOutbox.__init__(self, database, cache)
        SqliteAudit.__init__(self, database)
        SqliteArchive.__init__(self, database)
        SqliteErasures.__init__(self, database)
        SqliteUses.__init__(self, database, self._write_atomically)
        SqliteGrowths.__init__(self, database, self._write_atomically)
        SqliteRounds.__init__(self, database, self._write_atomically)
        self.unread = SqliteUnreadItems(database, self._write_atomically)

    async def write[T](self, tenant: str, context: str, work: Callable[[GraphTransaction], Awaitable[T]]) -> T:
        self._data_dir.require_room()
        async with self._writing:
            # A cancelled request must still end its transaction, or it would hold the next one's.
            return await finish(
                self._transact(SqliteTransaction(self._database, self._registry, tenant, context), work)
            )

    async def _transact[T](self, transaction: GraphTransaction, work: Callable[[GraphTransaction], Awaitable[T]]) -> T:
        await self._database.write(lambda c: c.execute("BEGIN IMMEDIATE"))
        try:
            result = await work(transaction)
            await self._database.write(self._cache.commit)
        except BaseException:
            await self._database.write(lambda c: c.rollback())
            raise
        return result

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        kept = self._cache.kept(tenant, uids)
        return kept if kept is not None else await self._database.read(lambda c: self._cache.nodes(c, tenant, uids))

    async def texts(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        def work(connection: sqlite3.Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            given = {pack(uid): uid for uid in uids}
            for part in batched(given, _BATCH):
                rows = connection.execute(
                    f"SELECT uid, text FROM node WHERE uid IN ({marks(len(part))}) "  # noqa: S608
                    "AND tenant = ? AND text IS NOT NULL",
                    (*part, tenant),
                )
                found.update((given[uid], text) for uid, text in rows)
            return found

        return await self._database.read(work)

    async def owners(self, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
        return await self._database.read(lambda c: read_owners(c, tenant, chunk_uids))

    async def expand(
        self, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int, *, among: int | None = None
    ) -> list[Neighbour]:
        return await self._database.read(lambda c: self._cache.neighbours(c, tenant, uids, spreads, limit))

    async def leads(
        self, tenant: str, uids: Sequence[str], spread: Spread, limit: int, *, among: int | None = None
    ) -> list[Lead]:
        return await self._database.read(lambda c: read_leads(c, tenant, uids, spread, limit))

    async def find_names(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        return await self._database.read(lambda c: find_names(c, tenant, queries, contexts))

    async def scan[Record, Place](
        self, what: Scan[Record, Place], *, after: Place | None = None, limit: int = PAGE
    ) -> list[Record]:
        return await self._database.read(lambda c: scan(c, what, after, limit))

    async def step(self, step_id: str) -> Step | None:
        return await self._database.read(lambda c: read_step(c, step_id))

    async def degrees(self, tenant: str, uids: Sequence[str]) -> dict[str, int]:
        return await self._database.read(lambda c: count_edges(c, tenant, uids, UNCOUNTED))

    async def items(self, tenant: str, source_id: str, contexts: Sequence[str]) -> list[Node]:
        return await self._database.read(lambda c: read_items(c, tenant, source_id, contexts))

    async def triggered(
        self, tenant: str, phrases: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        return await self._database.read(lambda c: read_triggered(c, tenant, phrases, contexts, limit))

    async def worded(
        self, tenant: str, keys: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> dict[str, list[Node]]:
        return await self._database.read(lambda c: read_worded(c, tenant, keys, contexts, limit))

    async def between(
        self, tenant: str, start: datetime, end: datetime, *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        return await self._database.read(lambda c: read_between(c, tenant, (start, end), contexts, limit))

    async def expired(self, before: datetime, *, limit: int) -> list[Node]:
        return await self._database.read(lambda c: read_expired(c, before, limit))

    async def whole(self, tenant: str, uids: Sequence[str]) -> list[WholeItem]:
        return await self._database.read(lambda c: read_whole(c, tenant, uids))

    async def contexts(self, tenant: str) -> list[Node]:
        sql = f"SELECT {NODE_COLUMNS} FROM node WHERE label = 'Context' AND tenant = ? ORDER BY name"  # noqa: S608
        return await self._database.read(lambda c: [node_of(row) for row in c.execute(sql, (tenant,))])

    async def receipt(self, tenant: str, key: str) -> Receipt | None:
        return await self._database.read(lambda c: read_receipt(c, tenant, key))

    async def forget_receipts(self, before: datetime, *, limit: int) -> int:
        sql = "DELETE FROM receipt WHERE rowid IN (SELECT rowid FROM receipt WHERE created_at < ? LIMIT ?)"
        return await self._write_atomically(lambda c: c.execute(sql, (to_us(before), limit)).rowcount)

    async def find(self, scope: Scope, text: str, limit: int) -> list[TextHit]:
        return await self._database.read(lambda c: find_passages(c, scope, text, limit))

    async def rarity(self, stems: Sequence[str]) -> list[float]:
        return await self._database.read(lambda c: rarity_of(c, stems))

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        return await self._database.read(lambda c: self._domains.of(c, tenant, public=public))

    async def store_id(self) -> str:
        sql = "SELECT value FROM meta WHERE key = 'store'"
        return await self._database.read(lambda c: str(c.execute(sql).fetchone()[0]))

    async def models(self) -> Models:
        def work(connection: sqlite3.Connection) -> Models:
            sql = "SELECT key, value FROM meta WHERE key IN ('model', 'change', 'rebuilding')"
            known = dict(connection.execute(sql).fetchall())
            used, change, since = known.get("model"), known.get("change"), known.get("rebuilding")
            return Models(
                used and ModelIdentity(**json.loads(used)),
                ModelChange.load(change),
                from_us(int(since)) if since is not None else None,
            )

        return await self._database.read(work)

    async def set_model(
        self, identity: ModelIdentity, change: ModelChange | None = None, *, holder: str | None = None
    ) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            if holder is not None and (self._changer is None or self._changer[0] != holder):
                return False
            model = json.dumps(asdict(identity))
            connection.execute(
                "DELETE FROM meta WHERE key = 'rebuilding' AND ? <> (SELECT value FROM meta WHERE key = 'model')",
                (model,),
            )
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?)", (model,))
            connection.execute("DELETE FROM meta WHERE key = 'change'")
            if change is not None:
                connection.execute("INSERT INTO meta VALUES ('change', ?)", (change.dump(),))
            return True

        return await self._write_atomically(work)

    async def mark_rebuilding(self, since: datetime) -> None:
        sql = "INSERT OR REPLACE INTO meta VALUES ('rebuilding', ?)"
        await self._write_atomically(lambda c: c.execute(sql, (str(to_us(since)),)))

    async def clear_rebuilding(self, since: datetime) -> bool:
        sql = "DELETE FROM meta WHERE key = 'rebuilding' AND value = ?"
        return await self._write_atomically(lambda c: c.execute(sql, (str(to_us(since)),)).rowcount > 0)

    async def hold_change(self, holder: str, *, seconds: float) -> bool:
        # As claims are: of this process alone, since nobody else has the store open.
        if self._changer is not None and self._changer[0] != holder and self._changer[1] > time.monotonic():
            return False
        self._changer = (holder, time.monotonic() + seconds)
        return True

    async def close(self) -> None:
        await asyncio.to_thread(self._database.close)
