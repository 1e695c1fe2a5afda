"""Neo4jGraphStore: the graph of the platform, over the official driver and Neo4j Community."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import date, datetime

from vicw_core.index import sparse
from vicw_core.index.full_text import SCORED, ranked
from vicw_shared.clock import now, to_us
from vicw_shared.errors import RetryableError
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
from vicw_shared.settings import Neo4jSettings
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.archive import Neo4jArchive
from vicw_stores.neo4j.audit import Neo4jAudit
from vicw_stores.neo4j.cypher import names, nodes
from vicw_stores.neo4j.cypher import text as full_text
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.erasure import Neo4jErasures
from vicw_stores.neo4j.hops import find_neighbours, find_weighted_neighbours
from vicw_stores.neo4j.item_list import (
    list_items,
    read_arrivals,
    read_context_parts,
    read_passing_items,
    read_speaker_parts,
)
from vicw_stores.neo4j.items import find_by_text_key, find_item_views
from vicw_stores.neo4j.key_ring import Neo4jKeyRing
from vicw_stores.neo4j.keys import EdgeTypes, item_key, tenant_key
from vicw_stores.neo4j.names import find_names, find_triggered
from vicw_stores.neo4j.outbox import Neo4jOutbox
from vicw_stores.neo4j.pending_extractions import Neo4jPendingExtractions
from vicw_stores.neo4j.record import Neo4jRecord, Neo4jUses
from vicw_stores.neo4j.rows import Properties, by_uid, gathered, item_ref, nodes_in
from vicw_stores.neo4j.scans import Neo4jScans
from vicw_stores.neo4j.schema import prepare
from vicw_stores.neo4j.steps import Neo4jSleepLog
from vicw_stores.neo4j.stored_words import Neo4jWords
from vicw_stores.neo4j.term_statistics import read_frequencies
from vicw_stores.neo4j.text import query_of
from vicw_stores.neo4j.times import find_between, find_stated_between, find_stated_times
from vicw_stores.neo4j.transaction import Neo4jTransaction
from vicw_stores.neo4j.webhooks import Neo4jWebhooks
from vicw_stores.term_counts import TermRecords


@measured("neo4j")
class Neo4jGraphStore(Neo4jScans):
    """Store on one database. Any number of processes may open it."""

    def __init__(self, database: Neo4jDatabase, types: EdgeTypes) -> None:
        super().__init__(database, types)
        self.record = Neo4jRecord(database)
        self.outbox = Neo4jOutbox(database)
        self.pending_extractions = Neo4jPendingExtractions(database)
        self.audit = Neo4jAudit(database, types)
        self.archive = Neo4jArchive(database, types)
        self.log = Neo4jSleepLog(database)
        self.erasures = Neo4jErasures(database)
        self.uses = Neo4jUses(database)
        self._term_records = TermRecords()
        self.words = Neo4jWords(database)
        self.webhooks = Neo4jWebhooks(database)

    @classmethod
    async def open(
        cls, settings: Neo4jSettings, registry: EdgeRegistry, *, timeout_seconds: float | None = None
    ) -> Neo4jGraphStore:
        """Connect and migrate the database's schema to this program's.

        Afterwards ``timeout_seconds`` (VICW_RETRIEVAL_GRAPH_MS) bounds every call. If it is set, searches are warmed
        up. Raises UnavailableError, SettingsError or SchemaVersionError.
        """
        database = Neo4jDatabase(settings)
        try:
            types = EdgeTypes(registry, await prepare(database, [t.name for t in registry]))
        except BaseException:
            await database.close()
            raise
        if timeout_seconds is not None:
            await _warm_up(cls(database, types))
            await database.close()
            bound = {"bound": "VICW_RETRIEVAL_GRAPH_MS"} if timeout_seconds < settings.query_seconds else {}
            database = Neo4jDatabase(settings.with_timeout(timeout_seconds), **bound)
        return cls(database, types)

    @property
    def key_ring(self) -> Neo4jKeyRing:
        """The API keys, on the same connections."""
        return Neo4jKeyRing(self._database)

    async def close(self) -> None:
        await self._database.close()

    async def write[T](self, tenant: str, context: str, work: Callable[[GraphTransaction], Awaitable[T]]) -> T:
        async def attempt(run: RunStatement) -> T:
            transaction = Neo4jTransaction(run, tenant, context, self._types)
            await transaction.lock()
            return await work(transaction)

        return await self._database.write(attempt)

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        return by_uid(await self._gather(nodes.FIND, uids=list(uids), tenant=tenant) if uids else [])

    async def texts(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        rows = await self._gather(nodes.TEXTS, uids=list(uids), tenant=tenant) if uids else []
        return {row["uid"]: row["text"] for row in rows}

    async def owners(self, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
        rows = await self._gather(nodes.OWNERS, uids=list(chunk_uids), tenant=tenant) if chunk_uids else []
        return {row["chunk"]: item_ref(row["item"], row["part"]) for row in rows}

    async def expand(
        self, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int, *, among: int | None = None
    ) -> list[Neighbour]:
        stored = [spread for spread in dict.fromkeys(spreads) if self._types.stored(spread[:1])]
        return await find_neighbours(self._database.read, tenant, uids, stored, limit, among) if uids and stored else []

    async def weighted_neighbours(
        self, tenant: str, uids: Sequence[str], spread: Spread, limit: int, *, among: int | None = None
    ) -> list[WeightedNeighbour]:
        if not uids or not self._types.stored(spread[:1]):
            return []
        return await find_weighted_neighbours(self._database.read, tenant, uids, spread, limit, among)

    async def _gather(self, query: str, **values: object) -> list[Properties]:
        return gathered(await self._database.read(query, **values))

    async def find_names(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        return await find_names(self._database.read, tenant, queries, contexts)

    async def degrees(self, tenant: str, uids: Sequence[str]) -> dict[str, int]:
        types = tuple(name for name in self._types.all if name not in UNCOUNTED)
        rows = await self._database.read(names.degrees(types), uids=list(uids), tenant=tenant) if uids else []
        return {row["uid"]: row["count"] for row in rows}

    async def items(self, tenant: str, source_id: str, contexts: Sequence[str]) -> list[Node]:
        keys = [item_key(tenant, context, source_id) for context in contexts]
        latest = by_uid(await self._database.read(nodes.LATEST, keys=keys) if keys else [])
        return sorted(latest.values(), key=lambda node: node.context)

    async def triggered(
        self, tenant: str, phrases: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        return await find_triggered(self._database.read, tenant, phrases, contexts, limit)

    async def by_text_key(
        self, tenant: str, keys: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> dict[str, list[Node]]:
        return await find_by_text_key(self._database.read, tenant, keys, contexts, limit)

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
        within = await self._context_names(tenant, contexts)
        return await find_between(self._database.read, tenant, (start, end), within, limit, earliest=earliest)

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
        within = await self._context_names(tenant, contexts)
        return await find_stated_between(self._database.read, tenant, (start, end), within, limit, earliest=earliest)

    async def stated_times(self, tenant: str, items: Sequence[str]) -> dict[str, list[PassageTimes]]:
        return await find_stated_times(self._database.read, tenant, items)

    async def _context_names(self, tenant: str, contexts: Sequence[str] | None) -> Sequence[str]:
        return [root.context for root in await self.contexts(tenant)] if contexts is None else contexts

    async def expired(self, before: datetime, *, limit: int) -> list[Node]:
        rows = await self._database.read(nodes.EXPIRED, before=to_us(before), limit=limit)
        return nodes_in(rows)

    async def item_views(self, tenant: str, uids: Sequence[str]) -> list[ItemView]:
        return await find_item_views(self._database.read, tenant, uids)

    async def passing_items(
        self,
        tenant: str,
        condition: ItemCondition,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        live: bool = False,
    ) -> list[str]:
        return await read_passing_items(self._database.read, tenant, condition, limit, among, live=live)

    async def list_items(self, query: ListingQuery, limit: int) -> list[Node]:
        return await list_items(self._database.read, query, limit)

    async def passing_estimate(
        self, tenant: str, condition: ItemCondition, *, live: bool = False
    ) -> PassingEstimate | None:
        return None

    async def context_parts(
        self, scope: Scope, *, retired: bool = False, page: NamePage | None = None
    ) -> list[ContextPart]:
        parts = await read_context_parts(self._database.wait, scope, retired=retired)
        return page.parts_of(parts) if page is not None else parts

    async def speaker_parts(self, scope: Scope, page: SpeakerPage | None = None) -> list[SpeakerPart]:
        parts = await read_speaker_parts(self._database.wait, scope)
        return page.parts_of(parts) if page is not None else parts

    async def arrivals_by_day(self, scope: Scope, since: datetime) -> dict[date, int]:
        return await read_arrivals(self._database.wait, scope, since)

    async def contexts(self, tenant: str) -> list[Node]:
        rows = await self._database.read(nodes.CONTEXTS, tenant_key=tenant_key(tenant), tenant=tenant)
        return sorted(by_uid(rows).values(), key=lambda node: node.name)

    async def frequencies(self, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]) -> TermFrequencies:
        return await read_frequencies(self._database, self._term_records, tenant, contexts, terms)

    async def find(self, scope: Scope, text: str, limit: int) -> list[TextHit]:
        query = query_of(scope.tenant, text)
        if query is None or limit <= 0:
            return []
        condition, values = full_text.inside(scope)
        terms = sparse.encode_query(text)
        rows, frequencies = await asyncio.gather(
            self._database.read(full_text.find(condition), query=query, limit=SCORED * limit, **values),
            self.frequencies(scope.tenant, scope.contexts, terms.indices),
        )
        return ranked(terms, frequencies, {row["uid"]: row["words"].split() for row in rows}, limit)


async def _warm_up(store: Neo4jGraphStore) -> None:
    """Run a search without hits: the first search on a freshly started server takes seconds."""
    with suppress(RetryableError):  # if it fails, only the first search is slower
        await store.find(Scope(tenant="", now=now()), "word", 1)
