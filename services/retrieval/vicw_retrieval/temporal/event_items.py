"""Items that a question's events mean, and the items next to them in their threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.temporal.event_references import EventReference, ReferenceSide, distinctive_words
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis
from vicw_shared.model import Label, Node
from vicw_shared.ports import Direction as Way
from vicw_shared.ports import GraphStore, ItemRef, Scope, VectorHit

_STEPS = 6
"""Steps that an event's thread is followed."""
_EVENTS = 10
_AS_GOOD = 0.8
"""Share of the best score from which a passage may describe an event; the earliest does, later ones refer to it."""

type Find = Callable[[str, Scope, int], Awaitable[Sequence[VectorHit]]]
"""Search for the passages that have some words, best first."""


async def find_events(question: SpreadContext, reading: TimeAnalysis, find: Find) -> dict[EventReference, Node]:
    """Return the visible Event that each phrase most likely means: the earliest of the best matches."""
    by_anchor: dict[EventReference, Node] = {}
    for anchor in reading.event_references:
        owners = await _items_of_event(question.graph, question.scope, anchor, find)
        items = await question.graph.nodes(question.scope.tenant, sorted({owner.uid for owner in owners.values()}))
        events = [
            n for n in await question.visibility.nodes(list(items.values())) if n.label is Label.EVENT and n.timestamp
        ]
        if events:
            by_anchor[anchor] = min(events, key=lambda node: (node.timestamp, node.arrival or 0, node.uid))
    return by_anchor


async def _items_of_event(graph: GraphStore, scope: Scope, anchor: EventReference, find: Find) -> dict[str, ItemRef]:
    """Return the items, by passage, that match an event's words about as well as the best one.

    If any of them are Events, only these count: other matches describe no event ("def deploy(): …").
    """
    # These choose results, not anchors.
    scope = replace(scope, tags_any=(), tags_all=(), tags_none=(), condition=None, items=None, without=())
    hits = await find(distinctive_words(anchor.phrase), scope, _EVENTS)
    owners = await graph.owners(scope.tenant, [hit.id for hit in hits]) if hits else {}
    owned = [hit for hit in hits if hit.id in owners]
    matches = [hit for hit in owned if owners[hit.id].label is Label.EVENT] or owned
    return {hit.id: owners[hit.id] for hit in matches if hit.score >= _AS_GOOD * matches[0].score}


async def event_domains(graph: GraphStore, scope: Scope, reading: TimeAnalysis, find: Find) -> set[str]:
    """Return the domains of the items that match the events of a question. Raises the stores' errors."""
    owners_by_event = [await _items_of_event(graph, scope, anchor, find) for anchor in reading.event_references]
    return {item.domain for owners in owners_by_event for item in owners.values()}


async def follow_thread(question: SpreadContext, anchor: EventReference, event: Node) -> list[Node]:
    """Follow an event's thread, as far as every step is visible."""
    if anchor.direction is ReferenceSide.DURING:
        return [event]
    spread = ("NEXT", Way.OUT if anchor.direction is ReferenceSide.AFTER else Way.IN)
    nodes: list[Node] = []
    front = [event.uid]
    for _ in range(_STEPS):
        steps = await question.visibility.expand(front, [spread], 1)
        if not steps:
            break
        nodes.append(steps[0].node)
        front = [steps[0].node.uid]
    return nodes
