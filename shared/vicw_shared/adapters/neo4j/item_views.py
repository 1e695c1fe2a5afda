"""Items with their passages and the data of their edges, on Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched

from neo4j import Record

from vicw_shared.adapters.neo4j.cypher import item_views as cypher
from vicw_shared.adapters.neo4j.database import RunStatement
from vicw_shared.adapters.neo4j.rows import is_node, node_of
from vicw_shared.ports import ItemView

_BATCH = 500


async def find_item_views(run: RunStatement, tenant: str, uids: Sequence[str]) -> list[ItemView]:
    """Return the live items among ``uids``, in uid order."""
    views: list[ItemView] = []
    for batch in batched(sorted(set(uids)), _BATCH):
        views += item_views_of(await run(cypher.FIND, tenant=tenant, uids=list(batch)))
    return views


def item_views_of(rows: Sequence[Record]) -> list[ItemView]:
    """Return the item views, without nodes removed during the read."""
    return [_item_view(row) for row in rows if is_node(row["item"])]


def _item_view(row: Record) -> ItemView:
    marks: list[list[str]] = [mark for mark in row["marks"] if None not in mark]
    return ItemView(
        node_of(row["item"]),
        tuple(sorted(map(node_of, filter(is_node, row["passages"])), key=lambda passage: passage.uid)),
        tags=tuple(sorted({name for kind, name in marks if kind != "bucket"})),
        buckets=tuple(sorted({name for kind, name in marks if kind == "bucket"})),
        about=tuple(sorted({about_name for names in row["about"] for about_name in names if about_name is not None})),
        auto_tags=tuple(sorted({tag for tag in row["auto_tags"] if tag is not None})),
    )
