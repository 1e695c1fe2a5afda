"""Rows of the outbox: pending writes of points, and the data of their payloads."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from itertools import batched, islice, zip_longest
from typing import Literal

from vicw_shared.clock import from_us
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.ports import IndexFailure, PendingKind, PendingPoint, UnindexedCounts
from vicw_shared.text import fold_case
from vicw_stores.sqlite.rows import NODE_WIDTH, STATEMENT, columns_of, marks, node_of, pack, unpack
from vicw_stores.sqlite.term_counts import put_terms

type _EdgeFields = dict[Literal["about", "tags", "buckets"], tuple[str, ...]]
_BATCH = 500
_HAS_POINT = f"(label = 'Chunk' OR {STATEMENT.format('node')})"
_FEW_TENANTS = 8
_PUT = (
    "INSERT OR REPLACE INTO outbox (point, tenant, kind) "
    "SELECT p.point, p.tenant, max(p.kind, ifnull(o.kind, '')) FROM ({points}) p "
    "LEFT JOIN outbox o ON o.point = p.point"
)
"""``max``: by their letters, 'upsert' > 'payload' > 'delete', so a payload does not downgrade a pending full write.

REPLACE gives the entry a new ``seq``: an indexer that holds the old one does not settle the new change.
"""
_ONE = "SELECT :point AS point, :tenant AS tenant, :kind AS kind"
_CHUNK = "SELECT uid AS point, tenant, '{kind}' AS kind FROM node WHERE uid = :uid AND label = 'Chunk'"
_PROOFS = (
    "SELECT k.uid AS point, k.tenant AS tenant, 'payload' AS kind FROM node i JOIN edge x ON x.source = i.pk "
    "AND x.type = 'EVIDENCED_BY' JOIN node k ON k.pk = x.target WHERE i.uid = :item AND i.tenant = :tenant"
)
_MARK_CHUNK = "UPDATE node SET indexed = 1 WHERE uid = (SELECT point FROM outbox WHERE seq = :seq)"
_MARK_ITEM = (
    "UPDATE node SET indexed = 1 WHERE pk IN "
    "(SELECT e.source FROM outbox o JOIN node k ON k.uid = o.point "
    "JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' WHERE o.seq = :seq) "
    "AND qdrant_id = (SELECT point FROM outbox WHERE seq = :seq)"
)
"""An item becomes indexed when its point is."""
_MARK_STATEMENTS = (
    "UPDATE node SET indexed = 1 WHERE pk IN (SELECT e.source FROM outbox o JOIN node k ON k.uid = o.point "  # noqa: S608
    f"JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' WHERE o.seq = :seq) AND {STATEMENT.format('node')}"
)
_DROP = "DELETE FROM outbox WHERE seq = :seq"
_POSTPONE = (
    "UPDATE outbox SET due_at = :due_at, tries = tries + (:error IS NOT NULL), error = ifnull(:error, error), "
    "failed_at = CASE WHEN :error IS NULL THEN failed_at ELSE ifnull(failed_at, :now) END WHERE seq = :seq"
)
_REPLAY = "UPDATE outbox SET due_at = 0, tries = 0, error = NULL, failed_at = NULL WHERE tries > 0"
_TENANTS = (
    "WITH RECURSIVE known (tenant) AS (SELECT min(tenant) FROM outbox WHERE due_at <= :now UNION ALL "
    "SELECT (SELECT min(tenant) FROM outbox WHERE due_at <= :now AND tenant > known.tenant) "
    "FROM known WHERE known.tenant IS NOT NULL) "
    "SELECT tenant FROM known WHERE tenant IS NOT NULL"
)
"""Tenants with due entries: one index look-up per tenant, however many entries it has."""


def put_entries(connection: sqlite3.Connection, rows: Iterable[tuple[bytes, str, str]]) -> None:
    """Make points (uid, tenant, kind) pending."""
    names = ("point", "tenant", "kind")
    connection.executemany(_PUT.format(points=_ONE), [dict(zip(names, row, strict=True)) for row in rows])


def renew_payloads(connection: sqlite3.Connection, tenant: str, edges: Iterable[Edge]) -> None:
    """Make the payloads of the edges' sources pending, for edges of types that payloads repeat."""
    items = sorted({edge.source for edge in edges if edge.type in IN_PAYLOAD})
    rows = [{"item": pack(item), "tenant": tenant} for item in items]
    connection.executemany(_PUT.format(points=_PROOFS), rows)


