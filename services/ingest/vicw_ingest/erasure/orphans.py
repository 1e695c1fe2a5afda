"""Orphans of an erasure: named entities that only erased items mentioned, and aliases that only these used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from vicw_core.graph.canonical import DISTINCT_FROM, MERGED_INTO
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import AUTO_TAGGED, WEAK_TYPES
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold_case

_NO_EVIDENCE = frozenset({*WEAK_TYPES, MERGED_INTO, DISTINCT_FROM})
"""Types that join an entity to others, but are no evidence for it: no item is behind them."""
_ROUNDS = 8
_MAX_SOURCES = 1000


def is_named_entity(node: Node) -> bool:
    """Return whether a node is a named entity, live or not: neither an item nor a part of one."""
    return node.label in {Label.ENTITY, Label.CONCEPT} and node.content_hash is None


async def find_orphans(
    transaction: GraphTransaction, registry: EdgeRegistry, context: str, candidates: Collection[str]
) -> dict[str, Node]:
    """Return the named entities of a context, among ``candidates`` and adjacent to them, that nothing stored supports.

    An auto-tag supports a tag only if the item's own words contain it: else it was copied from other items' tags.
    """
    types = [t.name for t in registry if t.name not in _NO_EVIDENCE]
    nodes = (await transaction.nodes(sorted(candidates))).items()
    entities = {uid: node for uid, node in nodes if is_named_entity(node) and node.context == context}
    edges = {edge.id: edge for edge in await transaction.edges(sorted(entities), types)}
    for _ in range(_ROUNDS):  # entities retired with an erased item may hang on each other
        ends = {end for edge in edges.values() for end in (edge.source, edge.target)} - entities.keys()
        neighbours = (await transaction.nodes(sorted(ends))).items()
        fresh = {
            uid for uid, n in neighbours if is_named_entity(n) and n.retired_at is not None and n.context == context
        }
        if not fresh:
            break
        entities |= {uid: node for uid, node in neighbours if uid in fresh}
        edges |= {edge.id: edge for edge in await transaction.edges(sorted(fresh), types)}
    unproven = await _unproven_tags(transaction, entities, edges.values())
    edges = {uid: edge for uid, edge in edges.items() if uid not in unproven}
    unsupported = set(entities)
    while supported := {
        one
        for edge in edges.values()
        for one, neighbour in ((edge.source, edge.target), (edge.target, edge.source))
        if one in unsupported and neighbour not in unsupported
    }:
        unsupported -= supported
    return {uid: entities[uid] for uid in sorted(unsupported)}


async def _unproven_tags(
    transaction: GraphTransaction, entities: Mapping[str, Node], edges: Iterable[Edge]
) -> set[str]:
    """Return the auto-tags (ids of edges) whose items do not contain the tag's name, as stored or case-folded."""
    auto = [edge for edge in edges if edge.type == AUTO_TAGGED and edge.target in entities]
    if not auto:
        return set()
    items = sorted({edge.source for edge in auto})
    proofs = await transaction.edges(items, ["EVIDENCED_BY"], Direction.OUT)
    nodes = await transaction.nodes(sorted({*items, *(proof.target for proof in proofs)}))
    words_by_item: dict[str, list[str]] = defaultdict(list)
    for item, uid in (*zip(items, items, strict=True), *((proof.source, proof.target) for proof in proofs)):
        words_by_item[item] += _words(nodes[uid]) if uid in nodes else []
    texts = {item: "\n".join(words) for item, words in words_by_item.items()}
    texts = {item: f"{words}\n{fold_case(words)}" for item, words in texts.items()}
    return {edge.id for edge in auto if entities[edge.target].name not in texts[edge.source]}


async def drop_unproven_names(
    transaction: GraphTransaction, registry: EdgeRegistry, entities: Sequence[Node]
) -> list[Node]:
    """Return the entities with an alias that nothing stored contains any more, without that alias."""
    types = [t.name for t in registry if t.name not in _NO_EVIDENCE]
    changed: list[Node] = []
    for entity in entities:
        if not entity.aliases:
            continue
        edges = await transaction.edges([entity.uid], types)
        sources = {end for edge in edges for end in (edge.source, edge.target)} - {entity.uid}
        if len(sources) > _MAX_SOURCES:
            continue  # with so many mentions, its aliases have other sources, too
        proofs = await transaction.edges(sorted(sources), ["EVIDENCED_BY"], Direction.OUT)
        nodes = await transaction.nodes(sorted(sources | {proof.target for proof in proofs}))
        text = fold_case("\n".join(word for node in nodes.values() for word in _words(node)))
        proven = tuple(alias for alias in entity.aliases if fold_case(alias) in text)
        if proven != entity.aliases:
            changed.append(replace(entity, aliases=proven))
    return changed


def _words(node: Node) -> list[str]:
    return [word for word in (node.name, node.title, node.text, node.speaker, node.bucket, *node.tags) if word]
