"""Adds causal chains to an answer's neighbourhood, each edge with its proof."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_retrieval.access.canonical import show_canonical
from vicw_retrieval.access.visibility import texts_of
from vicw_retrieval.causal_chains.causes import CausalGraph
from vicw_retrieval.causal_chains.chain_search import ChainSearch
from vicw_retrieval.causal_chains.direction import ChainDirection
from vicw_retrieval.causal_chains.model import CausalPath, CausalPathEdge
from vicw_retrieval.causal_chains.proof import prove, quote
from vicw_retrieval.causal_chains.starts import starts_of
from vicw_retrieval.model.candidates import Candidate
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.errors import OverloadedError, UnavailableError
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.ports import Scope, Spread

_PASSAGES = 3
"""Passages of each result whose events may start a chain, the best."""


@dataclass(frozen=True, slots=True)
class ChainRequest:
    """A question for causal chains: its engines, scope and direction."""

    ports: RetrievalPorts
    scope: Scope
    query: str
    direction: ChainDirection
    known_by: Sequence[Spread]


async def attach_chains(request: ChainRequest, top: Sequence[Candidate], around: Neighbourhood) -> bool:
    """Add the causal chains from the results to ``around``; return whether the search ended in time.

    If the graph fails, nothing is added.
    """
    settings, graph = request.ports.settings, request.ports.graph
    causes = CausalGraph(graph, request.scope, request.known_by, request.ports.registry, settings, request.direction)
    search = ChainSearch(causes, request.direction, hops=settings.chain_hops, most=settings.chains)
    results = [(one.item.uid, [passage for passage, _ in one.passages[:_PASSAGES]]) for one in top]
    start_uids = (uid for item, passages in results for uid in (item, *passages))
    causes.add_nodes(around.nodes[uid] for uid in start_uids if uid in around.nodes)
    try:
        in_time = await _in_time(search, causes, request, results)
        chains = await _proven(causes, search.chains())
        if chains:
            await _add(request, causes, chains, around)
    except (UnavailableError, OverloadedError):
        return False
    return in_time


async def _in_time(
    search: ChainSearch, causes: CausalGraph, request: ChainRequest, results: Sequence[tuple[str, Sequence[str]]]
) -> bool:
    try:
        async with asyncio.timeout(request.ports.deadline.extra_seconds(request.ports.settings.chain_ms)):
            await search.run(await starts_of(causes, request.query, results))
    except TimeoutError:
        return False
    return True


async def _proven(causes: CausalGraph, chains: Sequence[CausalPath]) -> list[CausalPath]:
    edges = [step.edge for chain in chains for step in chain.steps]
    passages = await prove(causes, edges)
    steps = {edge.id: _step(edge, causes, passages) for edge in edges}
    return [replace(chain, steps=tuple(steps[step.edge.id] for step in chain.steps)) for chain in chains]


def _step(edge: Edge, causes: CausalGraph, passages: Mapping[str, str]) -> CausalPathEdge:
    source_item = causes.nodes.get(str(edge.properties.get(TOLD_BY)))
    passage = causes.nodes.get(passages.get(edge.id, ""))
    if passage is None:
        return CausalPathEdge(edge, source_item=source_item)
    ends = (causes.nodes[edge.target], causes.nodes[edge.source])
    return CausalPathEdge(edge, passage.uid, quote(passage.text or "", ends), source_item)


async def _add(request: ChainRequest, causes: CausalGraph, chains: Sequence[CausalPath], around: Neighbourhood) -> None:
    """Add the nodes and edges of the chains and the passages that prove them; merged nodes as their canonical nodes."""
    nodes, edges = _shown(causes, chains)
    texts = await texts_of(request.ports.graph, request.scope, list(nodes.values()))
    around.nodes = nodes | around.nodes
    around.edges = edges | around.edges
    around.texts = texts | around.texts
    await show_canonical(request.ports.graph, causes.visibility, request.known_by, around)
    around.chains = [chain for chain in chains if all(step.edge.id in around.edges for step in chain.steps)]


def _shown(causes: CausalGraph, chains: Sequence[CausalPath]) -> tuple[dict[str, Node], dict[str, Edge]]:
    nodes: dict[str, Node] = {}
    edges: dict[str, Edge] = {}
    for step in (step for chain in chains for step in chain.steps):
        edges[step.edge.id] = step.edge
        shown = [
            causes.nodes[step.edge.target],
            causes.nodes[step.edge.source],
            *([step.source_item] if step.source_item else []),
        ]
        nodes |= {node.uid: node for node in shown}
        if step.passage is not None:
            nodes[step.passage] = causes.nodes[step.passage]
            proofs = (causes.proofs(node.uid).get(step.passage) for node in shown)
            edges |= {proof.id: proof for proof in proofs if proof is not None}
    return nodes, edges
