"""The answer in the wire format: results, and the sub-graph around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from vicw_core.consolidation.consolidate import ids_of
from vicw_retrieval.causal_chains.chain_search import certainty_of
from vicw_retrieval.causal_chains.model import CausalPath, CausalPathEdge
from vicw_retrieval.channels.tags import TAGS
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave, wire_score
from vicw_shared.model import Edge, Node
from vicw_shared.wire.retrieve import AnswerGraph, ChainStep, ChannelHit, GraphEdge, GraphNode, Passage, Result, Via
from vicw_shared.wire.retrieve import CausalChain as WireChain


def to_results(
    top: Sequence[Candidate],
    passages: Mapping[str, str],
    wave: Wave,
    around: Neighbourhood,
    fusion: str,
    same: Mapping[str, Node],
    parts: Mapping[str, Node],
    relevance: Mapping[str, float],
) -> list[Result]:
    """Return the results in order, each with its best passage as text and where every channel ranked it.

    ``same`` are the nodes of near-duplicates, shown by the caller's ids; ``parts`` consolidated items as they were;
    ``relevance`` is that of each candidate, by key.
    """
    ids = {uid: node.source_id or uid for uid, node in same.items()}
    places = {
        name: {hit.id: (rank, hit.score) for rank, hit in enumerate(hits, start=1)}
        for name, hits in wave.ranked.items()
    }
    return [
        _result(
            rank,
            _with_wire_scores(candidate, fusion),
            parts.get(candidate.key),
            passages,
            places,
            around,
            ids,
            relevance[candidate.key],
        )
        for rank, candidate in enumerate(top, start=1)
    ]


def _with_wire_scores(candidate: Candidate, fusion: str) -> Candidate:
    passages = [(passage, wire_score(score, fusion)) for passage, score in candidate.passages]
    return replace(candidate, score=wire_score(candidate.score, fusion), passages=passages)


def _result(
    rank: int,
    candidate: Candidate,
    part: Node | None,
    passages: Mapping[str, str],
    places: Mapping[str, Mapping[str, tuple[int, float]]],
    around: Neighbourhood,
    ids: Mapping[str, str],
    relevance: float,
) -> Result:
    texts = [(uid, score, passages[uid]) for uid, score in candidate.passages if uid in passages]
    item = part or around.nodes[candidate.item.uid]
    is_macro = item.is_macro
    return Result(
        id=item.source_id,
        uid=item.uid,
        label=item.label,
        subtype=item.subtype,
        name=item.name,
        text=texts[0][2] if texts else "",
        passages=tuple(Passage(uid=uid, text=text, score=score) for uid, score, text in texts[1:]),
        score=candidate.score,
        relevance=round(relevance, 3),
        rank=rank,
        context=item.context,
        domain=item.domain,
        speaker=item.speaker,
        timestamp=item.timestamp,
        flow_id=item.flow_id,
        flow_step=item.flow_step,
        tags=item.tags,
        source=item.source,
        metadata={} if is_macro else dict(item.metadata),
        sensitivity=item.sensitivity,
        kind=candidate.kind,
        duplicates=tuple(ids[uid] for uid in candidate.duplicates if uid in ids),
        channels=tuple(_channel_hits(candidate, places)),
        via=tuple(_via(candidate.item.uid, around)),
        sources=tuple(ids_of([item])) if is_macro else (),
        consolidated_into=candidate.item.uid if part is not None else None,
    )


def _channel_hits(candidate: Candidate, places: Mapping[str, Mapping[str, tuple[int, float]]]) -> list[ChannelHit]:
    """Return each channel that found the item, at the rank of its best passage there."""
    hits = []
    reach: dict[str, Any] = {"depth": 0} if candidate.reached is None else asdict(candidate.reached)
    for name, ranks in places.items():
        best = min((ranks[uid] for uid, _ in candidate.passages if uid in ranks), default=None)
        if best is not None:
            details = reach if name == GRAPH else {}
            hits.append(ChannelHit.model_validate({**details, "channel": name, "rank": best[0], "score": best[1]}))
    if candidate.reached is not None and all(hit.channel != GRAPH for hit in hits):
        hits.append(ChannelHit(channel=GRAPH, **reach))
    if candidate.tagged is not None:
        hits.append(ChannelHit(channel=TAGS, rank=candidate.tagged[0], score=candidate.tagged[1]))
    return hits


def _via(uid: str, around: Neighbourhood) -> list[Via]:
    touching = [edge for edge in around.edges.values() if uid in {edge.source, edge.target}]
    return [
        Via(type=e.type, direction="out", uid=e.target)
        if e.source == uid
        else Via(type=e.type, direction="in", uid=e.source)
        for e in sorted(touching, key=lambda e: (e.type, e.id))
    ]


def to_wire(chain: CausalPath, around: Neighbourhood) -> WireChain:
    """Return a chain in the wire format."""
    return WireChain(
        direction=chain.direction.value,
        certainty=chain.certainty,
        complete=chain.complete,
        steps=tuple(_step(step, around) for step in chain.steps),
    )


def _step(step: CausalPathEdge, around: Neighbourhood) -> ChainStep:
    edge = around.edges[step.edge.id]
    return ChainStep(
        edge=edge.id,
        type=edge.type,
        cause=edge.source,
        effect=edge.target,
        certainty=certainty_of(edge),
        proof=step.passage,
        quote=step.quote,
        source_item=step.source_item.uid if step.source_item is not None else None,
    )


def graph_to_wire(results: Sequence[Result], around: Neighbourhood) -> AnswerGraph:
    """Return the sub-graph: results first, then neighbours and proof; paths are chains, then other causal edges."""
    ranked = [r.node for r in results]
    order = {uid: index for index, uid in enumerate(dict.fromkeys(ranked))}
    nodes = sorted(around.nodes.values(), key=lambda n: (order.get(n.uid, len(order)), n.uid))
    edges = sorted(around.edges.values(), key=lambda e: (e.type, e.id))
    chains = [tuple(step.edge.id for step in chain.steps) for chain in around.chains]
    in_chains = {edge_id for chain in chains for edge_id in chain}
    return AnswerGraph(
        nodes=_nodes_to_wire(nodes, around),
        edges=tuple(
            edge_to_wire(edge) for edge in edges if edge.source in around.nodes and edge.target in around.nodes
        ),
        paths=(*chains, *((edge.id,) for edge in edges if edge.type == "CAUSED" and edge.id not in in_chains)),
        chains=tuple(to_wire(chain, around) for chain in around.chains),
    )


def edge_to_wire(edge: Edge) -> GraphEdge:
    """Return an edge in the wire format."""
    certainty, desc = edge.properties.get("certainty"), edge.properties.get("desc")
    confidence = edge.properties.get("confidence")
    return GraphEdge(
        id=edge.id,
        type=edge.type,
        source=edge.source,
        target=edge.target,
        weight=edge.weight,
        created_by=edge.created_by,
        certainty=certainty if isinstance(certainty, float) else None,
        confidence=confidence if isinstance(confidence, float) else None,
        desc=str(desc) if desc is not None else None,
    )


def _nodes_to_wire(nodes: Sequence[Node], around: Neighbourhood) -> tuple[GraphNode, ...]:
    aliases = [_aliases(node, around) for node in nodes]
    return tuple(
        GraphNode(
            uid=node.uid,
            id=node.source_id,
            label=node.label,
            subtype=node.subtype,
            name=node.name,
            aliases=names,
            text=around.texts.get(node.uid),
            context=node.context,
            domain=node.domain,
            timestamp=node.timestamp,
        )
        for node, names in zip(nodes, aliases, strict=True)
    )


def _aliases(node: Node, around: Neighbourhood) -> tuple[str, ...]:
    """Return the other names of a node: its aliases, and the names of nodes that were merged into it."""
    names = dict.fromkeys((*node.aliases, *sorted(around.aliases.get(node.uid, ()))))
    return tuple(name for name in names if name != node.name)
