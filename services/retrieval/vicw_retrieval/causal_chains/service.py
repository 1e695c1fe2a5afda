"""Causal chains of an answer, each edge with its proof: the passage and its sentence."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from vicw_retrieval.access.visibility import texts_of
from vicw_retrieval.causal_chains.causes import CausalGraph
from vicw_retrieval.causal_chains.chain_search import ChainSearch, starts_of
from vicw_retrieval.causal_chains.model import CausalPath, CausalPathEdge, ChainDirection
from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.request.hop_limit import HopLimit
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import GraphStore, Scope, Spread
from vicw_shared.settings import RetrievalSettings
from vicw_shared.text import fold_case

QUOTE_CHARS = 400
_ELLIPSIS = "…"
_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+|\n+")


async def proof_passages(causes: CausalGraph, edges: Sequence[Edge]) -> dict[str, str]:
    """Return the passages that prove causal edges, by edge id: those of the edge's source item, if there is one.

    A passage that proves both ends is better than one that proves one.
    """
    await causes.read_proofs(edges)
    proofs = {}
    for edge in edges:
        ends = [set(causes.proofs(edge.target)), set(causes.proofs(edge.source))]
        passages = set().union(*(causes.proofs(uid) for uid in _source_item(edge))) or ends[0] | ends[1]
        ranked = sorted(passages, key=lambda passage: (-sum(passage in end for end in ends), passage))
        if ranked:
            proofs[edge.id] = ranked[0]
    return proofs


def quote(text: str, ends: Iterable[Node]) -> str:
    """Return the sentences of a text that mention these nodes, else its beginning; ``QUOTE_CHARS`` at most."""
    sentences = _sentences(text)
    phrases = [fold_case(node.text or node.name).rstrip(" .!?…") for node in ends if node.content_hash is None]
    mentioning = [
        at for at, sentence in enumerate(sentences) if any(words and words in fold_case(sentence) for words in phrases)
    ]
    both = [at for at in mentioning if all(words in fold_case(sentences[at]) for words in phrases)]
    first, last = (
        (both[0], both[0]) if both else (mentioning[0], mentioning[-1]) if mentioning else (0, len(sentences) - 1)
    )
    quoted = " ".join(" ".join(sentences[first : last + 1]).split())
    return quoted if len(quoted) <= QUOTE_CHARS else quoted[: QUOTE_CHARS - 1] + _ELLIPSIS


def _source_item(edge: Edge) -> list[str]:
    return [str(edge.properties[SOURCE_ITEM])] if SOURCE_ITEM in edge.properties else []


def _sentences(text: str) -> list[str]:
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends) if text[start:end].strip()] or [text]


_PASSAGES = 3
"""Passages of each result whose events may start a chain, the best."""


@dataclass(frozen=True, slots=True)
class ChainQuery:
    """A question for causal chains: its words, scope and direction, and the limits of the search.

    ``known_by`` are the spreads along which a named node becomes known to a viewer. After ``seconds``, the emergency
    stop, chains found by then count.
    """

    text: str
    scope: Scope
    direction: ChainDirection
    known_by: Sequence[Spread]
    settings: RetrievalSettings
    hop_limit: HopLimit
    seconds: float


@dataclass(frozen=True, slots=True)
class FoundChains:
    """Causal chains with their nodes, edges, texts and proofs. ``in_time``: the search was not ended by its limit."""

    in_time: bool
    chains: Sequence[CausalPath] = ()
    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Mapping[str, Edge] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


async def find_chains(
    query: ChainQuery, graph: GraphStore, registry: EdgeRegistry, top: Sequence[Candidate], nodes: Mapping[str, Node]
) -> FoundChains:
    """Return the causal chains from the results; ``nodes`` are known and visible. Raises the graph's errors."""
    causes = CausalGraph(graph, query.scope, query.known_by, registry, query.settings, query.direction, query.hop_limit)
    search = ChainSearch(causes, query.direction, hops=query.settings.chain_hops, most=query.settings.chains)
    results = [(one.item.uid, [passage for passage, _ in one.passages[:_PASSAGES]]) for one in top]
    start_uids = (uid for item, passages in results for uid in (item, *passages))
    causes.add_nodes(nodes[uid] for uid in start_uids if uid in nodes)
    in_time = True
    try:
        async with asyncio.timeout(query.seconds):
            await search.run(await starts_of(causes, query.text, results))
    except TimeoutError:
        in_time = False
    chains = await _proven(causes, search.chains())
    if not chains:
        return FoundChains(in_time)
    shown, edges = _shown(causes, chains)
    texts = await texts_of(graph, query.scope, list(shown.values()))
    return FoundChains(in_time, chains, shown, edges, texts)


async def _proven(causes: CausalGraph, chains: Sequence[CausalPath]) -> list[CausalPath]:
    edges = [step.edge for chain in chains for step in chain.steps]
    passages = await proof_passages(causes, edges)
    steps = {edge.id: _step(edge, causes, passages) for edge in edges}
    return [replace(chain, steps=tuple(steps[step.edge.id] for step in chain.steps)) for chain in chains]


def _step(edge: Edge, causes: CausalGraph, passages: Mapping[str, str]) -> CausalPathEdge:
    source_item = causes.nodes.get(str(edge.properties.get(SOURCE_ITEM)))
    passage = causes.nodes.get(passages.get(edge.id, ""))
    if passage is None:
        return CausalPathEdge(edge, source_item=source_item)
    ends = (causes.nodes[edge.target], causes.nodes[edge.source])
    return CausalPathEdge(edge, passage.uid, quote(passage.text or "", ends), source_item)


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
