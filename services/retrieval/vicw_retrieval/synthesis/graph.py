"""Sub-graph of an answer in the wire format."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.causal_chains.render import to_wire
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_shared.model import Edge, Node
from vicw_shared.wire.retrieve import AnswerGraph, GraphEdge, GraphNode, Result


def graph_to_wire(results: Sequence[Result], around: Neighbourhood) -> AnswerGraph:
    """Return the sub-graph: results first, then neighbours and proof; paths are chains, then other causal edges."""
    ranked = [r.node for r in results]
    order = {uid: index for index, uid in enumerate(dict.fromkeys(ranked))}
    nodes = sorted(around.nodes.values(), key=lambda n: (order.get(n.uid, len(order)), n.uid))
    edges = sorted(around.edges.values(), key=lambda e: (e.type, e.id))
    chains = [tuple(step.edge.id for step in chain.steps) for chain in around.chains]
    in_chains = {edge_id for chain in chains for edge_id in chain}
    return AnswerGraph(
        nodes=tuple(_draw_node(node, around) for node in nodes),
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


def _draw_node(node: Node, around: Neighbourhood) -> GraphNode:
    return GraphNode(
        uid=node.uid,
        id=node.source_id,
        label=node.label,
        subtype=node.subtype,
        name=node.name,
        aliases=_aliases(node, around),
        text=around.texts.get(node.uid),
        context=node.context,
        domain=node.domain,
        timestamp=node.timestamp,
    )


def _aliases(node: Node, around: Neighbourhood) -> tuple[str, ...]:
    """Return the other names of a node: its aliases, and the names of nodes that were merged into it."""
    names = dict.fromkeys((*node.aliases, *sorted(around.aliases.get(node.uid, ()))))
    return tuple(name for name in names if name != node.name)
