"""Neighbourhood of the results: what an answer shows beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_retrieval.causal_chains.model import CausalPath
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, Neighbour


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The sub-graph around the results: nodes by uid, edges by id, the neighbours of each result, and texts by uid.

    ``aliases`` are the names of merged nodes, by the uid of their canonical node. ``associates`` are, for each result,
    the tags that lead to further items, with these items. ``chains`` are causal chains; their ends and proofs are among
    the nodes and edges. ``adjacent`` holds what follows (OUT) and precedes (IN) a result, by its key, if consolidated
    items are involved.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Mapping[str, Edge] = field(default_factory=dict)
    neighbours: Mapping[str, Sequence[Neighbour]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    associates: Mapping[str, Sequence[tuple[Node, Node]]] = field(default_factory=dict)
    chains: Sequence[CausalPath] = ()
    adjacent: Mapping[str, Sequence[tuple[Direction, Node]]] = field(default_factory=dict)
