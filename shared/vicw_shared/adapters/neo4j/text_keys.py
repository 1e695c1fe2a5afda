"""Live texts by text key."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched

from vicw_shared.adapters.neo4j.cypher import text_keys as cypher
from vicw_shared.adapters.neo4j.database import RunStatement
from vicw_shared.adapters.neo4j.keys import tenant_text_key
from vicw_shared.adapters.neo4j.rows import nodes_in
from vicw_shared.model import Node

_BATCH = 2000


async def find_by_text_key(
    run: RunStatement, tenant: str, keys: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> dict[str, list[Node]]:
    """Return the live nodes with each of these keys, at most ``limit`` per key, oldest first."""
    matches: list[Node] = []
    for batch in batched(dict.fromkeys(keys), _BATCH):
        tenant_keys = [tenant_text_key(tenant, key) for key in batch]
        values = {"keys": tenant_keys, "tenant": tenant, "contexts": contexts, "limit": limit}
        matches += nodes_in(await run(cypher.find(contexts is not None), **values))
    by_key: dict[str, list[Node]] = {}
    for node in sorted(matches, key=lambda node: (node.created_at, node.uid)):
        by_key.setdefault(node.text_key or "", []).append(node)
    return {key: nodes[:limit] for key, nodes in by_key.items()}
