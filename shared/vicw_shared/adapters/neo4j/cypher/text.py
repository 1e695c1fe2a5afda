"""Full text: what is indexed with a Chunk, and the search of it inside a scope."""

from __future__ import annotations

from functools import cache

from vicw_shared.clock import to_us
from vicw_shared.ports import Audience, Scope

INDEX = "vicw_text"

DESCRIBE = (
    "UNWIND $sources AS source MATCH (i) WHERE elementId(i) = source AND i.content_hash IS NOT NULL "
    "WITH i, coalesce(i.tags, []) + "
    "[(i)-[:TAGGED]->(t) WHERE t.kind <> 'bucket' AND NOT t.name IN coalesce(i.tags, []) | t.name] AS tags "
    "MATCH (i)-[:EVIDENCED_BY]->(k:Chunk) "
    # After the hop: else all Chunks might be asked for the one that has the uid.
    "WITH i, k, [i.name] + CASE WHEN i.title <> i.name THEN [i.title] ELSE [] END + tags AS head "
    "WHERE k.uid = i.qdrant_id AND (k.head IS NULL OR k.head <> head) SET k.head = head"
)
"""An item's first Chunk carries its names and tags: one look-up of one index finds them, with the text."""


@cache
def find(conditions: tuple[str, ...]) -> str:
    """Return the search; its hits come best first, and it ends as soon as enough of them are inside the scope."""
    return (
        f"CALL db.index.fulltext.queryNodes('{INDEX}', $query) YIELD node AS k, score "
        f"MATCH (k)<-[:EVIDENCED_BY]-(i) WHERE {' AND '.join(conditions)} "
        "RETURN k.uid AS uid, score LIMIT $limit"
    )


def within(scope: Scope) -> tuple[tuple[str, ...], dict[str, object]]:
    """Return the conditions on an item ``i``, and their values: the rule of the vector stores' filters.

    Tags and ABOUT are judged by the item's edges. A comparison with what is not there must not decide.
    """
    conditions = ["i.content_hash IS NOT NULL", "i.tenant = $tenant"]
    values: dict[str, object] = {"tenant": scope.tenant}
    if scope.contexts is not None:
        conditions.append("i.context IN $contexts")
        values["contexts"] = list(scope.contexts)
    if scope.domains is not None:
        conditions.append("i.domain IN $domains")
        values["domains"] = list(scope.domains)
    for mode, tags in (("any", scope.tags_any), ("all", scope.tags_all), ("none", scope.tags_none)):
        if tags:
            conditions.append(_TAGS[mode])
            values[f"tags_{mode}"] = list(tags)
    conditions += _in_time(scope, values)
    if scope.audience is not None:
        conditions += _visible_to(scope.audience, values)
    return tuple(conditions), values


_TAGGED = "EXISTS {{ (i)-[:TAGGED]->(t) WHERE t.kind <> 'bucket' AND t.folded {0} }}"
_TAGS = {
    "any": _TAGGED.format("IN $tags_any"),
    "all": f"all(tag IN $tags_all WHERE {_TAGGED.format('= tag')})",
    "none": f"NOT {_TAGGED.format('IN $tags_none')}",
}


def _in_time(scope: Scope, values: dict[str, object]) -> list[str]:
    values["asked"] = to_us(scope.judged_at)
    conditions = ["(i.expires_at IS NULL OR i.expires_at > $asked)"]
    if scope.as_of is not None:
        values["as_of"] = to_us(scope.as_of)
        conditions.append("(i.timestamp IS NULL OR i.timestamp <= $as_of)")
    instant = "$as_of" if scope.as_of is not None else "$asked"
    if scope.known_at is not None:
        # What was believed then had no end yet that anybody knew of.
        values["known"] = to_us(scope.known_at)
        return [*conditions, "i.created_at <= $known", "(i.retired_at IS NULL OR i.retired_at > $known)"]
    values["now"] = to_us(scope.now)
    conditions.append(f"(i.valid_to IS NULL OR i.valid_to > {instant})")
    believed = "i.retired_at IS NULL OR i.retired_at > $now"
    # Retired because the world changed: seen as of then. Retired because it was wrong: never.
    believed += " OR i.valid_to IS NOT NULL" if scope.as_of is not None else ""
    return [*conditions, f"({believed})"]


def _visible_to(audience: Audience, values: dict[str, object]) -> list[str]:
    seen, portable = "i.sensitivity = 'public'", "i.portable"
    if audience.subjects:
        values["subjects"] = list(audience.subjects)
        values["levels"] = ["personal", "sensitive"] if audience.private else ["personal"]
        about = "EXISTS { (i)-[:ABOUT]->(p) WHERE p.folded IN $subjects OR p.uid IN $subjects }"
        seen += f" OR (i.sensitivity IN $levels AND {about})"
    if audience.context is not None:
        values["home"] = audience.context
        portable += " OR i.context = $home"
    return [f"({seen})", f"({portable})"]
