"""Full-text statements: the text indexed with a Chunk, and the search inside a scope."""

from __future__ import annotations

from functools import lru_cache

from vicw_shared.ports import Scope
from vicw_stores.conditions import After, AnyOf, Condition, Group, Is, Until, scope_conditions
from vicw_stores.neo4j.cypher.item_filter import Bindings, condition_of
from vicw_stores.neo4j.cypher.parts import seek

INDEX = "vicw_words"

HEAD = "\\n"
"""What separates the words of a Chunk's text from those of its item's names, tags and bucket, in one property.

The latter stand there twice, so that they count double, and one field has one length, as in the other store.
"""

SET_HEADS = (
    "UNWIND $sources AS source MATCH (i) WHERE elementId(i) = source AND i.head_words IS NOT NULL "
    "MATCH (i)-[:EVIDENCED_BY]->(k:Chunk) "
    "WITH i, k, "
    f"split(coalesce(k.words, ''), '{HEAD}')[0] + '{HEAD}' + i.head_words + ' ' + i.head_words AS words "
    # Filtered after the hop: otherwise the planner might read all Chunks to find the one with the uid.
    "WHERE k.uid = i.qdrant_id AND (k.words IS NULL OR k.words <> words) SET k.words = words"
)
"""Adds an item's words of its names, tags and bucket to its first Chunk."""

CHUNKS = (
    f"UNWIND $uids AS uid MATCH (k:Chunk) {seek('k', 'Chunk', 'uid')} WHERE k.uid = uid "
    "OPTIONAL MATCH (k)<-[:EVIDENCED_BY]-(i) WHERE i.qdrant_id = uid AND i.content_hash IS NOT NULL "
    "RETURN elementId(k) AS key, k.text AS text, elementId(i) AS item, "
    "i{.name, .title, .tags, .bucket} AS head"
)
SET_WORDS = (
    "UNWIND $rows AS row MATCH (k) WHERE elementId(k) = row.key SET k.words = row.words REMOVE k.parts, k.head "
    "WITH row MATCH (i) WHERE elementId(i) = row.item SET i.head_words = row.head_words"
)


@lru_cache(256)
def find(condition: str) -> str:
    """Return the search, with the words of each hit; it ends once enough of the engine's best are inside the scope."""
    return (
        f"CALL db.index.fulltext.queryNodes('{INDEX}', $query) YIELD node AS k, score "
        f"MATCH (k)<-[:EVIDENCED_BY]-(i) WHERE {condition} "
        "RETURN k.uid AS uid, k.words AS words LIMIT $limit"
    )


def inside(scope: Scope) -> tuple[str, dict[str, object]]:
    """Return the condition on an item ``i``, and its values: the same rules as in the vector stores' filters.

    Tags and ABOUT are evaluated on the item's edges.
    """
    values = Bindings(tenant=scope.tenant)
    condition = (
        f"i.content_hash IS NOT NULL AND i.tenant = $tenant AND {scope_condition(scope_conditions(scope), values)}"
    )
    if scope.condition is not None and scope.items is None:
        condition += f" AND ({condition_of(scope.condition, values)})"
    return condition, values


def _has_name(node: str, names: str) -> str:
    """Return the condition that a node has one of some names as its name or an earlier name."""
    return f"({node}.folded IN {names} OR any(name IN coalesce({node}.formerly, []) WHERE name IN {names}))"


def scope_condition(condition: Condition, values: dict[str, object]) -> str:  # noqa: PLR0911 - one a kind
    """Return a condition on the item ``i`` with bound values; a missing field matches nothing."""

    def bound(value: object) -> str:
        name = f"v{len(values)}"
        values[name] = value
        return f"${name}"

    match condition:
        case Is("portable", value):
            return f"i.portable = {bound(bool(value))}"
        case Is(field, value):
            return scope_condition(AnyOf(field, (str(value),)), values)
        case AnyOf("tags", names):
            return f"EXISTS {{ (i)-[:TAGGED]->(t) WHERE t.kind <> 'bucket' AND {_has_name('t', bound(list(names)))} }}"
        case AnyOf("about", names):
            subjects = bound(list(names))
            return f"EXISTS {{ (i)-[:ABOUT]->(p) WHERE {_has_name('p', subjects)} OR p.uid IN {subjects} }}"
        case AnyOf("item", uids):
            return f"i.uid IN {bound(list(uids))}"
        case AnyOf(field, names):
            return f"coalesce(i.{field} IN {bound(list(names))}, false)"
        # Compared by whole milliseconds, as in the vector stores' payloads, so that both find the same.
        case Until(field, instant):
            return f"coalesce(i.{field} < {bound((instant + 1) * 1000)}, false)"
        case After(field, instant):
            return f"coalesce(i.{field} >= {bound((instant + 1) * 1000)}, false)"
        case Group(must, must_not, should):
            parts = [f"({scope_condition(part, values)})" for part in must]
            parts += [f"NOT ({scope_condition(part, values)})" for part in must_not]
            if should:
                parts.append(f"({' OR '.join(scope_condition(part, values) for part in should)})")
            return " AND ".join(parts) or "true"
