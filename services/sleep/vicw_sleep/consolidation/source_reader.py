"""Read the Events of a page with everything that decides about their consolidation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import batched

from vicw_shared.model import Label, Node
from vicw_shared.ports import Direction, GraphStore, Neighbour, PendingExtractions, Store, Use
from vicw_sleep.consolidation.model import SourceEvent

_AT_ONCE = 200
_MOST_STATEMENTS = 200
_MOST_NAMES = 100


async def read_material(
    graph: Store, unread: PendingExtractions, events: Sequence[Node], max_passages: int
) -> list[SourceEvent]:
    """Return the material of these Events of one context, in their order; without passages where there are more than
    ``max_passages``.
    """
    found: list[SourceEvent] = []
    for batch in batched(events, _AT_ONCE):
        found += await _read(graph, unread, batch, max_passages)
    return found


async def _read(
    graph: Store, unread: PendingExtractions, events: Sequence[Node], max_passages: int
) -> list[SourceEvent]:
    tenant, uids = events[0].tenant, [event.uid for event in events]
    found = _by_origin(await graph.expand(tenant, uids, [("EVIDENCED_BY", Direction.OUT)], max_passages + 1))
    # A partial proof is useless.
    passages = {uid: proofs if len(proofs) <= max_passages else [] for uid, proofs in found.items()}
    people = _by_origin(await graph.expand(tenant, uids, [("ABOUT", Direction.OUT)], _MOST_NAMES))
    named = _by_origin(await graph.expand(tenant, uids, [("MENTIONS", Direction.OUT)], _MOST_NAMES))
    chunks = [passage.uid for of_one in passages.values() for passage in of_one if passage.label is Label.CHUNK]
    said = _by_origin(await graph.expand(tenant, chunks, [("EVIDENCED_BY", Direction.IN)], _MOST_STATEMENTS))
    statements = {uid: [node for node in nodes if node.is_statement] for uid, nodes in said.items()}
    causal = await _causal(graph, tenant, [node.uid for nodes in statements.values() for node in nodes])
    waiting = await unread.of(tenant, uids)
    uses = await graph.uses.uses(tenant, uids)
    return [
        _source_event(
            event, passages.get(event.uid, ()), statements, causal, people[event.uid], named[event.uid], waiting, uses
        )
        for event in events
    ]


def _source_event(
    event: Node,
    passages: Sequence[Node],
    statements: Mapping[str, Sequence[Node]],
    causal: Collection[str],
    people: Sequence[Node],
    named: Sequence[Node],
    waiting: Collection[str],
    uses: Mapping[str, Use],
) -> SourceEvent:
    proofs = sorted((one for one in passages if one.label is Label.CHUNK), key=lambda one: one.flow_step or 0)
    told = [node for passage in proofs for node in statements.get(passage.uid, ())]
    return SourceEvent(
        event,
        tuple(proofs),
        tuple(told),
        frozenset(node.uid for node in people),
        tuple(sorted({node.name for node in named})),
        tuple(sorted({(node.text or "").strip() for node in told if node.uid in causal})),
        busy=event.uid in waiting,
        use=uses.get(event.uid),
    )


async def _causal(graph: GraphStore, tenant: str, statements: Sequence[str]) -> set[str]:
    """Return which of these statements cause something, or are caused."""
    both = [("CAUSED", way) for way in Direction]
    return {one.origin for one in await graph.expand(tenant, statements, both, 1)}


def _by_origin(found: Sequence[Neighbour]) -> dict[str, list[Node]]:
    nodes: dict[str, list[Node]] = defaultdict(list)
    for one in found:
        nodes[one.origin].append(one.node)
    return nodes
