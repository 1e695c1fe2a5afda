"""Term statistics on Neo4j: the counts of a question's terms, and the upkeep of the counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vicw_shared.ports import PendingPoint, TermFrequencies, TermScope
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import outbox, term_counts
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.keys import term_scope_key
from vicw_stores.neo4j.outbox import point_of
from vicw_stores.neo4j.rows import gathered
from vicw_stores.neo4j.term_counts import lock_records, merge_records, put_terms, replace_records
from vicw_stores.term_counts import (
    Checksum,
    TermRecords,
    TermTable,
    frequencies_of,
    scopes_of,
    sum_of_passages,
    wrong_terms,
)

_PAGE = 2000
_SCOPES = 200


async def read_frequencies(
    database: Neo4jDatabase, records: TermRecords, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]
) -> TermFrequencies:
    """Return the counts of these terms. Records that are in memory are not read."""
    scopes = {term_scope_key(*scope): scope for scope in scopes_of(tenant, contexts)}
    known = records.known(scopes.values())
    while True:
        rows = gathered(await database.read(term_counts.LISTED, scopes=list(scopes), known=known))
        listed: dict[TermScope, list[object]] = {scope: [] for scope in scopes.values()}
        for row in rows:
            listed[scopes[row["scope"]]].append(row["record"])
        tables: dict[object, TermTable] = {
            row["record"]: TermTable.load(row["passages"], row["counts"]) for row in rows if row["counts"] is not None
        }
        try:
            return frequencies_of(records.counts(listed, lambda _, tables=tables: tables, terms))  # type: ignore[misc]
        except KeyError:  # another question has crowded a record out of memory meanwhile
            known = []


@measured("neo4j")
class Neo4jTermUpkeep:
    """TermUpkeep on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def count_terms(self, *, limit: int) -> int:
        ((last,),) = await self._database.read(term_counts.COUNTING)
        if last is None:
            return 0
        points = [point_of(row) for row in await self._database.read(outbox.PASSAGES, after=last, limit=limit)]

        async def work(run: RunStatement) -> list[TermScope]:
            rows = [{"uid": point.point_id} for point in points]
            full = await put_terms(run, points, term_counts.UNCOUNTED, rows)
            await run(term_counts.SET_COUNTING, last=points[-1].point_id if points else None)
            return full

        await merge_records(self._database, await self._database.write(work))
        return len(points)

    async def wrong_terms(self, points: Sequence[PendingPoint]) -> set[str]:
        uids = [point.point_id for point in points]
        rows = await self._database.read(term_counts.COUNTED_OF_ALL, uids=uids)
        return wrong_terms(points, {row["uid"]: row["counted"] for row in rows})

    async def wrong_counts(self) -> list[TermScope]:
        checksum = Checksum()
        after = ""
        while rows := await self._database.read(term_counts.ALL_COUNTED, after=after, limit=_PAGE):
            for row in rows:
                if row["counted"]:
                    checksum.add_passage(row["tenant"], row["context"], row["counted"])
            after = rows[-1]["uid"]
        after = ""
        while page := [
            row["scope"] for row in await self._database.read(term_counts.SCOPES, after=after, limit=_SCOPES)
        ]:
            for row in await self._database.read(term_counts.ALL_RECORDS, scopes=page):
                table = TermTable.load(row["passages"], row["counts"])
                checksum.subtract(TermScope(row["tenant"], row["context"]), table)
            after = page[-1]
        return checksum.wrong()

    async def recount(self, scope: TermScope) -> None:
        async def work(run: RunStatement) -> None:
            records = await lock_records(run, scope)
            parts: list[TermTable] = [TermTable()]
            after = ""
            while rows := await run(term_counts.ALL_COUNTED, after=after, limit=_PAGE):
                parts = [TermTable.sum([*parts, sum_of_passages(_of(scope, rows))])]
                after = rows[-1]["uid"]
            await replace_records(run, scope, records, parts[0])

        await self._database.write(work)


def _of(scope: TermScope, rows: Sequence[Any]) -> list[bytes]:
    """Return the packed terms of the Chunks of a scope."""
    return [
        row["counted"]
        for row in rows
        if row["counted"] and row["tenant"] == scope.tenant and scope.context in {"", row["context"]}
    ]
