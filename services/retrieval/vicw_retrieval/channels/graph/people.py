"""People stage: memories about relevant people, in every context that is searched.

Relevant people are the participants, the subjects of the best results, and those of whom the question has another name.
Memories at one hop (ABOUT, MENTIONS, STATED_BY or INITIATED a person) weigh more than those of related people, at two
hops. SUPERSEDES is not walked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vicw_core.graph.canonical import MERGED_INTO
from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.spread import Anchor, ReachedItems, SpreadContext, SpreadPath
from vicw_retrieval.ranking.fusion import SubGraph
from vicw_shared.model import Label
from vicw_shared.model.edges import ALIAS_OF, IS_PERSON
from vicw_shared.ports import Direction, Spread, look_up

PEOPLE = "people"
HOPS = (0.5, 0.3)
"""Weight of a memory one hop and two hops from a person."""
SHARE = 0.3
"""Share of the best strength that a memory gets at one hop if its similarity to the question is 1."""
_RESULTS = 10
"""Best results whose subjects (ABOUT) are read."""
_ABOUT = 5
_MIN_SIMILARITY = 0.2
"""Minimum similarity (cosine or share of words) to the question: not every memory of a person is relevant."""
_FANOUT = 100
_MAX_PEOPLE = 50
_MAX_ALIASES = 10
_ALIASES: tuple[Spread, ...] = tuple((ALIAS_OF, way) for way in Direction)
_MAX_READ = 200
_MEMORIES: tuple[Spread, ...] = (
    ("ABOUT", Direction.IN),
    ("MENTIONS", Direction.IN),
    ("STATED_BY", Direction.IN),
    ("INITIATED", Direction.OUT),
)
_PEOPLE: tuple[Spread, ...] = tuple(
    (name, way) for name in ("HAS_RELATIONSHIP", IS_PERSON, MERGED_INTO, ALIAS_OF) for way in Direction
)

PARTICIPANT = ""
"""Source key of a participant, who is not brought in by an item."""
type Sources = dict[str, float]
"""Sources of a person: item uids or PARTICIPANT, each with a share in (0, 1]."""


@dataclass(frozen=True, slots=True)
class _PersonPath:
    """Path from a person to a memory: weight in (0, HOPS[0]], number of hops, edge type."""

    weight: float
    depth: int
    edge_type: str


async def reach_memories(
    question: SpreadContext, people: Sequence[str], anchors: Sequence[Anchor], reached: ReachedItems
) -> None:
    """Reach the memories of ``people`` (folded names or uids) and of the subjects of the best ``anchors``.

    Only memories similar to the question are added. A result passes on a share by its strength, never to itself.
    """
    if not question.similarity.is_known:
        return
    graph, scope = question.graph, question.scope
    seeds = await _seeds(question, people, anchors)
    paths = await _memory_paths(question, seeds) if seeds else {}
    if not paths:
        return
    best = sorted(paths, key=lambda uid: (-paths[uid].weight, uid))[: question.visibility.read_limit(_MAX_READ)]
    nodes = await graph.nodes(scope.tenant, best)
    seen = await question.visibility.nodes([nodes[uid] for uid in best if uid in nodes])
    memories = await filter_results(graph, scope, seen[:_MAX_READ])
    by_passage = {node.qdrant_id: node for node in memories if node.qdrant_id is not None}
    for proof, cosine in (await question.similarity.similarities(list(by_passage))).items():
        node = by_passage[proof]
        if cosine >= _MIN_SIMILARITY:
            path = paths[node.uid]
            reached.add_nodes([node])
            gain = SHARE * question.best * cosine * path.weight / HOPS[0]
            sub_graph = SubGraph.CAUSAL if path.edge_type == "INITIATED" else SubGraph.KNOWLEDGE
            reached.add(SpreadPath(node.uid, gain, path.depth, path.edge_type, sub_graph))


async def _seeds(question: SpreadContext, people: Sequence[str], anchors: Sequence[Anchor]) -> dict[str, Sources]:
    """Return the people from whom the walk starts, each with its sources."""
    named = await look_up(question.graph, question.scope.tenant, people) if people else {}
    participants = {node.uid for nodes in named.values() for node in nodes if node.label is Label.ENTITY}
    seeds: dict[str, Sources] = {uid: {PARTICIPANT: 1.0} for uid in (*participants, *await _other_names(question))}
    shares = {
        anchor.uid: min(1.0, anchor.strength / question.best) for anchor in anchors[:_RESULTS] if question.best > 0
    }
    for neighbour in await question.visibility.expand(list(shares), [("ABOUT", Direction.OUT)], _ABOUT):
        seeds.setdefault(neighbour.node.uid, {})[neighbour.origin] = shares[neighbour.origin]
    return seeds


async def _other_names(question: SpreadContext) -> list[str]:
    """Return the entities of which a visible text says that they are another name of one in the question, or back."""
    scope = question.scope
    (by_name,) = await question.graph.find_names(scope.tenant, [question.name_query], contexts=scope.contexts)
    named = list({node.uid for same in by_name.values() for node in same if node.label is Label.ENTITY})[:_MAX_PEOPLE]
    aliases = await question.visible(PEOPLE, named, _ALIASES, _MAX_ALIASES) if named else []
    return list(dict.fromkeys(one.node.uid for one in aliases))


async def _memory_paths(question: SpreadContext, seeds: Mapping[str, Sources]) -> dict[str, _PersonPath]:
    """Return the best path to each memory of these people and of people related to them."""
    paths: dict[str, _PersonPath] = {}
    for depth, weight in enumerate(HOPS, start=1):
        people = seeds if depth == 1 else await _related(question, seeds)
        for uid, path in (await _memories(question, people, depth, weight)).items():
            if uid not in paths or path.weight > paths[uid].weight:
                paths[uid] = path
    return paths


def _best(people: Mapping[str, Sources]) -> list[str]:
    """Return the people whose sources are the strongest."""
    return sorted(people, key=lambda uid: (-max(people[uid].values(), default=0.0), uid))[:_MAX_PEOPLE]


async def _related(question: SpreadContext, people: Mapping[str, Sources]) -> dict[str, Sources]:
    """Return the entities related or identical to these people, along visible edges."""
    related: dict[str, Sources] = {}
    for neighbour in await question.visible(PEOPLE, _best(people), _PEOPLE, _FANOUT):
        # Includes people the walk started from: an item that is the source of a person cannot pass a score to itself.
        sources = related.setdefault(neighbour.node.uid, {})
        sources.update({by: max(share, sources.get(by, 0.0)) for by, share in people[neighbour.origin].items()})
    return related


async def _memories(
    question: SpreadContext, people: Mapping[str, Sources], depth: int, weight: float
) -> dict[str, _PersonPath]:
    """Return the items about these people. Visibility is not checked here: the caller filters them."""
    start, fanout = _best(people), question.visibility.read_limit(_FANOUT)
    items: dict[str, _PersonPath] = {}
    for spread in _MEMORIES if start else ():
        for lead in await question.leads(PEOPLE, start, spread, fanout):
            share = max((of for by, of in people[lead.origin].items() if by != lead.uid), default=0.0)
            # On a tie the first edge type wins: ABOUT.
            if lead.is_item and share * weight > (items[lead.uid].weight if lead.uid in items else 0.0):
                items[lead.uid] = _PersonPath(share * weight, depth, spread[0])
    return items
