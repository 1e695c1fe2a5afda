"""Counts of terms on Neo4j: each Chunk's terms, and the records of each context and tenant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

from vicw_shared.ports import PendingPoint, TermScope
from vicw_stores.neo4j.cypher import term_counts
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.keys import term_scope_key
from vicw_stores.term_counts import MERGED, TermChanges, TermTable, packed_terms, sum_of_passages

_PAGE = 2000


async def put_terms(run: RunStatement, points: Sequence[PendingPoint], locked: Sequence[Any]) -> list[TermScope]:
    """Store the terms of these Chunks, and add the difference to the counts.

    ``locked`` are the rows of those that are still as in ``points``, which are locked. Returns the scopes with records
    to merge (``merge_records``).
    """
    new = {point.point_id: packed_terms(point) for point in points}
    changes = TermChanges()
    changed: list[dict[str, Any]] = []
    for row in locked:
        if row["counted"] != (terms := new[row["uid"]]):
            changes.add(row["tenant"], row["context"], row["counted"], terms)
            changed.append({"uid": row["uid"], "terms": terms})
    if changed:
        await run(term_counts.SET_COUNTED, rows=changed)
    tables = changes.tables()
    counts = await _add(run, tables, 0) if tables else {}
    return [scope for scope in tables if counts[term_scope_key(*scope)] >= MERGED]


async def drop_terms(run: RunStatement, tenant: str, uids: Iterable[str]) -> None:
    """Remove every trace of Chunks that are about to be removed from the counts."""
    changes = TermChanges()
    for row in await run(term_counts.COUNTED, uids=list(uids), tenant=tenant):
        changes.add(tenant, row["context"], row["counted"], b"")
    tables = changes.tables()
    for scope in changes.scopes:  # also of those that did not count any more: merged, differences cancel out
        records = await _lock_records(run, scope)
        stored = [TermTable.load(row["passages"], row["counts"]) for row in records]
        await _replace_records(run, scope, records, TermTable.sum([*stored, tables.get(scope, TermTable())]))


async def merge_records(database: Neo4jDatabase, scopes: Sequence[TermScope]) -> None:
    """Merge the records of each level of these scopes that has enough."""
    for scope in scopes:
        await database.write(lambda run, scope=scope: _merge(run, scope))  # type: ignore[misc]


async def _merge(run: RunStatement, scope: TermScope) -> None:
    by_level: dict[int, list[Any]] = {}
    for row in await _lock_records(run, scope):
        by_level.setdefault(row["level"], []).append(row)
    dropped: list[str] = []
    level, table = 0, TermTable()
    while len(rows := by_level.get(level, [])) + (not table.is_empty) >= MERGED:
        table = TermTable.sum([table, *(TermTable.load(row["passages"], row["counts"]) for row in rows)])
        dropped += [row["record"] for row in rows]
        level += 1
    await run(term_counts.DROP, records=dropped)
    if not table.is_empty:
        await _add(run, {scope: table}, level)


async def recount(run: RunStatement, scope: TermScope) -> None:
    """Make the counts of a scope those of its passages."""
    stored = await _lock_records(run, scope)
    total, after = TermTable(), ""
    while rows := await run(term_counts.ALL_COUNTED, after=after, limit=_PAGE):
        total = TermTable.sum([total, sum_of_passages(_of(scope, rows))])
        after = rows[-1]["uid"]
    await _replace_records(run, scope, stored, total)


def _of(scope: TermScope, rows: Sequence[Any]) -> list[bytes]:
    """Return the packed terms of the Chunks of a scope."""
    return [
        row["counted"]
        for row in rows
        if row["counted"] and row["tenant"] == scope.tenant and scope.context in {"", row["context"]}
    ]


async def _lock_records(run: RunStatement, scope: TermScope) -> Sequence[Any]:
    """Return the records of a scope; nobody else replaces them until the transaction ends."""
    key = term_scope_key(*scope)
    await run(term_counts.LOCK_SCOPE, record=f"terms:{key}")
    return await run(term_counts.RECORDS, scope=key)


async def _replace_records(run: RunStatement, scope: TermScope, records: Sequence[Any], total: TermTable) -> None:
    """Replace the records of a scope by one, at the level that its size has by merging."""
    await run(term_counts.DROP, records=[row["record"] for row in records])
    if not total.is_empty:
        await _add(run, {scope: total}, total.level)


async def _add(run: RunStatement, tables: dict[TermScope, TermTable], level: int) -> dict[str, int]:
    """Add a record to each scope; return the number of its records of this level, by the scope's key."""
    records = [
        {
            "record": f"terms:{uuid4().hex}",
            "scope": term_scope_key(*scope),
            "tenant": scope.tenant,
            "context": scope.context,
            "level": level,
            "passages": table.passages,
            "counts": table.packed(),
        }
        for scope, table in tables.items()
    ]
    return {row["scope"]: row["count"] for row in await run(term_counts.ADD, records=records)}
