"""Statements on names: the store's own term records, one for each name, word, title or trigger phrase of a node.

A record is an Entity without a uid, joined to its node by an edge of a type in lower case, which cannot be registered.
Range indexes over keys find the records, at the same cost in large and small tenants, whatever a name's length.
"""

from __future__ import annotations

from functools import cache

from vicw_stores.neo4j.cypher.parts import ANY, gathered, node, one_of, seek

DROP_TERMS = (
    "UNWIND $keys AS key MATCH (n) WHERE elementId(n) = key "
    "CALL (n) { MATCH (n)<-[:term_of]-(t:Entity) DETACH DELETE t }"
)

PUT_TERMS = (
    "UNWIND $rows AS row MATCH (n) WHERE elementId(n) = row.key "
    "UNWIND row.terms AS term CREATE (t:Entity)-[:term_of]->(n) SET t = term"
)


@cache
def find(begun: tuple[bool, ...], of_contexts: bool) -> str:
    """Return several look-ups in one statement; ``begun`` is true for each that matches by beginning.

    Each row has the ``number`` of its look-up.
    """
    branches = " UNION ALL ".join(
        f"{(_prefixed if by_beginning else _equal)(f'$names[{number}]', f'$limit_{number}', of_contexts)} "
        f"RETURN {number} AS number, name.text AS text, n"
        for number, by_beginning in enumerate(begun)
    )
    return f"CALL () {{ {branches} }} {gathered(number='number', text='text', node=node('n'))}"


def _equal(names: str, limit: str, of_contexts: bool) -> str:
    scope = "t.home IN $homes" if of_contexts else "t.home > ''"
    return (
        f"UNWIND {names} AS name CALL (name) {{ "
        f"MATCH (t:Entity) {seek('t', 'Entity', 'term, home')} WHERE t.term = name.term AND {scope} "
        f"WITH t LIMIT {limit} MATCH (t)-[:term_of]->(n) RETURN n }}"
    )


def _prefixed(names: str, limit: str, of_contexts: bool) -> str:
    scope = "AND t.home IN $homes " if of_contexts else ""
    return (
        f"UNWIND {names} AS name CALL (name) {{ "
        f"MATCH (t:Entity) {seek('t', 'Entity', 'begins')} WHERE t.begins > name.start AND t.begins < name.end {scope}"
        f"MATCH (t)-[:term_of]->(n) RETURN DISTINCT n LIMIT {limit} }}"
    )


@cache
def triggered(of_contexts: bool) -> str:
    """Return the items with some trigger phrases, the highest precedence first, in some contexts or all of them."""
    scope = "AND t.home IN $homes " if of_contexts else ""
    return (
        "UNWIND $phrases AS phrase CALL (phrase) { "
        f"MATCH (t:Entity) {seek('t', 'Entity', 'place')} WHERE t.place > phrase.start AND t.place < phrase.end {scope}"
        f"WITH t ORDER BY t.place LIMIT $limit MATCH (t)-[:term_of]->(n) RETURN n }} "
        f"WITH DISTINCT n {gathered(node=node('n'))}"
    )


@cache
def page(of_subtype: bool) -> str:
    """Return a page of a context's named nodes ordered by the places of their names, then uid."""
    kind = "n.kind = $kind" if of_subtype else "n.kind <> $kind"
    return (
        f"MATCH (t:Entity) {seek('t', 'Entity', 'place')} WHERE t.place >= $after AND t.place < $end "
        "AND t.place STARTS WITH $prefix MATCH (t)-[:term_of]->(n) "
        f"WHERE (t.place > $after OR n.uid > $uid) AND {kind} "
        f"RETURN {node('n')} AS node ORDER BY t.place, n.uid LIMIT $limit"
    )


@cache
def degrees(types: tuple[str, ...]) -> str:
    """Return the number of edges of these types at some nodes."""
    return (
        f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant "
        f"RETURN n.uid AS uid, COUNT {{ (n)-[:{one_of(types)}]-() }} AS count"
    )
