"""SqliteGraphStore: the graph of the embedded default."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime
from itertools import batched
from pathlib import Path

from vicw_shared.errors import DataDirError
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.model.names import UNCOUNTED
from vicw_shared.ports import (
    ContextPart,
    GraphTransaction,
    ItemRef,
    ItemView,
    ListingQuery,
    NamePage,
    NameQuery,
    Neighbour,
    PassageTimes,
    PassingEstimate,
    Scope,
    SpeakerPage,
    SpeakerPart,
    Spread,
    TermFrequencies,
    TextHit,
    WeightedNeighbour,
)
from vicw_shared.ports.item_filter import ItemCondition
from vicw_shared.telemetry.engines import measured
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite.archive import SqliteArchive
from vicw_stores.sqlite.audit import SqliteAudit
from vicw_stores.sqlite.cache import ReadCache
from vicw_stores.sqlite.database import MAPPED_MB, SqliteDatabase, Writer
from vicw_stores.sqlite.erasure import SqliteErasures
from vicw_stores.sqlite.full_text import find_passages
from vicw_stores.sqlite.hop import read_weighted_neighbours
from vicw_stores.sqlite.item_list import (
    list_items,
    read_arrivals,
    read_passing_estimate,
    read_passing_items,
)
from vicw_stores.sqlite.item_totals import count_changed, count_part, read_context_parts, read_speaker_parts
from vicw_stores.sqlite.items import (
    read_by_text_key,
    read_expired,
    read_item_views,
    read_items,
    read_owners,
)
from vicw_stores.sqlite.names import count_edges, find_names, read_triggered
from vicw_stores.sqlite.outbox import SqliteOutbox
from vicw_stores.sqlite.pending_extractions import SqlitePendingExtractions
from vicw_stores.sqlite.record import SqliteRecord
from vicw_stores.sqlite.rows import NODE_COLUMNS, marks, node_of, pack
from vicw_stores.sqlite.scans import SqliteScans
from vicw_stores.sqlite.schema import migrate, require_current
from vicw_stores.sqlite.steps import SqliteSleepLog
from vicw_stores.sqlite.stored_words import SqliteWords, record_current
from vicw_stores.sqlite.term_statistics import read_frequencies
from vicw_stores.sqlite.times import read_between, read_stated_times
from vicw_stores.sqlite.transaction import SqliteTransaction
from vicw_stores.sqlite.uses import SqliteUses
from vicw_stores.sqlite.webhooks import SqliteWebhooks
from vicw_stores.sqlite.words import Domains
from vicw_stores.term_counts import TermRecords

GRAPH = "graph.sqlite3"
"""Name of the graph's file in a data directory."""
CACHED_NODES = 20_000
_BATCH = 500