def find_due(
    connection: sqlite3.Connection, limit: int, now: int, claimed: Collection[bytes], last_tenant: str
) -> tuple[list[int], str]:
    """Return entries due at ``now`` (microseconds) and not ``claimed``, round-robin over tenants after ``last_tenant``.

    The second value is the tenant of the last entry.
    """
    rows = connection.execute(_TENANTS, {"now": now})
    tenants = sorted((tenant for (tenant,) in rows), key=lambda name: (name <= last_tenant, name))
    per_tenant = limit if len(tenants) < _FEW_TENANTS else -(-2 * limit // len(tenants))
    sql = "SELECT seq, point FROM outbox WHERE tenant = ? AND due_at <= ? ORDER BY due_at, seq LIMIT ?"
    unclaimed: dict[str, list[int]] = {}
    for tenant in tenants:
        queue = connection.execute(sql, (tenant, now, per_tenant + len(claimed)))
        if seqs := [seq for seq, point in queue if point not in claimed]:
            unclaimed[tenant] = seqs
        if len(unclaimed) == limit:
            break  # the next claim begins with the other tenants
    interleaved = (
        (seq, name)
        for row in zip_longest(*unclaimed.values())
        for seq, name in zip(row, unclaimed, strict=True)
        if seq is not None
    )
    chosen = list(islice(interleaved, limit))
    return [seq for seq, _ in chosen], chosen[-1][1] if chosen else last_tenant


def find_waiting(connection: sqlite3.Connection, tenant: str, contexts: Sequence[str] | None, limit: int) -> list[str]:
    """Return live Chunks of these contexts (one at least), or of all, that wait for their points."""
    of_contexts = "" if contexts is None else f"AND k.context IN ({marks(len(contexts))}) "
    rows = connection.execute(
        "SELECT k.uid FROM node k INDEXED BY node_unindexed JOIN outbox o ON o.point = k.uid "  # noqa: S608
        f"WHERE k.tenant = ? {of_contexts}AND k.label = 'Chunk' AND k.indexed = 0 AND k.retired_at IS NULL "
        "AND o.due_at IS NOT NULL LIMIT ?",
        (tenant, *(contexts or ()), limit),
    )
    return [unpack(uid) for (uid,) in rows]


def find_of_items(
    connection: sqlite3.Connection, items: Sequence[str], limit: int, claimed: Collection[bytes]
) -> list[int]:
    """Return entries of these items' Chunks, due or not, that are neither ``claimed`` nor dead."""
    free: list[int] = []
    for batch in batched(items, _BATCH):
        rows = connection.execute(
            "SELECT o.seq, o.point FROM node i JOIN edge e ON e.source = i.pk AND e.type = 'EVIDENCED_BY' "  # noqa: S608
            "JOIN node k ON k.pk = e.target JOIN outbox o ON o.point = k.uid "
            f"WHERE o.due_at IS NOT NULL AND i.uid IN ({marks(len(batch))})",
            tuple(map(pack, batch)),
        )
        free += [seq for seq, point in rows if point not in claimed]
    return sorted(set(free))[:limit]


def acknowledge(connection: sqlite3.Connection, points: Sequence[PendingPoint]) -> set[str]:
    """Mark the nodes of these entries as indexed and remove the entries, unless changed since.

    Returns the orphaned points.
    """
    rows = [{"seq": point.seq} for point in points]
    unchanged = _unchanged(connection, [point.seq for point in points])
    put_terms(connection, [point for point in points if point.seq in unchanged])
    for statement in (_MARK_CHUNK, _MARK_ITEM, _MARK_STATEMENTS, _DROP):
        connection.executemany(statement, rows)
    ids = {part.point_id for point in points for part in point.parts}
    return ids - point_states(connection, sorted(ids)).keys()


def _unchanged(connection: sqlite3.Connection, seqs: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for batch in batched(seqs, _BATCH):
        rows = connection.execute(f"SELECT seq FROM outbox WHERE seq IN ({marks(len(batch))})", batch)  # noqa: S608
        found.update(seq for (seq,) in rows)
    return found


def point_states(connection: sqlite3.Connection, uids: Sequence[str]) -> dict[str, bool]:
    """Return whether each Chunk or statement among these uids is marked indexed; leave out other uids."""
    states: dict[str, bool] = {}
    for batch in batched(uids, _BATCH):
        sql = f"SELECT uid, indexed FROM node WHERE uid IN ({marks(len(batch))}) AND {_HAS_POINT}"  # noqa: S608
        states.update((unpack(uid), bool(indexed)) for uid, indexed in connection.execute(sql, tuple(map(pack, batch))))
    return states


def postpone(
    connection: sqlite3.Connection, points: Sequence[PendingPoint], now: int, delay: int | None, error: str | None
) -> None:
    """Delay these entries by ``delay`` microseconds; None: they are dead."""
    due_at = now + delay if delay is not None else None
    rows = [{"seq": point.seq, "now": now, "due_at": due_at, "error": error} for point in points]
    connection.executemany(_POSTPONE, rows)


def replay(connection: sqlite3.Connection, points: Sequence[str] | None, tenant: str | None) -> int:
    """Make failed entries due and reset their failures; return how many."""
    tenant_filter, values = ("", ()) if tenant is None else (" AND tenant = ?", (tenant,))
    if points is None:
        return connection.execute(_REPLAY + tenant_filter, values).rowcount
    cursors = [
        connection.execute(f"{_REPLAY}{tenant_filter} AND point IN ({marks(len(batch))})", (*values, *map(pack, batch)))
        for batch in batched(dict.fromkeys(points), _BATCH)
    ]
    return sum(cursor.rowcount for cursor in cursors)


def queue(connection: sqlite3.Connection, chunk_uids: Sequence[str], kind: PendingKind) -> int:
    """Queue these Chunks, or their payloads, again; return how many."""
    rows = [{"uid": pack(uid)} for uid in chunk_uids]
    if kind is PendingKind.UPSERT:
        connection.executemany("UPDATE node SET indexed = 0 WHERE uid = :uid AND label = 'Chunk'", rows)
        connection.executemany(
            "UPDATE node SET indexed = 0 WHERE pk IN (SELECT e.source FROM node k "  # noqa: S608
            "JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' WHERE k.uid = :uid) "
            f"AND (qdrant_id = :uid OR {STATEMENT.format('node')})",
            rows,
        )
    return connection.executemany(_PUT.format(points=_CHUNK.format(kind=kind.value)), rows).rowcount


def find_queued(connection: sqlite3.Connection, chunk_uids: Sequence[str], *, failing: bool) -> set[str]:
    """Return which of these Chunks have an entry; ``failing`` includes failed entries."""
    queued: set[str] = set()
    for batch in batched(chunk_uids, _BATCH):
        rows = connection.execute(
            f"SELECT point FROM outbox WHERE point IN ({marks(len(batch))}) AND (? OR tries = 0)",  # noqa: S608
            (*map(pack, batch), failing),
        )
        queued.update(unpack(point) for (point,) in rows)
    return queued


def count_unindexed(connection: sqlite3.Connection, tenant: str, items: Sequence[str]) -> UnindexedCounts:
    """Count the Chunks of these items with a waiting and with a dead entry."""
    waiting = dead = 0
    for batch in batched(items, _BATCH):
        alive, entries = connection.execute(
            "SELECT count(DISTINCT k.pk) FILTER (WHERE o.due_at IS NOT NULL), count(DISTINCT k.pk) FROM node i "  # noqa: S608
            "JOIN edge e ON e.source = i.pk AND e.type = 'EVIDENCED_BY' "
            "JOIN node k ON k.pk = e.target JOIN outbox o ON o.point = k.uid "
            f"WHERE i.uid IN ({marks(len(batch))}) AND i.tenant = ?",
            (*map(pack, batch), tenant),
        ).fetchone()
        waiting, dead = waiting + alive, dead + entries - alive
    return UnindexedCounts(waiting, dead)


def failures(
    connection: sqlite3.Connection, tenant: str | None, limit: int, items: Sequence[str] | None
) -> list[IndexFailure]:
    """Return failed entries, most tries first."""
    item_filter = "" if items is None else f"AND i.uid IN ({marks(len(items))}) "
    rows = connection.execute(
        "SELECT o.point, o.tenant, i.context, i.uid, i.source_id, o.tries, o.error, o.failed_at, "  # noqa: S608
        "o.due_at IS NULL FROM outbox o JOIN node k ON k.uid = o.point "
        "JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' "
        "JOIN node i ON i.pk = e.source AND i.content_hash IS NOT NULL "
        f"WHERE o.tries > 0 AND (o.tenant = ? OR ? IS NULL) {item_filter}ORDER BY o.tries DESC, o.seq LIMIT ?",
        (tenant, tenant, *map(pack, items or ()), limit),
    )
    return [
        IndexFailure(
            unpack(point), owner, context, unpack(item), source_id, tries, error or "", from_us(since), bool(dead)
        )
        for point, owner, context, item, source_id, tries, error, since, dead in rows
    ]


def read(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[PendingPoint]:
    """Return these entries as pending points, with the data of their payloads."""
    if not seqs:
        return []
    source = "outbox o LEFT JOIN node k ON k.uid = o.point"
    where = f"o.seq IN ({marks(len(seqs))}) ORDER BY o.seq"
    return _points(connection, "o.seq, o.point, o.kind, o.tries", source, where, seqs)


def read_passages(connection: sqlite3.Connection, after: bytes, limit: int) -> list[PendingPoint]:
    """Return a page of all Chunks as pending points, with the data of their payloads."""
    where = "k.label = 'Chunk' AND k.uid > ? ORDER BY k.uid LIMIT ?"
    return _points(connection, "0, k.uid, 'upsert', 0", "node k", where, (after, limit))


def read_chunks(connection: sqlite3.Connection, uids: Sequence[str]) -> list[PendingPoint]:
    """Return these Chunks as pending points; unknown uids are left out."""
    where = f"k.label = 'Chunk' AND k.uid IN ({marks(len(uids))})"
    return _points(connection, "0, k.uid, 'upsert', 0", "node k", where, [pack(uid) for uid in uids])


def _points(
    connection: sqlite3.Connection, entry: str, source: str, where: str, values: Sequence[object]
) -> list[PendingPoint]:
    rows = connection.execute(
        f"SELECT {entry}, i.pk, {columns_of('k')}, {columns_of('i')} FROM {source} "  # noqa: S608
        "LEFT JOIN node i ON i.pk = (SELECT e.source FROM edge e JOIN node x ON x.pk = e.source "
        "     WHERE e.target = k.pk AND e.type = 'EVIDENCED_BY' AND x.content_hash IS NOT NULL) "
        f"WHERE {where}",
        tuple(values),
    ).fetchall()
    fields_by_item = _read_item_edges(connection, [row[4] for row in rows if row[4] is not None])
    statements = _read_statements(connection, [row[1] for row in rows])
    points = []
    for row in rows:
        chunk, item = row[5 : 5 + NODE_WIDTH], row[5 + NODE_WIDTH :]
        fields = fields_by_item.get(row[4], {})
        points.append(
            PendingPoint(
                seq=row[0],
                point_id=unpack(row[1]),
                kind=PendingKind(row[2]) if row[4] is not None else PendingKind.DELETE,
                tries=row[3],
                chunk=node_of(chunk) if row[4] is not None else None,
                item=node_of(item) if row[4] is not None else None,
                statements=tuple(statements.get(row[1], ())) if row[4] is not None else (),
                about=fields.get("about", ()),
                tags=fields.get("tags", ()),
                buckets=fields.get("buckets", ()),
            )
        )
    return points


def _read_statements(connection: sqlite3.Connection, chunks: Sequence[bytes]) -> dict[bytes, list[Node]]:
    """Return the statements of each of these Chunks."""
    statements: dict[bytes, list[Node]] = {}
    for batch in batched(chunks, _BATCH):
        rows = connection.execute(
            f"SELECT k.uid, {columns_of('s')} FROM node k JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' "  # noqa: S608
            f"JOIN node s ON s.pk = e.source AND {STATEMENT.format('s')} "
            f"WHERE k.uid IN ({marks(len(batch))}) ORDER BY s.uid",
            tuple(batch),
        )
        for chunk, *statement in rows:
            statements.setdefault(chunk, []).append(node_of(statement))
    return statements


def _read_item_edges(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, _EdgeFields]:
    """Return, for each item's key, the data of its ABOUT and TAGGED edges: fields of a PendingPoint."""
    rows = connection.execute(
        "SELECT e.source, e.type, t.name, t.uid, t.subtype, t.aliases FROM edge e JOIN node t ON t.pk = e.target "  # noqa: S608
        f"WHERE e.type IN ('ABOUT', 'TAGGED') AND e.source IN ({marks(len(items))})",
        tuple(items),
    )
    fields_by_item: dict[int, _EdgeFields] = {}
    for item, edge_type, name, uid, subtype, aliases in rows:
        field: Literal["about", "tags", "buckets"]
        field = "about" if edge_type == "ABOUT" else "buckets" if fold_case(subtype) == "bucket" else "tags"
        fields = fields_by_item.setdefault(item, {})
        names = (name, *json.loads(aliases), *((unpack(uid),) if field == "about" else ()))
        fields[field] = (*fields.get(field, ()), *names)
    return fields_by_item
