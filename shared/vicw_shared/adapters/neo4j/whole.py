"""Items with their passages and what their edges say, and the latest change of each passage, on Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import batched

from neo4j import Record

from vicw_shared.adapters.neo4j.cypher import whole as cypher
from vicw_shared.adapters.neo4j.database import Database
from vicw_shared.adapters.neo4j.keys import tenant_key
from vicw_shared.adapters.neo4j.rows import is_node, node_of
from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Label
from vicw_shared.ports import PassageChange, WholeItem
from vicw_shared.telemetry.engines import measured

_BATCH = 500


@measured("neo4j")
class Neo4jWholeItems:
    """WholeItems on one database. Changes carry the server's time, which counts milliseconds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def whole_page(self, tenant: str, label: Label, *, after: str | None, limit: int) -> list[WholeItem]:
        values = {"tenant": tenant, "after": after or "", "limit": limit}
        return _wholes(await self._database.read(cypher.page(label), **values))

    async def whole(self, tenant: str, uids: Sequence[str]) -> list[WholeItem]:
        found: list[WholeItem] = []
        for batch in batched(sorted(set(uids)), _BATCH):
            rows = await self._database.read(cypher.WHOLE, tenant=tenant, uids=list(batch))
            found += _wholes(rows)
        return found

    async def changes(
        self, tenant: str, since: datetime, *, after: PassageChange | None = None, limit: int
    ) -> list[PassageChange]:
        at, uid = (after.at, after.uid) if after is not None else (since, "")
        values = {"tenant_key": tenant_key(tenant), "at": to_us(at), "uid": uid, "limit": limit}
        rows = await self._database.read(cypher.CHANGES, **values)
        return [PassageChange(row["uid"], from_us(row["at"]), row["seq"]) for row in rows]


def _wholes(rows: Sequence[Record]) -> list[WholeItem]:
    """Return the items; what went while the statement read is none, and none of one."""
    return [_whole(row) for row in rows if is_node(row["item"])]


def _whole(row: Record) -> WholeItem:
    marks: list[list[str]] = [mark for mark in row["marks"] if None not in mark]
    return WholeItem(
        node_of(row["item"]),
        tuple(sorted(map(node_of, filter(is_node, row["passages"])), key=lambda passage: passage.uid)),
        tags=tuple(sorted({name for kind, name in marks if kind != "bucket"})),
        buckets=tuple(sorted({name for kind, name in marks if kind == "bucket"})),
        about=tuple(sorted({said for names in row["about"] for said in names if said is not None})),
        auto_tags=tuple(sorted({tag for tag in row["auto_tags"] if tag is not None})),
    )
