"""Expansion: what surrounds the results, with the proof, and the causal chains of a question that asks *why*.

One hop: causes, effects, agents, what came before and after, and what shares a tag.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from vicw_core.graph.canonical import canonical
from vicw_retrieval.access.scope import has_ended
from vicw_retrieval.access.visibility import Visibility, known_by, texts_of
from vicw_retrieval.causal_chains.model import CAUSAL_CHAINS, ChainDirection
from vicw_retrieval.causal_chains.service import ChainQuery, find_chains
from vicw_retrieval.channels.tags import Associate
from vicw_retrieval.intent.analysis import direction_of
from vicw_retrieval.model.consolidated import read_parts, with_adjacent
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.request.hop_limit import HopLimit
from vicw_retrieval.request.stages import StageRun
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread
from vicw_shared.wire.retrieve import RetrieveRequest

_log = structlog.get_logger()
EXPAND = "expand"
_FANOUT = 20
_MAX_EXTRACTED = 100
_SPREADS = (
    ("CAUSED", Direction.OUT),
    ("CAUSED", Direction.IN),
    ("INITIATED", Direction.IN),
    ("NEXT", Direction.OUT),
    ("NEXT", Direction.IN),
)
_OF_STATEMENTS = (
    ("CAUSED", Direction.OUT),
    ("CAUSED", Direction.IN),
    ("CONTRADICTS", Direction.OUT),
    ("CONTRADICTS", Direction.IN),
)
_REPLACED = (("SUPERSEDES", Direction.OUT),)
_REPLACED_BY = (("SUPERSEDES", Direction.IN),)
_OF_EXTRACTED = tuple(dict.fromkeys((*_SPREADS, *_OF_STATEMENTS, *_REPLACED, *_REPLACED_BY)))


class MovedError(Exception):
    """A found item was consolidated, restored or erased before it was shown."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """The results that can be shown, what is ``around`` them, and consolidated items as they were (``parts``)."""

    results: Sequence[Candidate]
    around: Neighbourhood
    parts: Mapping[str, Node]


async def expand_results(
    request: RetrieveRequest,
    scope: Scope,
    top: Sequence[Candidate],
    associates: Sequence[Associate],
    ports: RetrievalPorts,
    stages: StageRun,
    *,
    again: bool,
) -> Expanded:
    """Read what surrounds the results. Raises the graph's errors.

    ``again``: while there is time for another try, raise MovedError instead of leaving out a result.
    """
    graph = ports.graph
    with stages.timed(EXPAND):
        around = await _read_around(request, scope, top, ports, stages)
        parts = await read_parts(graph, scope.tenant, top)
        results = [one for one in top if _was_read(one, around, parts)]
        if len(results) < len(top) and again and _has_time(ports):
            _log.info("a result was consolidated, restored or erased meanwhile; retrying")
            raise MovedError
        direction = direction_of(request.query)
        if direction is not None and ports.settings.chains and request.expand.hops and EXPAND not in stages.degraded:
            around = await _with_chains(request.query, direction, scope, results, around, ports, stages)
        if associates:
            texts = await texts_of(graph, scope, [one.node for one in associates])
            around = _with_associates(around, associates, texts)
    return Expanded(results, around, parts)


def _was_read(candidate: Candidate, around: Neighbourhood, parts: Mapping[str, Node]) -> bool:
    return candidate.item.uid in around.nodes and (candidate.item.part is None or candidate.key in parts)


def _has_time(ports: RetrievalPorts) -> bool:
    """Return whether the question can be asked again: half of the channels' time is left."""
    most_ms = ports.settings.channel_ms
    return ports.deadline.extra_seconds(most_ms) >= most_ms / 1000 / 2


