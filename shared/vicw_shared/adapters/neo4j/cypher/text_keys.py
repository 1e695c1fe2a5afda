"""Statements on live texts, by an index of their text keys."""

from __future__ import annotations

from functools import cache

from vicw_shared.adapters.neo4j.cypher.parts import node, seek
from vicw_shared.model import Label

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
