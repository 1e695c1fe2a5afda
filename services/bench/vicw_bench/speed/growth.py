"""What the write path has made of texts: how the graph grew, and the texts that got vectors."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from vicw_core.index.points import wrapped
from vicw_shared.model import EdgeRegistry, Label
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore

_BATCH = 500
_LEASE_SECONDS = 60.0
_BUSIEST = """
SELECT n.name, count(*)
FROM (SELECT source AS pk, type FROM edge UNION ALL SELECT target, type FROM edge) AS e JOIN node AS n USING (pk)
WHERE e.type NOT IN ('BELONGS_TO', 'MERGED_INTO') -- no walk goes along these
GROUP BY pk ORDER BY 2 DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Growth:
    """How many nodes of each label, edges of each type and points there are, and the most edges that a node has."""

    nodes: Counter[str] = field(default_factory=Counter)
    edges: Counter[str] = field(default_factory=Counter)
    points: int = 0
    largest_degree: int = 0
    busiest: str = ""

    def __add__(self, other: Growth) -> Growth:
        """Return the growth of two stores: sums, and the larger degree."""
        more = max(self, other, key=lambda each: each.largest_degree)
        return Growth(
            self.nodes + other.nodes,
            self.edges + other.edges,
            self.points + other.points,
            more.largest_degree,
            more.busiest,
        )


def growth_of(store: Path) -> Growth:
    """Count what is in a store that no server has open. Statements count apart from other events."""
    with closing(sqlite3.connect(store / "graph.sqlite3")) as connection:
        read = connection.execute
        nodes = read("SELECT iif(subtype = 'statement', 'statement', label), count(*) FROM node GROUP BY 1").fetchall()
        edges = read("SELECT type, count(*) FROM edge GROUP BY 1").fetchall()
        busiest = read(_BUSIEST).fetchone() or ("", 0)
        (points,) = read("SELECT count(*) FROM node WHERE qdrant_id IS NOT NULL").fetchone()
    return Growth(Counter(dict(nodes)), Counter(dict(edges)), points, largest_degree=busiest[1], busiest=busiest[0])


async def embedded_texts(store: Path) -> list[str]:
    """Return what was embedded of a store that no server has open: each wrapped text of a passage once."""
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        try:
            await graph.outbox.requeue(_passages(store))
            found: list[str] = []
            while pending := await graph.outbox.claim(_BATCH, seconds=_LEASE_SECONDS):
                for point in pending:
                    found += dict.fromkeys(wrapped(part) for part in point.parts)
        finally:
            await graph.close()
    return found


def _passages(store: Path) -> list[str]:
    def uids() -> Iterator[str]:
        with closing(sqlite3.connect(store / "graph.sqlite3")) as connection:
            for (uid,) in connection.execute("SELECT hex(uid) FROM node WHERE label = ?", (Label.CHUNK,)):
                yield uid.lower()

    return list(uids())
