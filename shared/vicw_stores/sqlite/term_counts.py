"""Counts of terms in SQLite: each passage's terms, and the records of each context and tenant."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import batched

from vicw_shared.ports import PendingPoint, TermScope
from vicw_stores.sqlite.rows import marks, pack, unpack
from vicw_stores.term_counts import MERGED, TermChanges, TermTable, packed_terms

_BATCH = 500
_PUT = "INSERT OR REPLACE INTO passage_terms VALUES (?, ?)"
_ADD = "INSERT INTO term_count (tenant, context, level, passages, counts) VALUES (?, ?, ?, ?, ?)"


def put_terms(connection: sqlite3.Connection, points: Sequence[PendingPoint]) -> None:
    """Store the terms of these Chunks, and change the counts by the difference."""
    changes = TermChanges()
    for batch in batched(points, _BATCH):
        terms = {pack(point.point_id): packed_terms(point) for point in batch}
        rows = connection.execute(
            "SELECT n.uid, n.pk, n.tenant, n.context, t.terms FROM node n LEFT JOIN passage_terms t ON t.node = n.pk "  # noqa: S608
            f"WHERE n.uid IN ({marks(len(terms))}) AND n.label = 'Chunk'",
            tuple(terms),
        ).fetchall()
        for uid, _, tenant, context, old in rows:
            changes.add(tenant, context, old, terms[uid])
        connection.executemany(_PUT, [(pk, terms[uid]) for uid, pk, _, _, old in rows if old != terms[uid]])
    add_changes(connection, changes)


def add_changes(connection: sqlite3.Connection, changes: TermChanges) -> None:
    """Change the counts of the contexts and tenants by these differences."""
    for scope, table in changes.tables().items():
        _add(connection, scope, table)


def read_terms(connection: sqlite3.Connection, points: Sequence[PendingPoint]) -> dict[str, bytes | None]:
    """Return the stored terms of these Chunks, by uid; those without are left out."""
    terms: dict[str, bytes | None] = {}
    for batch in batched(points, _BATCH):
        rows = connection.execute(
            "SELECT n.uid, t.terms FROM node n JOIN passage_terms t ON t.node = n.pk "  # noqa: S608
            f"WHERE n.uid IN ({marks(len(batch))})",
            [pack(point.point_id) for point in batch],
        )
        terms.update((unpack(uid), packed) for uid, packed in rows)
    return terms


def drop_terms(connection: sqlite3.Connection, keys: Sequence[int]) -> None:
    """Remove the terms of nodes that are about to be removed, and every trace of them in the counts."""
    changes = TermChanges()
    for batch in batched(keys, _BATCH):
        rows = connection.execute(
            "SELECT n.tenant, n.context, t.terms FROM passage_terms t JOIN node n ON n.pk = t.node "  # noqa: S608
            f"WHERE t.node IN ({marks(len(batch))})",
            batch,
        )
        for tenant, context, old in rows:
            changes.add(tenant, context, old, b"")
    connection.executemany("DELETE FROM passage_terms WHERE node = ?", [(pk,) for pk in keys])
    tables = changes.tables()
    for scope in changes.scopes:  # also of those that did not count any more: merged, differences cancel out
        records = read_records(connection, scope)
        total = TermTable.sum([*records.values(), tables.get(scope, TermTable())])
        replace_records(connection, scope, records, total)


def _add(connection: sqlite3.Connection, scope: TermScope, table: TermTable) -> None:
    """Add a record, and merge the records of each level that has enough."""
    level = 0
    while not table.is_empty:
        connection.execute(_ADD, (*scope, level, table.passages, table.packed()))
        records = read_records(connection, scope, level)
        if len(records) < MERGED:
            return
        _drop(connection, records)
        level, table = level + 1, TermTable.sum(list(records.values()))


def replace_records(connection: sqlite3.Connection, scope: TermScope, records: Iterable[int], total: TermTable) -> None:
    """Replace the records of a scope by one, at the level that its size has by merging."""
    _drop(connection, records)
    if not total.is_empty:
        connection.execute(_ADD, (*scope, total.level, total.passages, total.packed()))


def _drop(connection: sqlite3.Connection, records: Iterable[int]) -> None:
    connection.executemany("DELETE FROM term_count WHERE id = ?", [(record,) for record in records])


def read_records(connection: sqlite3.Connection, scope: TermScope, level: int | None = None) -> dict[int, TermTable]:
    """Return the records of a scope, or those of one level, by id."""
    rows = connection.execute(
        "SELECT id, passages, counts FROM term_count WHERE tenant = ? AND context = ? AND level = ifnull(?, level)",
        (*scope, level),
    )
    return {record: TermTable.load(passages, counts) for record, passages, counts in rows}
