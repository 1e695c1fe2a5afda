"""Export reads on Neo4j. It has no snapshots: a context that changes while it is read gets another version."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from vicw_shared.clock import to_us
from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports import Counters, GraphSnapshot, MaintenanceStep, Receipt, Steps, Use
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import nodes, records
from vicw_stores.neo4j.database import Neo4jDatabase
from vicw_stores.neo4j.keys import EdgeTypes, arrivals_record, steps_record, tenant_key
from vicw_stores.neo4j.pending_extractions import Neo4jPendingExtractions
from vicw_stores.neo4j.record import Neo4jUses
from vicw_stores.neo4j.rows import by_uid, edge_of, gathered, nodes_in
from vicw_stores.neo4j.steps import find_steps
from vicw_stores.neo4j.transaction import keyed_receipt

_PAGE = 1000
_UIDS = 50_000
"""Page size of uids: each page reads all members of the context, so pages should be few."""
_MERGE_CONTEXT = ""
"""Context whose lock serialises merges across contexts; no caller can use this name."""
_BEFORE_ALL = (-(2**62), "")


class Neo4jArchive:
    """GraphArchive on one database."""

    def __init__(self, database: Neo4jDatabase, types: EdgeTypes) -> None:
        self._database = database
        self._types = types

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[GraphSnapshot]:
        yield Neo4jSnapshot(self._database, self._types)

    async def import_mark(self) -> str | None:
        (row,) = await self._database.read(records.READ_MARK)
        mark: str | None = row["mark"]
        return mark


@measured("neo4j")
class Neo4jSnapshot:
    """GraphSnapshot of the committed data."""

    def __init__(self, database: Neo4jDatabase, types: EdgeTypes) -> None:
        self._database = database
        self._types = types
        self._pending_extractions = Neo4jPendingExtractions(database)
        self._uses = Neo4jUses(database)

    async def roots(self) -> list[Node]:
        roots: list[Node] = []
        query, after = nodes.page(Label.CONTEXT), ""
        while page := nodes_in(await self._database.read(query, after=after, limit=_PAGE)):
            roots += page
            after = page[-1].uid
        return sorted(roots, key=lambda root: (root.tenant, root.context))

    async def version(self, root: Node) -> int:
        locks = [arrivals_record(root.tenant, context) for context in (root.context, _MERGE_CONTEXT)]
        (row,) = await self._database.read(records.VERSION, records=locks)
        return int(row["version"])

    async def members(self, root: Node) -> list[str]:
        uids: list[str] = []
        after = ""
        while rows := await self._database.read(records.MEMBERS, root=root.uid, after=after, limit=_UIDS):
            uids += [row["uid"] for row in rows]
            after = uids[-1]
        return sorted({root.uid, *uids})

    async def nodes(self, root: Node, uids: Sequence[str]) -> dict[str, Node]:
        rows = await self._database.read(nodes.FIND, uids=list(uids), tenant=root.tenant) if uids else []
        return by_uid(gathered(rows))

    async def edges(self, root: Node, uids: Sequence[str], *, after: str | None, limit: int) -> list[Edge]:
        if not uids:
            return []
        values = {"uids": list(uids), "tenant": root.tenant, "after": after or "", "limit": limit}
        rows = await self._database.read(records.leaving(self._types.all), **values)
        return [edge_of(row["edge"]) for row in rows]

    async def counters(self, root: Node, flows: Sequence[str]) -> Counters:
        arrivals = arrivals_record(root.tenant, root.context)
        steps = {flow: steps_record(root.tenant, root.context, flow) for flow in flows}
        rows = await self._database.read(records.COUNTERS, records=[arrivals, *steps.values()])
        values = {row["record"]: row["value"] or 0 for row in rows}
        return Counters(values.get(arrivals, 0), {flow: values.get(record, 0) for flow, record in steps.items()})

    async def pending_extractions(self, root: Node, items: Sequence[str]) -> set[str]:
        return set(await self._pending_extractions.of(root.tenant, items)) if items else set()

    async def uses(self, root: Node, items: Sequence[str]) -> dict[str, Use]:
        return await self._uses.uses(root.tenant, items) if items else {}

    async def receipts(self, tenant: str, *, after: Receipt | None, limit: int) -> list[Receipt]:
        at, key = (to_us(after.created_at), after.key) if after is not None else _BEFORE_ALL
        values = {"tenant_key": tenant_key(tenant), "at": at, "key": key, "limit": limit}
        return [keyed_receipt(row["receipt"]) for row in await self._database.read(records.RECEIPTS, **values)]

    async def steps(self, *, before: MaintenanceStep | None, limit: int) -> list[MaintenanceStep]:
        return await find_steps(self._database, Steps(with_feedback=True), before, limit)
