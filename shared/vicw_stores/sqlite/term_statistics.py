"""Term statistics on SQLite: the counts of a question's terms, and the upkeep of the counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from vicw_shared.ports import PendingPoint, TermFrequencies, TermScope
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.outbox_rows import read_by_key
from vicw_stores.sqlite.rows import marks
from vicw_stores.sqlite.term_counts import put_terms, read_records, read_terms, replace_records
from vicw_stores.term_counts import (
    Checksum,
    TermRecords,
    TermTable,
    frequencies_of,
    scopes_of,
    sum_of_passages,
    wrong_terms,
)

_COUNTING = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'counting'"
"""The last passage of an earlier program that was counted; no row: all are."""
_PASSAGES = (
    "SELECT n.tenant, n.context, t.terms FROM passage_terms t JOIN node n ON n.pk = t.node "
    "WHERE length(t.terms) > 0 AND ifnull(n.tenant = :tenant AND :context IN (n.context, ''), 1)"
)


def read_frequencies(
    connection: sqlite3.Connection,
    records: TermRecords,
    tenant: str,
    contexts: Sequence[str] | None,
    terms: Sequence[int],
) -> TermFrequencies:
    """Return the counts of these terms. Records that are in memory are not read."""
    scopes = scopes_of(tenant, contexts)
    listed: dict[TermScope, list[int]] = {scope: [] for scope in scopes}
    rows = connection.execute(
        "SELECT context, id FROM term_count WHERE tenant = ? "  # noqa: S608
        f"AND context IN ({marks(len(scopes))})",
        (tenant, *(scope.context for scope in scopes)),
    )
    for context, record in rows:
        listed[TermScope(tenant, context)].append(record)

    def read(ids: Sequence[object]) -> dict[object, TermTable]:
        where = f"id IN ({marks(len(ids))})"
        found = connection.execute(f"SELECT id, passages, counts FROM term_count WHERE {where}", ids)  # noqa: S608
        return {record: TermTable.load(passages, counts) for record, passages, counts in found}

    return frequencies_of(records.counts(listed, read, terms))


@measured("sqlite")
class SqliteTermUpkeep:
    """TermUpkeep over the database of a graph."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write

    async def count_terms(self, *, limit: int) -> int:
        def work(connection: sqlite3.Connection) -> int:
            row = connection.execute(_COUNTING).fetchone()
            if row is None:
                return 0
            points, last = read_by_key(connection, row[0], limit)
            put_terms(connection, points)
            if points:
                connection.execute("UPDATE meta SET value = ? WHERE key = 'counting'", (str(last),))
            else:
                connection.execute("DELETE FROM meta WHERE key = 'counting'")
            return len(points)

        if await self._database.read(lambda c: c.execute(_COUNTING).fetchone()) is None:
            return 0
        return await self._write(work)

    async def wrong_terms(self, points: Sequence[PendingPoint]) -> set[str]:
        return wrong_terms(points, await self._database.read(lambda c: read_terms(c, points)))

    async def wrong_counts(self) -> list[TermScope]:
        def work(connection: sqlite3.Connection) -> list[TermScope]:
            connection.execute("BEGIN")
            try:
                checksum = Checksum()
                for tenant, context, terms in connection.execute(_PASSAGES, {"tenant": None, "context": None}):
                    checksum.add_passage(tenant, context, terms)
                for tenant, context, passages, counts in connection.execute(
                    "SELECT tenant, context, passages, counts FROM term_count"
                ):
                    checksum.subtract(TermScope(tenant, context), TermTable.load(passages, counts))
                return checksum.wrong()
            finally:
                connection.execute("COMMIT")

        return await self._database.read(work)

    async def recount(self, scope: TermScope) -> None:
        def work(connection: sqlite3.Connection) -> None:
            rows = connection.execute(_PASSAGES, scope._asdict())
            total = sum_of_passages(_terms(rows))
            replace_records(connection, scope, read_records(connection, scope), total)

        await self._write(work)


def _terms(rows: sqlite3.Cursor) -> Iterator[bytes]:
    for _, _, terms in rows:
        yield terms
