"""Statements on item views, on live texts by text key, and on the latest change of each passage."""

from __future__ import annotations

from functools import cache

from vicw_shared.model import Label
from vicw_stores.neo4j.cypher.parts import ITEM, node, seek

_LIVE = "n.tenant = $tenant AND n.content_hash IS NOT NULL AND n.retired_at IS NULL"
_VIEW = (
    f"RETURN {node('n')} AS item, [(n)-[:EVIDENCED_BY]->(k:Chunk) | {node('k')}] AS passages, "
    "[(n)-[r:TAGGED]->(t) WHERE r.told_by IS NULL OR r.told_by = n.uid | [t.kind, t.name]] AS marks, "
    "[(n)-[:ABOUT]->(a) | [a.name] + coalesce(a.aliases, []) + [a.uid]] AS about, "
    "[(n)-[:AUTO_TAGGED]->(c) | c.name] AS auto_tags ORDER BY n.uid"
)

FIND = f"MATCH (n:{ITEM}) WHERE n.uid IN $uids AND {_LIVE} {_VIEW}"

CHANGES = (
    f"MATCH (k:Chunk) {seek('k', 'Chunk', 'tenant_key, changed_at')} "
    "WHERE k.tenant_key = $tenant_key AND k.changed_at >= $at AND (k.changed_at > $at OR k.uid > $uid) "
    "RETURN k.uid AS uid, k.changed_at AS at, k.seq AS seq ORDER BY at, uid LIMIT $limit"
)


@cache
def page(label: Label) -> str:
    """Return a label's live items, ordered by uid."""
    return (
        f"MATCH (n:{label}) {seek('n', label, 'uid')} WHERE n.uid > $after AND {_LIVE} "
        f"WITH n ORDER BY n.uid LIMIT $limit {_VIEW}"
    )


_WITH_TEXT = (Label.CHUNK, Label.EVENT, Label.ENTITY)


@cache
def find(of_contexts: bool) -> str:
    """Return the nodes with some keys, in some contexts or all of a tenant."""
    within = "AND n.context IN $contexts " if of_contexts else ""
    branches = " UNION ALL ".join(
        f"MATCH (n:{label}) {seek('n', label, 'worded')} WHERE n.worded = key AND n.tenant = $tenant {within}"
        "RETURN n ORDER BY n.created_at, n.uid LIMIT $limit"
        for label in _WITH_TEXT
    )
    return f"UNWIND $keys AS key CALL (key) {{ {branches} }} RETURN {node('n')} AS node"
