"""Term statistics on SQLite: the counts of a question's terms, and what checks find wrong in the counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.ports import PendingPoint, TermFrequencies, TermScope
from vicw_stores.sqlite.rows import marks
from vicw_stores.sqlite.stored_words import read_converted
from vicw_stores.sqlite.term_counts import read_records, read_terms, replace_records
from vicw_stores.term_counts import (
    Checksum,
    TermRecords,
    TermTable,
    frequencies_of,
    scopes_of,
    sum_of_passages,
    wrong_terms,
)

_PAGE = 1000
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


def read_wrong_terms(connection: sqlite3.Connection, points: Sequence[PendingPoint]) -> set[str]:
    """Return the passages whose stored terms are not those of their text; none while words are converted."""
    if read_converted(connection) is not None:
        return set()
    return wrong_terms(points, read_terms(connection, points))


def read_wrong_counts(connection: sqlite3.Connection) -> list[TermScope]:
    """Return the scopes whose counts are not those of their passages."""
    checksum = Checksum()
    for page in batched(connection.execute(_PASSAGES, {"tenant": None, "context": None}), _PAGE):
        checksum.add_passages(page)
    rows = connection.execute("SELECT tenant, context, passages, counts FROM term_count")
    for tenant, context, passages, counts in rows:
        checksum.subtract(TermScope(tenant, context), TermTable.load(passages, counts))
    return checksum.wrong()


def recount(connection: sqlite3.Connection, scope: TermScope) -> None:
    """Make the counts of a scope those of its passages."""
    rows = connection.execute(_PASSAGES, scope._asdict())
    replace_records(connection, scope, read_records(connection, scope), sum_of_passages(terms for *_, terms in rows))
