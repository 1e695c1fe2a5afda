"""Neighbourhood of the results: what an answer shows beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

from vicw_retrieval.causal_chains.model import CausalPath
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, Neighbour


@dataclass(slots=True)
class Neighbourhood:
    """The sub-graph around the results: nodes by uid, edges by id, the neighbours of each result, and texts by uid.

    ``aliases`` are the names of merged nodes, by the uid of their canonical node. ``associates`` are, for each result,
    the tags that lead to further items, with these items. ``chains`` are causal chains; their ends and proofs are among
    the nodes and edges. ``adjacent`` holds what follows (OUT) and precedes (IN) a result, by its key, if consolidated
    items are involved.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    neighbours: dict[str, list[Neighbour]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    associates: dict[str, list[tuple[Node, Node]]] = field(default_factory=dict)
    chains: list[CausalPath] = field(default_factory=list)
    adjacent: dict[str, list[tuple[Direction, Node]]] = field(default_factory=dict)

    def associate(self, anchor: str, way: tuple[Neighbour, Neighbour]) -> None:
        """Add an associate of an anchor: ``way`` leads to the tag, and from the tag to the item."""
        tag, item = way
        self.nodes |= {tag.node.uid: tag.node, item.node.uid: item.node}
        self.edges |= {tag.edge.id: tag.edge, item.edge.id: item.edge}
        self.associates.setdefault(anchor, []).append((tag.node, item.node))
