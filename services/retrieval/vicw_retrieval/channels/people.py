"""The people stage: what is known of those who take part, in every context that is searched (seed 004, stages 2 and 3).

Memories that are about a participant come first, then those that a walk of two steps from him reaches: over what he
did, said and is mentioned in, and over those whom he is related to. SUPERSEDES is not walked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from vicw_retrieval.channels.graph.question import Question
from vicw_retrieval.reach import Reach, Reached, SubGraph
from vicw_retrieval.wanted import wanted
from vicw_shared.merging import MERGED_INTO
from vicw_shared.model import Label
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.ports import Direction, Spread

HOPS = (0.5, 0.3)
"""What a memory is worth that is one step from a participant, and two (seed 004)."""
SHARE = 0.3
"""Of the best standing, what a memory that is wholly like the question has at one step."""
_LIKE = 0.2
"""The cosine, or share of words, from which a memory is like the question: not all of somebody is asked for."""
_FANOUT = 100
_MOST_PEOPLE = 50
_MOST_READ = 200
_MEMORIES: tuple[Spread, ...] = (
    ("ABOUT", Direction.IN),
    ("MENTIONS", Direction.IN),
    ("STATED_BY", Direction.IN),
    ("INITIATED", Direction.OUT),
)
_PEOPLE: tuple[Spread, ...] = tuple(
    (name, way) for name in ("HAS_RELATIONSHIP", IS_PERSON, MERGED_INTO) for way in Direction
)


async def known_of_people(question: Question, people: Sequence[str], reached: Reached) -> None:
    """Come to what is known of ``people`` (folded names or uids), as far as it is like the question."""
    if not question.likeness.tells or not people:
        return
    graph, scope = question.graph, question.scope
    named = await graph.named(scope.tenant, people)
    seeds = {node.uid for nodes in named.values() for node in nodes if node.label is Label.ENTITY}
    first = await _memories(question, seeds)
    second = await _memories(question, await _related(question, seeds))
    told_by = second | first
    worth = dict.fromkeys(second, HOPS[1]) | dict.fromkeys(first, HOPS[0])
    best = sorted(worth, key=lambda uid: (-worth[uid], uid))[: question.sight.room_for(_MOST_READ)]
    nodes = await graph.nodes(scope.tenant, best)
    seen = await question.sight.nodes([nodes[uid] for uid in best if uid in nodes])
    kept = await wanted(graph, scope, seen[:_MOST_READ])
    proofs = {node.qdrant_id: node for node in kept if node.qdrant_id is not None}
    for proof, cosine in (await question.likeness.alike(list(proofs))).items():
        node = proofs[proof]
        if cosine >= _LIKE:
            gain = SHARE * question.best * cosine * worth[node.uid] / HOPS[0]
            reached.know([node])
            edge_type = told_by[node.uid]
            part = SubGraph.CAUSAL if edge_type == "INITIATED" else SubGraph.KNOWLEDGE
            reached.add(Reach(node.uid, gain, 1 if node.uid in first else 2, edge_type, part))


async def _related(question: Question, people: Collection[str]) -> set[str]:
    """Return whom these are related to, or are the same as, as far as the asker may know of it."""
    start = sorted(people)[:_MOST_PEOPLE]
    return {one.node.uid for one in await question.sight.expand(start, _PEOPLE, _FANOUT)} - set(people)


async def _memories(question: Question, people: Collection[str]) -> dict[str, str]:
    """Return the items that tell of these people, each with the type of the edge. Nothing of them is shown before it
    was judged.
    """
    start = sorted(people)[:_MOST_PEOPLE]
    items: dict[str, str] = {}
    for spread in _MEMORIES if start else ():
        found = await question.graph.leads(question.scope.tenant, start, spread, question.sight.room_for(_FANOUT))
        for lead in found:
            if lead.is_item:
                items.setdefault(lead.uid, spread[0])  # by the first of the types: what is about them
    return items
