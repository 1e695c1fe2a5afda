"""Statements on pages of items: each a range of an index in its order, for each label that items have."""

from __future__ import annotations

from functools import lru_cache

from vicw_shared.model import Label
from vicw_shared.model.item_order import ItemOrder
from vicw_stores.neo4j.cypher.parts import gathered, node, seek

KEY = {
    ItemOrder.TOLD: "told_key",
    ItemOrder.HAPPENED: "happened_key",
    ItemOrder.ARRIVAL: "created_at",
    ItemOrder.IMPORTANCE: "importance_key",
}
LABELS = (Label.EVENT, Label.ENTITY)
VALUES_INDEX = "vicw_values"
WITH_VALUES = (
    f"CALL db.index.fulltext.queryNodes('{VALUES_INDEX}', $words, {{limit: $most}}) YIELD node AS i "
    "WITH collect(i.uid) AS uids RETURN CASE WHEN size(uids) < $most THEN uids END AS uids"
)
"""The items that have some values (``keys.value_words``), null if these are ``$most`` or more."""
WITH_EDGE = {
    edge: f"MATCH (t:Entity) {seek('t', 'Entity', 'term, home')} WHERE t.term IN $terms AND t.home > '' "
    f"MATCH (t)-[:term_of]->()<-[:{edge}]-(i) WITH DISTINCT i.uid AS uid LIMIT $most WITH collect(uid) AS uids "
    "RETURN CASE WHEN size(uids) < $most THEN uids END AS uids"
    for edge in ("TAGGED", "STATED_BY")
}
"""The items with an edge to something of some names, by the edge's type; null if these are ``$most`` or more."""
TIE = ("arrival_key", "uid")
BEHIND = {False: ">", True: "<"}


def columns(order: ItemOrder, *, of_context: bool) -> tuple[str, ...]:
    """Return the properties of an order's index."""
    return ("listed", *(("listed_in",) if of_context else ()), KEY[order], *TIE)


def index_name(label: Label, order: ItemOrder, *, of_context: bool) -> str:
    """Return the name of an order's index."""
    return f"vicw_{label.lower()}_listed_{order}" + ("_in" if of_context else "")


def indexes() -> dict[str, str]:
    """Return the definition of every order's index, by name."""
    return {
        index_name(label, order, of_context=of_context): f"FOR (n:{label}) ON "
        f"({', '.join(f'n.{column}' for column in columns(order, of_context=of_context))})"
        for label in LABELS
        for order in ItemOrder
        for of_context in (False, True)
    }


@lru_cache(256)
def page(order: ItemOrder, fixed: int, condition: str, *, of_context: bool, started: bool, descending: bool) -> str:
    """Return the first items that are behind a place, in an order.

    Of the key, the arrival and the uid, so many are ``fixed`` to those of the place, and the next is behind its. Unless
    it has ``started``, there is no place, and none is.
    """
    parts = (KEY[order], *TIE)
    where = [f"i.{part} = ${part}" for part in parts[:fixed]]
    where += [
        f"i.{part} {BEHIND[descending]} ${part}" if started else f"i.{part} IS NOT NULL" for part in parts[fixed:][:1]
    ]
    where += [f"i.{part} IS NOT NULL" for part in parts[fixed + 1 :]]
    within = " AND i.listed_in = $listed_in AND i.context = $context" if of_context else ""
    way = " DESC" if descending else ""
    names = columns(order, of_context=of_context)
    ordered = ", ".join(f"i.{name}{way}" for name in names)
    branches = " UNION ALL ".join(
        f"MATCH (i:{label}) {seek('i', label, ', '.join(names))} "
        f"WHERE i.listed = $listed{within} AND {' AND '.join(where)} AND {condition} "
        f"RETURN i ORDER BY {ordered} LIMIT $limit"
        for label in LABELS
    )
    return f"CALL () {{ {branches} }} WITH i ORDER BY {ordered} LIMIT $limit {gathered(node=node('i'))}"


