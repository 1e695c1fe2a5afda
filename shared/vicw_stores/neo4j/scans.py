"""Scans on Neo4j: one statement per kind of record, each in index order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.ports import (
    Changes,
    EdgeEnds,
    Edges,
    Flow,
    FlowEvents,
    Flows,
    Items,
    ItemView,
    MaintenanceStep,
    NamedNodes,
    Nodes,
    PassageChange,
    Passages,
    PendingPoint,
    Scan,
    Steps,
)
from vicw_shared.ports.scan import PAGE
from vicw_shared.telemetry.engines import measured
from vicw_shared.text import fold_case
from vicw_stores.neo4j.cypher import edges, names, nodes, outbox
from vicw_stores.neo4j.cypher import items as cypher
from vicw_stores.neo4j.database import Neo4jDatabase
from vicw_stores.neo4j.items import item_views_of
from vicw_stores.neo4j.keys import EdgeTypes, chain_end, chain_prefix, name_place, place, tenant_key
from vicw_stores.neo4j.outbox import point_of
from vicw_stores.neo4j.rows import edge_of, is_node, nodes_in
from vicw_stores.neo4j.steps import find_steps

_LAST = "\U0010ffff"


@measured("neo4j")
class Neo4jScans:
    """Scans on one database."""

    def __init__(self, database: Neo4jDatabase, types: EdgeTypes) -> None:
        self._database = database
        self._types = types

    async def scan[Record, Place](
        self, what: Scan[Record, Place], *, after: Place | None = None, limit: int = PAGE
    ) -> list[Record]:
        return await _READERS[type(what)](self._database, self._types, what, after, limit)


async def _nodes(database: Neo4jDatabase, _types: EdgeTypes, what: Nodes, after: str | None, limit: int) -> list[Node]:
    return nodes_in(await database.read(nodes.page(what.label), after=after or "", limit=limit))


async def _passages(
    database: Neo4jDatabase, _types: EdgeTypes, _: Passages, after: str | None, limit: int
) -> list[PendingPoint]:
    rows = await database.read(outbox.PASSAGES, after=after or "", limit=limit)
    return [point_of(row) for row in rows if is_node(row["chunk"])]


async def _edges(database: Neo4jDatabase, types: EdgeTypes, _: Edges, after: Edge | None, limit: int) -> list[EdgeEnds]:
    """Return edges type by type, since an index covers one type."""
    records: list[EdgeEnds] = []
    for name in types.all:
        if after is not None and name < after.type:
            continue
        start = after.id if after is not None and name == after.type else ""
        rows = await database.read(edges.page(name), after=start, limit=limit - len(records))
        records += [EdgeEnds(edge_of(row["edge"]), Label(row["source"]), Label(row["target"])) for row in rows]
        if len(records) == limit:
            break
    return records


async def _items(
    database: Neo4jDatabase, _types: EdgeTypes, what: Items, after: str | None, limit: int
) -> list[ItemView]:
    rows = await database.read(cypher.page(what.label), tenant=what.tenant, after=after or "", limit=limit)
    return item_views_of(rows)


async def _changes(
    database: Neo4jDatabase, _types: EdgeTypes, what: Changes, after: PassageChange | None, limit: int
) -> list[PassageChange]:
    at, uid = (after.at, after.uid) if after is not None else (what.since, "")
    values = {"tenant_key": tenant_key(what.tenant), "at": to_us(at), "uid": uid, "limit": limit}
    rows = await database.read(cypher.CHANGES, **values)
    return [PassageChange(row["uid"], from_us(row["at"]), row["seq"]) for row in rows]


async def _flows(database: Neo4jDatabase, _types: EdgeTypes, what: Flows, after: Flow | None, limit: int) -> list[Flow]:
    if what.within is not None:
        prefix = chain_prefix(*what.within, None)
        values = {"start": prefix, "end": chain_end(prefix), "after": after.flow_id if after is not None else ""}
        rows = await database.read(nodes.FLOWS_WITHIN, limit=limit, **values)
        return [Flow(*what.within, row["flow_id"]) for row in rows]
    start = chain_end(chain_prefix(after.tenant, after.context, after.flow_id)) if after is not None else ""
    flows: list[Flow] = []
    while len(flows) < limit and (rows := await database.read(nodes.FLOW, start=start)):
        (row,) = rows
        flows.append(Flow(row["tenant"], row["context"], row["flow_id"]))
        start = chain_end(row["place"])
    return flows


async def _thread(
    database: Neo4jDatabase, _types: EdgeTypes, what: FlowEvents, after: ChainKey | None, limit: int
) -> list[Node]:
    prefix = chain_prefix(what.flow.tenant, what.flow.context, what.flow.flow_id)
    ends = {"prefix": prefix, "end": chain_end(prefix)}
    if after is not None:
        ends["end" if what.descending else "prefix"] = place(prefix, after)
    statement = nodes.thread(descending=what.descending)
    return nodes_in(await database.read(statement, tenant=what.flow.tenant, limit=limit, **ends))


async def _named(
    database: Neo4jDatabase, _types: EdgeTypes, what: NamedNodes, after: tuple[str, str] | None, limit: int
) -> list[Node]:
    first = name_place(what.tenant, what.context, what.prefix)
    start, uid = (name_place(what.tenant, what.context, after[0]), after[1]) if after is not None else (first, "")
    rows = await database.read(
        names.page(what.subtype is not None),
        prefix=first,
        after=max(first, start),
        uid=uid,
        end=first + _LAST,
        kind=fold_case(what.subtype) if what.subtype is not None else ATTRIBUTE,
        limit=limit,
    )
    return nodes_in(rows)


async def _steps(
    database: Neo4jDatabase, _types: EdgeTypes, what: Steps, after: MaintenanceStep | None, limit: int
) -> list[MaintenanceStep]:
    return await find_steps(database, what, after, limit)


_READERS: dict[type[Scan[Any, Any]], Callable[[Neo4jDatabase, EdgeTypes, Any, Any, int], Awaitable[list[Any]]]] = {
    Nodes: _nodes,
    Passages: _passages,
    Edges: _edges,
    Items: _items,
    Changes: _changes,
    Flows: _flows,
    FlowEvents: _thread,
    NamedNodes: _named,
    Steps: _steps,
}
