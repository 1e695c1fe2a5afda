"""One hop along edges from many nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from vicw_shared.model.core5 import LABELS
from vicw_shared.ports import Direction, Neighbour, Spread, WeightedNeighbour
from vicw_stores.neo4j.cypher import edges as cypher
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.rows import Properties, edge_of, gathered, is_node, node_of

HUB = 256
"""Number of edges above which a node is a hub; each spread of a hub is followed separately."""
_ALL = 1_000_000_000
_MAX_SEPARATE = 4
"""Number of spreads up to which each is followed separately."""


async def find_neighbours(
    run: RunStatement, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int, among: int | None
) -> list[Neighbour]:
    """Return the targets of ``spreads``, spread by spread, the heaviest first in each: ``GraphStore.expand``."""
    values = _bounds(tenant, limit, among)
    hubs, records = list(dict.fromkeys(uids)), []
    if len(spreads) > _MAX_SEPARATE:
        (record,) = await run(
            cypher.around(tuple(dict.fromkeys(name for name, _ in spreads))), uids=hubs, hub=HUB, **values
        )
        records, hubs = [record], record["hubs"]
    if hubs:
        records += await run(cypher.along(tuple(spreads)), uids=hubs, **values)
    return _neighbours(records, spreads)


async def find_weighted_neighbours(
    run: RunStatement, tenant: str, uids: Sequence[str], spread: Spread, limit: int, among: int | None
) -> list[WeightedNeighbour]:
    """Return the targets of one spread with few of their fields: ``GraphStore.weighted_neighbours``."""
    records = await run(
        cypher.weighted_neighbours(spread), uids=list(dict.fromkeys(uids)), **_bounds(tenant, limit, among)
    )
    return [WeightedNeighbour(**{**row, "label": LABELS[row["label"]]}) for row in gathered(records)]


def _bounds(tenant: str, limit: int, among: int | None) -> dict[str, object]:
    return {"tenant": tenant, "limit": limit, "most": max(limit, among) if among is not None else _ALL}


def _neighbours(records: Sequence[Properties], spreads: Sequence[Spread]) -> list[Neighbour]:
    rows = [row for record in records for row in record["nodes"] if is_node(row)]  # none removed during the read
    nodes = {row["uid"]: node_of(row) for row in rows}
    neighbours: dict[Spread, list[Neighbour]] = defaultdict(list)
    for row in chain.from_iterable(record["rows"] for record in records):
        if row["uid"] in nodes and "weight" in row["edge"]:
            direction = Direction.OUT if row["out"] else Direction.IN
            node = nodes[row["uid"]]
            source, target = (row["origin"], node.uid) if row["out"] else (node.uid, row["origin"])
            edge = edge_of({**row["edge"], "type": row["type"], "source": source, "target": target})
            neighbours[row["type"], direction].append(Neighbour(row["origin"], edge, node))
    return [hop for spread in spreads for hop in sorted(neighbours[spread], key=lambda hop: -hop.edge.weight)]
