"""The outbox: which points lag behind the graph, and what is known of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.adapters.sqlite.rows import NODE_WIDTH, columns_of, marks, node_of, pack, unpack
from vicw_shared.ports import PendingKind, PendingPoint
from vicw_shared.text import fold

_BATCH = 500
_FOLLOW_POINT = (
    "UPDATE node SET indexed = 1 WHERE pk IN "
    "(SELECT e.source FROM outbox o JOIN node k ON k.uid = o.point AND k.indexed "
    "JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' WHERE o.seq = :seq) "
    "AND qdrant_id = (SELECT point FROM outbox WHERE seq = :seq)"
)
"""The item that a point stands for is indexed when the point is."""
_SETTLE_POINT = (
    "UPDATE node SET indexed = 1 WHERE uid = (SELECT point FROM outbox WHERE seq = :seq) "
    "AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.point = node.uid AND o.seq > :seq AND o.kind = 'upsert')"
)
_FORGET = "DELETE FROM outbox WHERE point = (SELECT point FROM outbox WHERE seq = :seq) AND seq <= :seq"


def settle(connection: sqlite3.Connection, seqs: Sequence[int]) -> None:
    """Mark what these entries stand for as indexed, unless it has changed since, and remove them."""
    rows = [{"seq": seq} for seq in seqs]
    for statement in (_SETTLE_POINT, _FOLLOW_POINT, _FORGET):
        connection.executemany(statement, rows)


def queue_some(connection: sqlite3.Connection, chunk_uids: Sequence[str]) -> int:
    """Queue these Chunks again; return how many."""
    rows = [{"uid": pack(uid)} for uid in chunk_uids]
    connection.executemany("UPDATE node SET indexed = 0 WHERE uid = :uid AND label = 'Chunk'", rows)
    connection.executemany(
        "UPDATE node SET indexed = 0 WHERE qdrant_id = :uid AND pk IN (SELECT e.source FROM node k "
        "JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' WHERE k.uid = :uid)",
        rows,
    )
    connection.executemany("INSERT INTO outbox (point, kind) VALUES (:uid, 'upsert')", rows)
    return len(rows)


def queue_all(connection: sqlite3.Connection) -> int:
    """Queue every Chunk, and nothing else; return how many."""
    connection.execute("DELETE FROM outbox")
    connection.execute("UPDATE node SET indexed = 0 WHERE indexed")
    added = connection.execute(
        "INSERT INTO outbox (point, kind) SELECT uid, 'upsert' FROM node WHERE label = 'Chunk' ORDER BY pk"
    )
    return added.rowcount


def which_wait(connection: sqlite3.Connection, chunk_uids: Sequence[str]) -> set[str]:
    """Return which of these Chunks are in the outbox."""
    found: set[str] = set()
    for batch in batched(chunk_uids, _BATCH):
        part = [pack(uid) for uid in batch]
        rows = connection.execute(f"SELECT point FROM outbox WHERE point IN ({marks(len(part))})", part)  # noqa: S608
        found.update(unpack(point) for (point,) in rows)
    return found


def read_pending(connection: sqlite3.Connection, limit: int) -> list[PendingPoint]:
    """Return what the oldest ``limit`` entries ask for, one a point, with what the payload says."""
    rows = connection.execute(
        f"SELECT o.seq, o.point, o.kind, i.pk, {columns_of('k')}, {columns_of('i')} "  # noqa: S608
        "FROM (SELECT max(seq) AS seq, point, max(kind) AS kind FROM "
        "      (SELECT seq, point, kind FROM outbox ORDER BY seq LIMIT ?) GROUP BY point) o "
        "LEFT JOIN node k ON k.uid = o.point "
        "LEFT JOIN node i ON i.pk = (SELECT e.source FROM edge e JOIN node x ON x.pk = e.source "
        "     WHERE e.target = k.pk AND e.type = 'EVIDENCED_BY' AND x.content_hash IS NOT NULL) "
        "ORDER BY o.seq",
        (limit,),
    ).fetchall()
    said = _read_said(connection, [row[3] for row in rows if row[3] is not None])
    points = []
    for row in rows:
        chunk, item = row[4 : 4 + NODE_WIDTH], row[4 + NODE_WIDTH :]
        points.append(
            PendingPoint(
                seq=row[0],
                point_id=unpack(row[1]),
                kind=PendingKind(row[2]) if row[3] is not None else PendingKind.DELETE,
                chunk=node_of(chunk) if row[3] is not None else None,
                item=node_of(item) if row[3] is not None else None,
                **said.get(row[3], {}),
            )
        )
    return points


def _read_said(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return, for each item's key, what its ABOUT and TAGGED edges say: fields of a PendingPoint."""
    rows = connection.execute(
        "SELECT e.source, e.type, t.name, t.uid, t.subtype FROM edge e JOIN node t ON t.pk = e.target "  # noqa: S608
        f"WHERE e.type IN ('ABOUT', 'TAGGED') AND e.source IN ({marks(len(items))})",
        tuple(items),
    )
    said: dict[int, dict[str, tuple[str, ...]]] = {}
    for item, edge_type, name, uid, subtype in rows:
        field = "about" if edge_type == "ABOUT" else "buckets" if fold(subtype) == "bucket" else "tags"
        fields = said.setdefault(item, {})
        fields[field] = (*fields.get(field, ()), name, *((unpack(uid),) if field == "about" else ()))
    return said
