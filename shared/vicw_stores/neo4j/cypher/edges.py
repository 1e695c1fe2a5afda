"""Statements on edges: look-ups, hops, puts."""

from __future__ import annotations

from functools import cache

from vicw_shared.ports import Direction, Spread
from vicw_stores.neo4j.cypher.parts import ANY, EDGE, gathered, node, one_of, seek

_ROWS = (
    "collect(CASE WHEN r IS NOT NULL THEN {type: type, out: out, origin: origin, edge: r{.*}, uid: n.uid} END) "
    "AS rows, collect(DISTINCT n) AS found"
)
_NODES = f"[n IN found | {node('n')}] AS nodes"
"""Each node once, since many edges may lead to the same node."""

_HEAVIEST = "r.weight DESC, r.created_at, r.id"
"""The order of a node's edges: of equal weights the oldest first. SQLite's index puts the older target first."""

MERGED = f"MATCH (s:{ANY}) WHERE s.uid IN $uids MATCH (s)-[:MERGED_INTO]->(t) RETURN s.uid AS source, t.uid AS target"


@cache
def touching(types: tuple[str, ...], direction: Direction | None = None) -> str:
    """Return the edges of these types at some nodes, in one direction or both; edges between two of them come twice."""
    left, right = "<" if direction is Direction.IN else "", ">" if direction is Direction.OUT else ""
    return (
        f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant "
        f"MATCH (n){left}-[r:{one_of(types)}]-{right}() "
        f"RETURN {EDGE} AS edge"
    )


@cache
def extracted_edges(types: tuple[str, ...]) -> str:
    """Return the edges extracted from some items. An index covers one type, so each type is a branch."""
    branches = " UNION ALL ".join(
        f"MATCH (s)-[r:{one_of([name])}]->() {seek('r', name, 'told_by')} "
        "WHERE r.told_by = item AND s.tenant = $tenant RETURN r"
        for name in types
    )
    return f"UNWIND $items AS item CALL (item) {{ {branches} }} RETURN {EDGE} AS edge"


@cache
def isolated(types: tuple[str, ...]) -> str:
    """Return the nodes without an edge of these types to a node that is not retired."""
    return (
        f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant "
        f"AND NOT EXISTS {{ (n)-[:{one_of(types)}]-(o) WHERE o.retired_at IS NULL }} RETURN n.uid AS uid"
    )


@cache
def around(types: tuple[str, ...]) -> str:
    """Return one hop along these types in both directions: the heaviest ``$limit`` edges per node, type and direction.

    One pass over all edges of a node takes half the time of a branch per spread, but would read all edges of a hub:
    nodes with more than ``$hub`` edges of any type are returned in ``hubs`` only, without edges.
    """
    return (
        f"UNWIND $uids AS origin MATCH (o:{ANY}) WHERE o.uid = origin AND o.tenant = $tenant "
        "WITH o, origin, COUNT { (o)--() } > $hub AS crowded "
        f"OPTIONAL CALL (o, crowded) {{ WITH o, crowded WHERE NOT crowded MATCH (o)-[r:{one_of(types)}]-(n) "
        "UNWIND CASE WHEN n = o THEN [true, false] ELSE [startNode(r) = o] END AS out "
        f"WITH type(r) AS type, out, r, n ORDER BY {_HEAVIEST} "
        "WITH type, out, collect([r, n])[..$limit] AS best UNWIND best AS one "
        f"RETURN type, out, one[0] AS r, one[1] AS n }} WITH {_ROWS}, "
        "collect(DISTINCT CASE WHEN crowded THEN origin END) AS hubs "
        f"RETURN rows, {_NODES}, hubs"
    )


@cache
def along(spreads: tuple[Spread, ...]) -> str:
    """Return one hop along these spreads: per node and spread the heaviest ``$limit`` edges of ``$most`` read.

    No index orders a node's edges by weight: finding the heaviest of all requires reading all of them.
    """
    branches = " UNION ALL ".join(
        f"MATCH {_hop(name, direction)} WITH r, n LIMIT $most RETURN '{name}' AS type, "
        f"{str(direction is Direction.OUT).lower()} AS out, r, n ORDER BY {_HEAVIEST} LIMIT $limit"
        for name, direction in spreads
    )
    return (
        f"UNWIND $uids AS origin MATCH (o:{ANY}) WHERE o.uid = origin AND o.tenant = $tenant "
        f"CALL (o) {{ {branches} }} WITH {_ROWS} RETURN rows, {_NODES}"
    )


@cache
def weighted_neighbours(spread: Spread) -> str:
    """Return the targets of one spread: per node the heaviest ``$limit`` edges of ``$most``, with few fields."""
    return (
        f"UNWIND $uids AS uid MATCH (o:{ANY}) WHERE o.uid = uid AND o.tenant = $tenant "
        f"CALL (o) {{ MATCH {_hop(*spread)} WITH r, n LIMIT $most "
        f"RETURN r.weight AS weight, n ORDER BY {_HEAVIEST} LIMIT $limit }} "
        + gathered(
            origin="uid",
            uid="n.uid",
            label="labels(n)[0]",
            name="n.name",
            is_item="n.content_hash IS NOT NULL",
            weight="weight",
            is_live="n.retired_at IS NULL",
        )
    )


def _hop(name: str, direction: Direction) -> str:
    edge = f"-[r:{one_of([name])}]-"
    return f"(o){edge}>(n)" if direction is Direction.OUT else f"(o)<{edge}(n)"


@cache
def put(name: str) -> str:
    """Insert one type's edges, each id once; a stored edge keeps its creator and creation time.

    A stored edge with another source, which only a forged import causes, stays unchanged: it may be another tenant's.

    Not a MERGE, which locks the ends of every edge and takes three times as long.
    """
    stored = f"OPTIONAL MATCH ()-[known:{one_of([name])}]->() {seek('known', name, 'id')} WHERE known.id = row.edge.id"
    return (
        f"UNWIND $rows AS row {stored} "
        "CALL (row, known) { WITH row, known WHERE known IS NULL "
        "MATCH (s) WHERE elementId(s) = row.source MATCH (t) WHERE elementId(t) = row.target "
        f"CREATE (s)-[r:{name}]->(t) SET r = row.edge }} "
        "CALL (row, known) { WITH row, known WHERE elementId(startNode(known)) = row.source "
        "SET known.weight = row.edge.weight, known.properties = row.edge.properties, "
        "known.told_by = row.edge.told_by }"
    )


@cache
def drop(name: str) -> str:
    """Remove one type's edges; return their sources."""
    return (
        f"UNWIND $ids AS id MATCH (s)-[r:{one_of([name])}]->() {seek('r', name, 'id')} "
        "WHERE r.id = id AND s.tenant = $tenant "
        "WITH r, elementId(s) AS source DELETE r RETURN DISTINCT source"
    )


@cache
def page(name: str) -> str:
    """Return one type's edges ordered by id, with the labels of their ends."""
    return (
        f"MATCH (s)-[r:{one_of([name])}]->(t) {seek('r', name, 'id')} WHERE r.id > $after "
        f"RETURN {EDGE} AS edge, labels(s)[0] AS source, labels(t)[0] AS target ORDER BY r.id LIMIT $limit"
    )
