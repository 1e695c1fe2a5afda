"""Term statistics on Neo4j: the counts of a question's terms, and what checks find wrong in the counts."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_shared.ports import PendingPoint, TermFrequencies, TermScope
from vicw_stores.neo4j.cypher import records, term_counts
from vicw_stores.neo4j.database import Neo4jDatabase
from vicw_stores.neo4j.keys import term_scope_key
from vicw_stores.neo4j.rows import gathered
from vicw_stores.neo4j.stored_words import converted_of
from vicw_stores.term_counts import (
    Checksum,
    TermRecords,
    TermTable,
    frequencies_of,
    scopes_of,
    wrong_terms,
)

_PAGE = 2000
_SCOPES = 200


async def read_frequencies(
    database: Neo4jDatabase, cached: TermRecords, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]
) -> TermFrequencies:
    """Return the counts of these terms. Records that are in memory are not read."""
    scopes = {term_scope_key(*scope): scope for scope in scopes_of(tenant, contexts)}
    known = cached.known(scopes.values())
    while True:
        rows = gathered(await database.read(term_counts.LISTED, scopes=list(scopes), known=known))
        listed: dict[TermScope, list[object]] = {scope: [] for scope in scopes.values()}
        for row in rows:
            listed[scopes[row["scope"]]].append(row["record"])
        tables: dict[object, TermTable] = {
            row["record"]: TermTable.load(row["passages"], row["counts"]) for row in rows if row["counts"] is not None
        }
        try:
            return frequencies_of(cached.counts(listed, lambda _, tables=tables: tables, terms))  # type: ignore[misc]
        except KeyError:  # another question has crowded a record out of memory meanwhile
            known = []


async def read_wrong_terms(database: Neo4jDatabase, points: Sequence[PendingPoint]) -> set[str]:
    """Return the passages whose stored terms are not those of their text; none while words are converted."""
    (row,) = await database.read(records.STORE)
    if converted_of(row["store"]) is not None:
        return set()
    rows = await database.read(term_counts.COUNTED_OF_ALL, uids=[point.point_id for point in points])
    return wrong_terms(points, {row["uid"]: row["counted"] for row in rows})


async def read_wrong_counts(database: Neo4jDatabase) -> list[TermScope]:
    """Return the scopes whose counts are not those of their passages."""
    checksum = Checksum()
    after = ""
    while rows := await database.read(term_counts.ALL_COUNTED, after=after, limit=_PAGE):
        checksum.add_passages([(row["tenant"], row["context"], row["counted"]) for row in rows if row["counted"]])
        after = rows[-1]["uid"]
    after = ""
    while rows := await database.read(term_counts.SCOPES, after=after, limit=_SCOPES):
        page = [row["scope"] for row in rows]
        for row in await database.read(term_counts.ALL_RECORDS, scopes=page):
            checksum.subtract(TermScope(row["tenant"], row["context"]), TermTable.load(row["passages"], row["counts"]))
        after = page[-1]
    return checksum.wrong()
