"""Items with their passages and the data of their edges, and live texts by text key, on Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched

from neo4j import Record

from vicw_shared.model import Node
from vicw_shared.ports import ItemView
from vicw_stores.neo4j.cypher import items as cypher
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.keys import tenant_text_key
from vicw_stores.neo4j.rows import is_node, node_of, nodes_in

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


_TEXT_KEYS = 2000


async def find_by_text_key(
    run: RunStatement, tenant: str, keys: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> dict[str, list[Node]]:
    """Return the live nodes with each of these keys, at most ``limit`` per key, oldest first."""
    matches: list[Node] = []
    for batch in batched(dict.fromkeys(keys), _TEXT_KEYS):
        tenant_keys = [tenant_text_key(tenant, key) for key in batch]
        values = {"keys": tenant_keys, "tenant": tenant, "contexts": contexts, "limit": limit}
        matches += nodes_in(await run(cypher.find(contexts is not None), **values))
    by_key: dict[str, list[Node]] = {}
    for node in sorted(matches, key=lambda node: (node.created_at, node.uid)):
        by_key.setdefault(node.text_key or "", []).append(node)
    return {key: nodes[:limit] for key, nodes in by_key.items()}
