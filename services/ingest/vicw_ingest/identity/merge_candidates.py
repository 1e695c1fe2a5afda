"""Merge candidates: pairs of similar entities, proposed to a person (``vicw_shared.identity.pairs``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vicw_ingest.identity.entities import reference
from vicw_shared.identity.pairs import SimilarPair, pairs_among, read_names
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore
from vicw_shared.text import fold_case
from vicw_shared.wire.entities import MergeCandidate, MergeCandidatePage


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
