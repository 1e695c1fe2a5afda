"""Live texts by text key: look-ups, and key creation for older stores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import batched

from vicw_shared.adapters.neo4j.cypher import nodes
from vicw_shared.adapters.neo4j.cypher import text_keys as cypher
from vicw_shared.adapters.neo4j.database import Neo4jDatabase, RunStatement
from vicw_shared.adapters.neo4j.keys import worded_key
from vicw_shared.adapters.neo4j.rows import nodes_in
from vicw_shared.model import Label, Node
from vicw_shared.model.text_keys import is_verbatim, text_key

_BATCH = 2000
_PAGE = 500


async def find_worded(
    run: RunStatement, tenant: str, keys: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> dict[str, list[Node]]:
    """Return the live nodes with each of these keys, at most ``limit`` per key, oldest first."""
    found: list[Node] = []
    for batch in batched(dict.fromkeys(keys), _BATCH):
        wanted = [worded_key(tenant, key) for key in batch]
        values = {"keys": wanted, "tenant": tenant, "contexts": contexts, "limit": limit}
        found += nodes_in(await run(cypher.find(contexts is not None), **values))
    by_key: dict[str, list[Node]] = {}
    for node in sorted(found, key=lambda node: (node.created_at, node.uid)):
        by_key.setdefault(node.text_key or "", []).append(node)
    return {key: nodes[:limit] for key, nodes in by_key.items()}


async def index_wording(database: Neo4jDatabase) -> None:
    """Create the keys of passages that have none. May run twice, concurrently, and again after an interruption."""
    after = ""
    while page := nodes_in(await database.read(nodes.page(Label.CHUNK), after=after, limit=_PAGE)):
        unkeyed = [node for node in page if node.text_key is None]
        await database.write(partial(_index_page, chunks=unkeyed))
        after = page[-1].uid


async def _index_page(run: RunStatement, *, chunks: Sequence[Node]) -> None:
    rows = []
    for chunk in chunks:
        key = text_key(chunk.text or "", verbatim=is_verbatim(chunk.speaker, chunk.subtype, chunk.domain))
        worded = worded_key(chunk.tenant, key) if chunk.retired_at is None else None
        rows.append({"uid": chunk.uid, "text_key": key, "worded": worded})
    await run(cypher.KEEP, rows=rows)
