"""Consistency check reads on Neo4j: pages over all records, in index order."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_core.graph.canonical import MERGED_INTO
from vicw_shared.model import Label, Node
from vicw_shared.ports import MAX_UNEXPECTED, ChainLink, PendingPoint, TermScope
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import edges, nodes, records
from vicw_stores.neo4j.keys import chain_end, numbers_of, place_of
from vicw_stores.neo4j.scans import Neo4jScans
from vicw_stores.neo4j.term_statistics import read_wrong_counts, read_wrong_terms


@measured("neo4j")
class Neo4jAudit(Neo4jScans):
    """GraphAudit on one database."""

    async def count(self, label: Label) -> int:
        (row,) = await self._database.read(nodes.count(label))
        return int(row["count"])

    async def point_states(self, uids: Sequence[str]) -> dict[str, bool]:
        rows = await self._database.read(nodes.POINT_STATES, uids=list(uids))
        return {row["uid"]: row["indexed"] for row in rows}

    async def wrong_terms(self, points: Sequence[PendingPoint]) -> set[str]:
        return await read_wrong_terms(self._database, points)

    async def wrong_counts(self) -> list[TermScope]:
        return await read_wrong_counts(self._database)

    async def belongs_to_counts(self, uids: Sequence[str]) -> dict[str, int]:
        return {row["uid"]: row["count"] for row in await self._database.read(nodes.BELONGS_TO_COUNTS, uids=list(uids))}

    async def merge_edges(self, uids: Sequence[str]) -> list[tuple[str, str]]:
        if not self._types.stored([MERGED_INTO]):
            return []
        rows = await self._database.read(edges.MERGED, uids=list(uids))
        return [(row["source"], row["target"]) for row in rows]

    async def chain_links(self, chain: str, events: Sequence[Node]) -> dict[str, ChainLink]:
        places = [(event.uid, place_of(chain, event)) for event in events]
        # No place is before an empty end: a node in no chain has no follower.
        rows = [{"uid": uid, "place": at or "", "end": chain_end(at) if at else ""} for uid, at in places]
        links = await self._database.read(nodes.links(chain), events=rows, most=MAX_UNEXPECTED)
        return {
            row["uid"]: ChainLink(row["follower"], row["joined"], tuple(row["strays"]), row["misplaced"])
            for row in links
        }

    async def uncounted(self, events: Sequence[Node]) -> set[str]:
        assigned = {event.uid: dict(numbers_of(event)) for event in events}
        keys = sorted({record for numbers in assigned.values() for record in numbers})
        rows = await self._database.read(records.COUNTERS, records=keys) if keys else []
        counted = {row["record"]: row["value"] or 0 for row in rows}
        return {uid for uid, numbers in assigned.items() if any(counted.get(r, 0) < n for r, n in numbers.items())}
