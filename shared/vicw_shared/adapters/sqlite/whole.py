"""Items with their passages and what their edges say, and the latest change of each passage, on SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from itertools import batched

from vicw_shared.adapters.sqlite.database import Database
from vicw_shared.adapters.sqlite.rows import NODE_COLUMNS, columns_of, marks, node_of, pack, unpack
from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Label, Node
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import PassageChange, WholeItem
from vicw_shared.telemetry.engines import measured
from vicw_shared.text import fold

_BATCH = 500
_LIVE = "content_hash IS NOT NULL AND label <> 'Chunk' AND retired_at IS NULL"
_PAGE = (
    f"SELECT pk, {NODE_COLUMNS} FROM node WHERE tenant = ? AND label = ? AND uid > ? AND {_LIVE} "  # noqa: S608
    "ORDER BY uid LIMIT ?"
)
_CHANGES = (
    "SELECT point, at, seq FROM passage_change WHERE tenant = ? AND (at, point) > (?, ?) ORDER BY at, point LIMIT ?"
)


@measured("sqlite")
class SqliteWholeItems:
    """WholeItems over the database of a graph. Nothing of it goes through the cache of what is asked often."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def whole_page(self, tenant: str, label: Label, *, after: str | None, limit: int) -> list[WholeItem]:
        values = (tenant, label.value, pack(after) if after else b"", limit)
        return await self._database.read(lambda c: _with_edges(c, c.execute(_PAGE, values).fetchall()))

    async def whole(self, tenant: str, uids: Sequence[str]) -> list[WholeItem]:
        def work(connection: sqlite3.Connection) -> list[WholeItem]:
            found: list[WholeItem] = []
            for batch in batched(sorted(set(uids)), _BATCH):
                rows = connection.execute(
                    f"SELECT pk, {NODE_COLUMNS} FROM node WHERE uid IN ({marks(len(batch))}) "  # noqa: S608
                    f"AND tenant = ? AND {_LIVE} ORDER BY uid",
                    (*map(pack, batch), tenant),
                )
                found += _with_edges(connection, rows.fetchall())
            return found

        return await self._database.read(work)

    async def changes(
        self, tenant: str, since: datetime, *, after: PassageChange | None = None, limit: int
    ) -> list[PassageChange]:
        behind = (to_us(after.at), pack(after.uid)) if after is not None else (to_us(since) - 1, b"\xff" * 17)
        values = (tenant, *behind, limit)
        rows = await self._database.read(lambda c: c.execute(_CHANGES, values).fetchall())
        return [PassageChange(unpack(point), from_us(at), seq) for point, at, seq in rows]


def _with_edges(connection: sqlite3.Connection, rows: Sequence[Sequence[object]]) -> list[WholeItem]:
    """Return what the edges of these items (pk, then NODE_COLUMNS) say of each."""
    passages: dict[object, list[Node]] = {}
    said: dict[tuple[object, str], set[str]] = {}
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
        for item, kind, teller, own, name, uid, subtype, aliases in named:
            if kind == "ABOUT":
                said.setdefault((item, kind), set()).update((name, *json.loads(aliases), unpack(uid)))
            elif kind == AUTO_TAGGED:
                said.setdefault((item, kind), set()).add(name)
            elif teller is None or teller == unpack(own):
                said.setdefault((item, "bucket" if fold(subtype) == "bucket" else "tag"), set()).add(name)
    return [
        WholeItem(
            node_of(row[1:]),
            tuple(passages.get(row[0], ())),
            *(tuple(sorted(said.get((row[0], kind), ()))) for kind in ("tag", "bucket", "ABOUT", AUTO_TAGGED)),
        )
        for row in rows
    ]