@measured("sqlite")
class SqliteGraphStore(SqliteScans):
    """Store in one file of a folder; also DomainCounts."""

    def __init__(
        self,
        data_dir: DataDir,
        registry: EdgeRegistry,
        *,
        beside: bool = False,
        mapped_mb: int = MAPPED_MB,
        cached_nodes: int = CACHED_NODES,
    ) -> None:
        """Open the file and migrate its schema to this program's. Edges of types in ``registry`` may be written.

        With ``beside``, another process may have the directory open: the schema must be this program's, and the caller
        must not claim work. Each connection maps at most ``mapped_mb`` MiB of the file into memory. The cache has room
        for ``cached_nodes`` nodes; with ``beside`` it is off, since it cannot observe the other process' writes.
        """
        self._data_dir = data_dir
        self._registry = registry
        self._domains = Domains()
        cache = ReadCache(0 if beside else cached_nodes)

        def commit(connection: sqlite3.Connection) -> None:
            count_changed(connection)
            cache.commit(connection)

        def prepare(connection: sqlite3.Connection) -> None:
            (is_new,) = connection.execute("SELECT count(*) = 0 FROM sqlite_schema").fetchone()
            (require_current if beside else migrate)(connection)
            if is_new:
                record_current(connection)
            cache.watch(connection)
            more = not beside
            while more:  # what a migration has left to count, in parts: where one fails, the next start goes on
                connection.execute("BEGIN IMMEDIATE")
                more = count_part(connection)
                cache.commit(connection)

        database = SqliteDatabase(data_dir.path / GRAPH, prepare, mapped_mb=mapped_mb)
        super().__init__(database)
        self._cache = cache
        self._write = write = Writer(database, commit)
        self.record = SqliteRecord(database, write)
        self.outbox = SqliteOutbox(database, write)
        self.pending_extractions = SqlitePendingExtractions(database, write)
        self.audit = SqliteAudit(database)
        self.archive = SqliteArchive(database)
        self.log = SqliteSleepLog(database, write)
        self.erasures = SqliteErasures(database, write)
        self.uses = SqliteUses(database, write)
        self._term_records = TermRecords()
        self.words = SqliteWords(database, write)
        self.webhooks = SqliteWebhooks(database, write)

    async def write[T](self, tenant: str, context: str, work: Callable[[GraphTransaction], Awaitable[T]]) -> T:
        self._data_dir.require_room()
        transaction = SqliteTransaction(self._database, self._registry, tenant, context)
        return await self._write.run(lambda: work(transaction))

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        cached = self._cache.find_cached(tenant, uids)
        return cached if cached is not None else await self._database.read(lambda c: self._cache.nodes(c, tenant, uids))

    async def texts(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        def work(connection: sqlite3.Connection) -> dict[str, str]:
            texts: dict[str, str] = {}
            packed = {pack(uid): uid for uid in uids}
            for part in batched(packed, _BATCH):
                rows = connection.execute(
                    f"SELECT uid, text FROM node WHERE uid IN ({marks(len(part))}) "  # noqa: S608
                    "AND tenant = ? AND text IS NOT NULL",
                    (*part, tenant),
                )
                texts.update((packed[uid], text) for uid, text in rows)
            return texts

        return await self._database.read(work) if uids else {}

    async def owners(self, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
        if not chunk_uids:
            return {}
        return await self._database.read(lambda c: read_owners(c, tenant, chunk_uids))

    async def expand(
        self, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int, *, among: int | None = None
    ) -> list[Neighbour]:
        return await self._database.read(lambda c: self._cache.neighbours(c, tenant, uids, spreads, limit))

    async def weighted_neighbours(
        self, tenant: str, uids: Sequence[str], spread: Spread, limit: int, *, among: int | None = None
    ) -> list[WeightedNeighbour]:
        return await self._database.read(lambda c: read_weighted_neighbours(c, tenant, uids, spread, limit))

    async def find_names(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        return await self._database.read(lambda c: find_names(c, tenant, queries, contexts))

    async def degrees(self, tenant: str, uids: Sequence[str]) -> dict[str, int]:
        return await self._database.read(lambda c: count_edges(c, tenant, uids, UNCOUNTED))

    async def items(self, tenant: str, source_id: str, contexts: Sequence[str]) -> list[Node]:
        return await self._database.read(lambda c: read_items(c, tenant, source_id, contexts))

    async def triggered(
        self, tenant: str, phrases: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        return await self._database.read(lambda c: read_triggered(c, tenant, phrases, contexts, limit))

    async def by_text_key(
        self, tenant: str, keys: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> dict[str, list[Node]]:
        return await self._database.read(lambda c: read_by_text_key(c, tenant, keys, contexts, limit))

    async def between(
        self,
        tenant: str,
        start: datetime,
        end: datetime,
        *,
        contexts: Sequence[str] | None = None,
        limit: int,
        earliest: bool = False,
    ) -> list[Node]:
        return await self._database.read(
            lambda c: read_between(c, tenant, (start, end), contexts, limit, earliest=earliest, stated=False)
        )

    async def stated_between(
        self,
        tenant: str,
        start: datetime,
        end: datetime,
        *,
        contexts: Sequence[str] | None = None,
        limit: int,
        earliest: bool = False,
    ) -> list[Node]:
        return await self._database.read(
            lambda c: read_between(c, tenant, (start, end), contexts, limit, earliest=earliest, stated=True)
        )

    async def stated_times(self, tenant: str, items: Sequence[str]) -> dict[str, list[PassageTimes]]:
        return await self._database.read(lambda c: read_stated_times(c, tenant, items))

    async def expired(self, before: datetime, *, limit: int) -> list[Node]:
        return await self._database.read(lambda c: read_expired(c, before, limit))

    async def item_views(self, tenant: str, uids: Sequence[str]) -> list[ItemView]:
        return await self._database.read(lambda c: read_item_views(c, tenant, uids))

    async def passing_items(
        self,
        tenant: str,
        condition: ItemCondition,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        live: bool = False,
    ) -> list[str]:
        return await self._database.read(lambda c: read_passing_items(c, tenant, condition, limit, among, live=live))

    async def list_items(self, query: ListingQuery, limit: int) -> list[Node]:
        return await self._database.read(lambda c: list_items(c, query, limit))

    async def passing_estimate(
        self, tenant: str, condition: ItemCondition, *, live: bool = False
    ) -> PassingEstimate | None:
        return await self._database.read(lambda c: read_passing_estimate(c, tenant, condition, live=live))

    async def context_parts(
        self, scope: Scope, *, retired: bool = False, page: NamePage | None = None
    ) -> list[ContextPart]:
        return await self._database.read(lambda c: read_context_parts(c, scope, retired=retired, page=page))

    async def speaker_parts(self, scope: Scope, page: SpeakerPage | None = None) -> list[SpeakerPart]:
        return await self._database.read(lambda c: read_speaker_parts(c, scope, page))

    async def arrivals_by_day(self, scope: Scope, since: datetime) -> dict[date, int]:
        return await self._database.read(lambda c: read_arrivals(c, scope, since))

    async def contexts(self, tenant: str) -> list[Node]:
        sql = f"SELECT {NODE_COLUMNS} FROM node WHERE label = 'Context' AND tenant = ? ORDER BY name"  # noqa: S608
        return await self._database.read(lambda c: [node_of(row) for row in c.execute(sql, (tenant,))])

    async def find(self, scope: Scope, text: str, limit: int) -> list[TextHit]:
        def work(connection: sqlite3.Connection) -> list[TextHit]:
            return find_passages(
                connection,
                scope,
                text,
                limit,
                lambda terms: read_frequencies(connection, self._term_records, scope.tenant, scope.contexts, terms),
            )

        return await self._database.read(work)

    async def frequencies(self, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]) -> TermFrequencies:
        return await self._database.read(lambda c: read_frequencies(c, self._term_records, tenant, contexts, terms))

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        return await self._database.read(lambda c: self._domains.of(c, tenant, public=public))

    async def close(self) -> None:
        await asyncio.to_thread(self._database.close)


def require_store(path: Path) -> None:
    """Raise DataDirError if there is no store at ``path``: a wrong path must not make a new one."""
    if not (path / GRAPH).exists():
        raise DataDirError(f"{path} holds no store. `vicw serve` creates one; --data-dir names another")