async def _read_around(
    request: RetrieveRequest, scope: Scope, top: Sequence[Candidate], ports: RetrievalPorts, stages: StageRun
) -> Neighbourhood:
    uids = list(dict.fromkeys(candidate.item.uid for candidate in top))
    if request.expand.hops > 0:
        with stages.isolate(EXPAND):
            proofs = [candidate.passages[0][0] for candidate in top]
            async with asyncio.timeout(ports.deadline.extra_seconds(ports.settings.graph_ms)):
                most_edges = ports.settings.hop_edges
                around = await expand(ports.graph, scope, uids, proofs, known_by(ports.registry), most_edges)
                return await with_adjacent(ports.graph, scope, top, around)
    return Neighbourhood(nodes=await ports.graph.nodes(scope.tenant, uids))


async def _with_chains(
    query: str,
    direction: ChainDirection,
    scope: Scope,
    results: Sequence[Candidate],
    around: Neighbourhood,
    ports: RetrievalPorts,
    stages: StageRun,
) -> Neighbourhood:
    """Return ``around`` with the causal chains from the results; unchanged if the graph fails."""
    settings, known = ports.settings, known_by(ports.registry)
    with stages.spread(CAUSAL_CHAINS, ports.deadline, settings.spread_ms) as seconds:
        hop_limit = HopLimit(settings.hop_edges, stages.bounded)
        asked = ChainQuery(query, scope, direction, known, settings, hop_limit, seconds)
        found = await find_chains(asked, ports.graph, ports.registry, results, around.nodes)
        if not found.in_time:
            stages.degraded.append(CAUSAL_CHAINS)
        if found.chains:
            added = replace(
                around,
                nodes={**found.nodes, **around.nodes},
                edges={**found.edges, **around.edges},
                texts={**found.texts, **around.texts},
            )
            shown = await show_canonical(ports.graph, Visibility(ports.graph, scope), known, added)
            chains = [one for one in found.chains if all(step.edge.id in shown.edges for step in one.steps)]
            return replace(shown, chains=chains)
    return around


def _with_associates(around: Neighbourhood, associates: Sequence[Associate], texts: Mapping[str, str]) -> Neighbourhood:
    """Return ``around`` with the associates, each with its tag."""
    nodes, edges = dict(around.nodes), dict(around.edges)
    shown: dict[str, list[tuple[Node, Node]]] = {}
    for one in associates:
        tag, item = one.way
        nodes |= {tag.node.uid: tag.node, item.node.uid: item.node}
        edges |= {tag.edge.id: tag.edge, item.edge.id: item.edge}
        shown.setdefault(one.anchor, []).append((tag.node, item.node))
    return replace(around, nodes=nodes, edges=edges, texts={**around.texts, **texts}, associates=shown)