@lru_cache(256)
def passing(condition: str, order: ItemOrder, *, among: bool, of_contexts: bool) -> str:
    """Return the uids of items for which a condition holds: ``among`` some, else of a few contexts, or of all.

    The latter are read by the index of an ``order``.
    """
    if among:
        name, where = "uid", "i.uid IN $among AND i.content_hash IS NOT NULL"
    else:
        name = ", ".join(columns(order, of_context=of_contexts))
        within = " AND i.listed_in IN $of_contexts" if of_contexts else ""
        where = (
            f"i.listed IN $either{within} AND i.{KEY[order]} IS NOT NULL AND i.arrival_key IS NOT NULL "
            "AND i.uid IS NOT NULL"
        )
    branches = " UNION ALL ".join(
        f"MATCH (i:{label}) {seek('i', label, name)} WHERE {where} AND {condition} RETURN i.uid AS uid LIMIT $limit"
        for label in LABELS
    )
    return f"CALL () {{ {branches} }} RETURN uid LIMIT $limit"


_CONTEXT_PART = ("context", "domain", "label", "items", "first", "last", "passages", "chars", "indexed")


@lru_cache(256)
def context_parts(condition: str) -> str:
    """Return the counts of the items that are ``$listed`` by context, domain and label."""
    branches = _listed(
        ItemOrder.TOLD,
        f"i.told_key IS NOT NULL AND i.arrival_key IS NOT NULL AND i.uid IS NOT NULL AND {condition}",
        "i.context AS context, i.domain AS domain, labels(i)[0] AS label, i.told_key AS told, "
        # Of an earlier version a passage has no ``chars``. ``coalesce`` would read the text of all.
        "[(i)-[:EVIDENCED_BY]->(k:Chunk) "
        "| [CASE WHEN k.chars IS NULL THEN size(k.text) ELSE k.chars END, k.indexed]] AS proofs",
    )
    return (
        f"CALL () {{ {branches} }} WITH context, domain, label, told, size(proofs) AS passages, "
        "reduce(sum = 0, proof IN proofs | sum + proof[0]) AS chars, "
        "size([proof IN proofs WHERE proof[1]]) AS indexed "
        "WITH context, domain, label, count(*) AS items, min(told) AS first, max(told) AS last, "
        "sum(passages) AS passages, sum(chars) AS chars, sum(indexed) AS indexed ORDER BY context, domain, label "
        + gathered(**{name: name for name in _CONTEXT_PART})
    )


@lru_cache(256)
def speaker_parts(condition: str) -> str:
    """Return the counts of the items that are ``$listed`` by user, speaker and context."""
    branches = _listed(
        ItemOrder.TOLD,
        f"i.told_key IS NOT NULL AND i.arrival_key IS NOT NULL AND i.uid IS NOT NULL AND {condition}",
        "reduce(first = null, name IN [(i)-[:STATED_BY]->(t) WHERE t.kind = 'user' | t.name] "
        "| CASE WHEN first IS NULL OR name < first THEN name ELSE first END) AS user, "
        "i.speaker AS speaker, i.context AS context, i.told_key AS told",
    )
    return (
        f"CALL () {{ {branches} }} WITH * WHERE user IS NOT NULL OR speaker IS NOT NULL WITH user, speaker, context, "
        "count(*) AS items, min(told) AS first, max(told) AS last "
        + gathered(**{name: name for name in ("user", "speaker", "context", "items", "first", "last")})
    )


@lru_cache(256)
def arrivals(condition: str) -> str:
    """Return the number of ``$listed`` items by the day of their arrival, in units of ``$day``, from ``$since`` on."""
    branches = _listed(
        ItemOrder.ARRIVAL,
        f"i.created_at >= $since AND i.arrival_key IS NOT NULL AND i.uid IS NOT NULL AND {condition}",
        "i.created_at / $day AS day",
    )
    return f"CALL () {{ {branches} }} RETURN day, count(*) AS items ORDER BY day"


def _listed(order: ItemOrder, where: str, returned: str) -> str:
    """Return the reading of the items that are ``$listed``, of all labels, by the index of an order."""
    names = ", ".join(columns(order, of_context=False))
    return " UNION ALL ".join(
        f"MATCH (i:{label}) {seek('i', label, names)} WHERE i.listed = $listed AND {where} RETURN {returned}"
        for label in LABELS
    )
