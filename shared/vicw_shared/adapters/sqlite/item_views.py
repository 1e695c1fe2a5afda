"""Items with their passages and the data of their edges, on SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.adapters.sqlite.rows import NODE_COLUMNS, columns_of, marks, node_of, pack, unpack
from vicw_shared.model import Node
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import ItemView
from vicw_shared.text import fold_case

_BATCH = 500
LIVE = "content_hash IS NOT NULL AND label <> 'Chunk' AND retired_at IS NULL"


def read_item_views(connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> list[ItemView]:
    """Return the live items among ``uids``, in uid order."""
    views: list[ItemView] = []
    for batch in batched(sorted(set(uids)), _BATCH):
        rows = connection.execute(
            f"SELECT pk, {NODE_COLUMNS} FROM node WHERE uid IN ({marks(len(batch))}) "  # noqa: S608
            f"AND tenant = ? AND {LIVE} ORDER BY uid",
            (*map(pack, batch), tenant),
        )
        views += with_edges(connection, rows.fetchall())
    return views


def with_edges(connection: sqlite3.Connection, rows: Sequence[Sequence[object]]) -> list[ItemView]:
    """Return the views of these items (pk, then NODE_COLUMNS)."""
    passages: dict[object, list[Node]] = {}
    names: dict[tuple[object, str], set[str]] = {}
    for batch in batched((row[0] for row in rows), _BATCH):
        proofs = connection.execute(
            f"SELECT e.source, {columns_of('k')} FROM edge e JOIN node k ON k.pk = e.target "  # noqa: S608
            f"WHERE e.source IN ({marks(len(batch))}) AND e.type = 'EVIDENCED_BY' ORDER BY k.uid",
            batch,
        )
        for item, *passage in proofs:
            passages.setdefault(item, []).append(node_of(passage))
        named = connection.execute(
            "SELECT e.source, e.type, e.told_by, i.uid, t.name, t.uid, t.subtype, t.aliases FROM edge e "  # noqa: S608
            "JOIN node t ON t.pk = e.target JOIN node i ON i.pk = e.source "
            f"WHERE e.source IN ({marks(len(batch))}) AND e.type IN ('ABOUT', 'TAGGED', 'AUTO_TAGGED')",
            batch,
        )
        for item, kind, source_item, item_uid, name, uid, subtype, aliases in named:
            if kind == "ABOUT":
                names.setdefault((item, kind), set()).update((name, *json.loads(aliases), unpack(uid)))
            elif kind == AUTO_TAGGED:
                names.setdefault((item, kind), set()).add(name)
            elif source_item is None or source_item == unpack(item_uid):
                names.setdefault((item, "bucket" if fold_case(subtype) == "bucket" else "tag"), set()).add(name)
    return [
        ItemView(
            node_of(row[1:]),
            tuple(passages.get(row[0], ())),
            *(tuple(sorted(names.get((row[0], kind), ()))) for kind in ("tag", "bucket", "ABOUT", AUTO_TAGGED)),
        )
        for row in rows
    ]