async def expand(
    graph: GraphStore,
    scope: Scope,
    uids: Sequence[str],
    proofs: Sequence[str],
    known_by: Sequence[Spread],
    most_edges: int | None = None,
) -> Neighbourhood:
    """Return the items ``uids`` and their neighbourhood; ``proofs`` are the uids of the found passages.

    All of it is visible to ``scope``. Every edge has both its ends in it. ``most_edges`` is that of Visibility.
    """
    if not uids:
        return Neighbourhood()
    visibility = Visibility(graph, scope, most_edges=most_edges)
    with_past = Visibility(graph, scope, ignore_validity=True, most_edges=most_edges)
    nodes, neighbours, evidence = await asyncio.gather(  # on connections of their own
        graph.nodes(scope.tenant, [*uids, *proofs]),
        visibility.expand(uids, _SPREADS, _FANOUT),
        graph.expand(scope.tenant, proofs, [("EVIDENCED_BY", Direction.IN)], _MAX_EXTRACTED),
    )
    edges = {n.edge.id: n.edge for n in evidence if n.edge.source in nodes}
    owner = {e.target: e.source for e in edges.values() if e.type == "EVIDENCED_BY"}
    proving = [n for n in evidence if n.origin in owner and n.node.label is Label.EVENT and n.node.uid not in nodes]
    extracted = {n.node.uid: n for n in await visibility.visible(proving)}
    # A passage may contain outdated statements, too: what replaced them, or came later, is shown beside it.
    ended = [n for n in proving if n.node.is_statement and n.node.retired_at is None and has_ended(scope, n.node)]
    past = {n.node.uid: n for n in await with_past.visible(ended)}
    statements = [uid for uid, proof in extracted.items() if proof.node.is_statement]
    await graph.expand(
        scope.tenant, [*extracted, *past], _OF_EXTRACTED, _FANOUT
    )  # one read; the cache has the next ones
    neighbours += await visibility.expand(
        [uid for uid, proof in extracted.items() if not proof.node.is_statement], _SPREADS, _FANOUT
    )
    neighbours += await visibility.expand(statements, _OF_STATEMENTS, _FANOUT)
    neighbours += await visibility.expand(list(past), _REPLACED_BY, _FANOUT)
    visible = [*neighbours, *await with_past.expand(statements, _REPLACED, _FANOUT)]
    visible = [neighbour for neighbour in visible if not neighbour.node.is_duplicate]  # it repeats another item
    extracted |= past
    # A statement is in its passage already; one with a cause or a replacement gets a line of its own.
    with_edges = {neighbour.origin for neighbour in visible}
    shown = [proof for uid, proof in extracted.items() if uid in with_edges or not proof.node.is_statement]
    by_result: dict[str, list[Neighbour]] = {}
    for neighbour in visible:
        proof = extracted.get(neighbour.origin)
        by_result.setdefault(owner[proof.origin] if proof is not None else neighbour.origin, []).append(neighbour)
    around = Neighbourhood(
        nodes={**{one.node.uid: one.node for one in reversed([*shown, *visible])}, **nodes},
        edges=edges | {one.edge.id: one.edge for one in (*shown, *visible)},
        neighbours=by_result,
    )
    around = await show_canonical(graph, visibility, known_by, around)
    return replace(around, texts=await texts_of(graph, scope, around.nodes.values()))


async def show_canonical(
    graph: GraphStore, visibility: Visibility, known_by: Sequence[Spread], around: Neighbourhood
) -> Neighbourhood:
    """Return ``around`` with merged nodes replaced by their canonical nodes, where the viewer may see and knows these.

    Their edges are moved, and their names are aliases.
    """
    named = [uid for uid, node in around.nodes.items() if is_named_node(node)]
    canonical_uids = await canonical(graph, visibility.scope.tenant, named)
    merged = {uid: end for uid, end in canonical_uids.items() if uid != end}
    if not merged:
        return around
    canonical_nodes = await graph.nodes(
        visibility.scope.tenant, [end for end in merged.values() if end not in around.nodes]
    )
    seen = await visibility.nodes(list(canonical_nodes.values()))
    ends = {**around.nodes, **{n.uid: n for n in await visibility.known(seen, known_by)}}
    shown = {uid: ends[end] for uid, end in merged.items() if end in ends}
    nodes = {uid: node for uid, node in around.nodes.items() if uid not in shown}
    aliases = {uid: list(names) for uid, names in around.aliases.items()}
    for uid, node in shown.items():
        aliases.setdefault(node.uid, []).append(around.nodes[uid].name)
        nodes.setdefault(node.uid, node)
    moved = {edge_id: _moved(edge, shown) for edge_id, edge in around.edges.items()}
    neighbours = {
        uid: [Neighbour(n.origin, _moved(n.edge, shown), shown.get(n.node.uid, n.node)) for n in neighbours]
        for uid, neighbours in around.neighbours.items()
    }
    edges = {edge_id: edge for edge_id, edge in moved.items() if edge.source != edge.target}
    return replace(around, nodes=nodes, edges=edges, neighbours=neighbours, aliases=aliases)


def _moved(edge: Edge, shown: dict[str, Node]) -> Edge:
    source, target = (shown[uid].uid if uid in shown else uid for uid in (edge.source, edge.target))
    return replace(edge, source=source, target=target)
