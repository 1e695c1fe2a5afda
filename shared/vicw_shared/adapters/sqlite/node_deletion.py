"""Deletion of nodes with their edges, pending work and uses."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.adapters.sqlite.entries import put_entries
from vicw_shared.adapters.sqlite.rows import marks, pack

_BATCH = 500


def drop_nodes(connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> None:
    """Remove these nodes of a tenant. Payloads that repeat an edge to one of them become pending."""
    for batch in batched(dict.fromkeys(uids), _BATCH):
        part = [pack(uid) for uid in batch]
        rows = connection.execute(
            f"SELECT pk, uid FROM node WHERE uid IN ({marks(len(part))}) AND tenant = ?",  # noqa: S608
            (*part, tenant),
        ).fetchall()
        keys, removed = [(pk,) for pk, _ in rows], [(uid,) for _, uid in rows]
        payload_entries: list[tuple[bytes, str, str]] = []
        for (pk,) in keys:
            payload_entries += connection.execute(
                "SELECT DISTINCT k.uid, k.tenant, 'payload' FROM edge e JOIN edge x ON x.source = e.source "
                "AND x.type = 'EVIDENCED_BY' JOIN node k ON k.pk = x.target AND k.label = 'Chunk' "
                "WHERE e.target = ? AND e.type IN ('ABOUT', 'TAGGED')",
                (pk,),
            ).fetchall()
        connection.executemany("DELETE FROM edge WHERE source = ?", keys)
        connection.executemany("DELETE FROM edge WHERE target = ?", keys)
        connection.executemany("DELETE FROM outbox WHERE point = ?", removed)
        connection.executemany("DELETE FROM unread WHERE item = ?", removed)
        connection.executemany("DELETE FROM passage_change WHERE point = ?", removed)
        connection.executemany("DELETE FROM item_use WHERE item = ?", removed)
        connection.executemany("DELETE FROM node WHERE pk = ?", keys)
        put_entries(connection, [row for row in payload_entries if (row[0],) not in removed])
