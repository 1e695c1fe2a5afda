"""Replacement of merged nodes in an answer by their canonical ones, with the edges moved and the names as aliases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vicw_core.graph.canonical import canonical
from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_shared.model import Edge, Node
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import GraphStore, Neighbour, Spread


async def show_canonical(
    graph: GraphStore, visibility: Visibility, known_by: Sequence[Spread], around: Neighbourhood
) -> None:
    """Replace merged nodes in ``around`` by their canonical nodes, where these are visible and known to the viewer."""
    named = [uid for uid, node in around.nodes.items() if is_named_node(node)]
    canonical_uids = await canonical(graph, visibility.scope.tenant, named)
    merged = {uid: end for uid, end in canonical_uids.items() if uid != end}
    if not merged:
        return
    canonical_nodes = await graph.nodes(
        visibility.scope.tenant, [end for end in merged.values() if end not in around.nodes]
    )
    seen = await visibility.nodes(list(canonical_nodes.values()))
    nodes = around.nodes | {n.uid: n for n in await visibility.known(seen, known_by)}
    shown = {uid: nodes[end] for uid, end in merged.items() if end in nodes}
    for uid, node in shown.items():
        around.aliases.setdefault(node.uid, []).append(around.nodes.pop(uid).name)
        around.nodes.setdefault(node.uid, node)
    moved = {edge_id: _moved(edge, shown) for edge_id, edge in around.edges.items()}
    around.edges = {edge_id: edge for edge_id, edge in moved.items() if edge.source != edge.target}
    around.neighbours = {
        uid: [Neighbour(n.origin, _moved(n.edge, shown), shown.get(n.node.uid, n.node)) for n in neighbours]
        for uid, neighbours in around.neighbours.items()
    }


def _moved(edge: Edge, shown: dict[str, Node]) -> Edge:
    source, target = (shown[uid].uid if uid in shown else uid for uid in (edge.source, edge.target))
    return replace(edge, source=source, target=target)
