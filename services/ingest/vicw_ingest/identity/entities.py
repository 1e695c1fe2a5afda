"""Named entities in wire form: one entity, a page of a context's entities, or pairs proposed for a merge."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from vicw_core.graph.canonical import MERGED_INTO, canonical, is_inferred
from vicw_core.identity.pairs import SimilarPair, pairs_among, read_names
from vicw_ingest.identity.changes import require_entity
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Node
from vicw_shared.model.names import NAME_PREFIX, is_named_node
from vicw_shared.ports import Direction, GraphStore, NamedNodes, Neighbour
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid
from vicw_shared.wire.entities import Entity, EntityPage, EntityRef, MergeCandidate, MergeCandidatePage, MergedRef

MAX_MERGED = 20
_OUT, _IN = (MERGED_INTO, Direction.OUT), (MERGED_INTO, Direction.IN)


def reference(node: Node) -> EntityRef:
    """Return the wire reference of a named entity."""
    return EntityRef(uid=node.uid, label=node.label, subtype=node.subtype, name=node.name, context=node.context)


async def entity_by_uid(graph: GraphStore, tenant: str, uid: str) -> Entity:
    """Return a named entity, merged or not. Raises MissingRecordError for an unknown uid."""
    node = require_entity((await graph.nodes(tenant, [uid])).get(uid) if is_uid(uid) else None, uid)
    (entity,) = await to_wire(graph, tenant, [node])
    return entity


async def list_entities(
    graph: GraphStore,
    tenant: str,
    context: str,
    *,
    subtype: str | None = None,
    prefix: str = "",
    after: str | None = None,
    limit: int = 100,
) -> EntityPage:
    """Return a page of a context's named entities by name. ``after`` is the last uid of the previous page.

    Raises InvalidInputError for an ``after`` that is no named entity, and for a prefix that is too long.
    """
    folded = fold_case(prefix)
    if len(folded) > NAME_PREFIX:
        raise InvalidInputError(
            FieldProblem("prefix", f"has {len(folded)} characters, over {NAME_PREFIX}", "Shorten it")
        )
    kind = fold_case(subtype) if subtype is not None else None
    names = NamedNodes(tenant=tenant, context=context, prefix=folded, subtype=kind)
    page = await graph.scan(names, after=await _cursor(graph, tenant, after), limit=limit + 1)
    more = page[limit:]
    entities = await to_wire(graph, tenant, page[:limit])
    return EntityPage(entities=tuple(entities), next=page[limit - 1].uid if more else None)


async def to_wire(graph: GraphStore, tenant: str, nodes: Sequence[Node]) -> list[Entity]:
    """Return entities with their degrees and merges, in the order of ``nodes``."""
    uids = [node.uid for node in nodes]
    if not uids:
        return []
    degrees, canonical_uids, merges = await asyncio.gather(
        graph.degrees(tenant, uids),
        canonical(graph, tenant, uids),
        graph.expand(tenant, uids, [_OUT, _IN], MAX_MERGED),
    )
    into = {n.origin: n for n in merges if n.edge.source == n.origin}
    merged: dict[str, list[Neighbour]] = {}
    for neighbour in merges:
        if neighbour.edge.target == neighbour.origin:
            merged.setdefault(neighbour.origin, []).append(neighbour)
    return [
        Entity(
            **reference(node).model_dump(),
            aliases=node.aliases,
            description=node.text,
            domain=node.domain,
            created_at=node.created_at,
            degree=degrees.get(node.uid, 0),
            merged_into=_merged(into[node.uid]) if node.uid in into else None,
            canonical=canonical_uids[node.uid],
            merged=tuple(sorted(map(_merged, merged.get(node.uid, ())), key=lambda ref: ref.name)),
        )
        for node in nodes
    ]


def _merged(neighbour: Neighbour) -> MergedRef:
    return MergedRef(**reference(neighbour.node).model_dump(), guess=is_inferred(neighbour.edge))


async def _cursor(graph: GraphStore, tenant: str, after: str | None) -> tuple[str, str] | None:
    if after is None:
        return None
    last = (await graph.nodes(tenant, [after])).get(after) if is_uid(after) else None
    if last is None or not is_named_node(last):
        raise InvalidInputError(FieldProblem("after", f"{after} is not a page cursor", "Give the `next` of a page"))
    return fold_case(last.name), last.uid


@dataclass(frozen=True, slots=True)
class ComparisonScope:
    """Scope of a comparison: at most ``names`` entities, and spellings with a similarity of at least ``threshold``."""

    contexts: tuple[str, ...]
    subtype: str | None
    threshold: float
    names: int


async def candidates(graph: GraphStore, tenant: str, compared: ComparisonScope, limit: int) -> MergeCandidatePage:
    """Return the most similar pairs of entities. Names of merged entities count for their canonical entity."""
    nodes, complete = await _compared_names(graph, tenant, compared)
    pairs = await pairs_among(graph, tenant, nodes, compared.threshold)
    return MergeCandidatePage(candidates=tuple(map(_candidate, pairs[:limit])), examined=len(nodes), complete=complete)


async def _compared_names(graph: GraphStore, tenant: str, compared: ComparisonScope) -> tuple[Sequence[Node], bool]:
    nodes: list[Node] = []
    subtype = fold_case(compared.subtype) if compared.subtype is not None else None
    for context in dict.fromkeys(compared.contexts):
        remaining = compared.names - len(nodes)
        names = await read_names(graph, tenant, context, subtype=subtype, limit=remaining)
        nodes += names.nodes
        if not names.complete:
            return nodes, False
    return nodes, True


def _candidate(pair: SimilarPair) -> MergeCandidate:
    newer, older = sorted(pair.entities, key=lambda node: (node.created_at, node.uid), reverse=True)
    return MergeCandidate(entity=reference(newer), other=reference(older), score=pair.score, reason=pair.reason)
