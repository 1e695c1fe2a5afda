"""Read the Events of a page with everything that decides about their consolidation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import batched
from typing import Any, cast

from vicw_shared.model import Label, Node
from vicw_shared.model.chain import ChainKey, next_key
from vicw_shared.ports import (
    Direction,
    Flow,
    FlowEvents,
    Flows,
    GraphStore,
    Neighbour,
    PendingExtractions,
    Scans,
    Store,
    Use,
    scan_pages,
)
from vicw_sleep.consolidation.model import SourceEvent

_BATCH = 200
_MAX_STATEMENTS = 200
_MAX_NAMES = 100


async def read_sources(
    graph: Store, pending: PendingExtractions, events: Sequence[Node], max_passages: int
) -> list[SourceEvent]:
    """Return the sources of these Events of one context, in their order; one with more than ``max_passages`` passages
    gets none of them.
    """
    sources: list[SourceEvent] = []
    for batch in batched(events, _BATCH):
        sources += await _read(graph, pending, batch, max_passages)
    return sources


async def _read(
    graph: Store, pending: PendingExtractions, events: Sequence[Node], max_passages: int
) -> list[SourceEvent]:
    tenant, uids = events[0].tenant, [event.uid for event in events]
    proofs_by_event = _by_origin(await graph.expand(tenant, uids, [("EVIDENCED_BY", Direction.OUT)], max_passages + 1))
    # A partial proof is useless.
    passages = {uid: proofs if len(proofs) <= max_passages else [] for uid, proofs in proofs_by_event.items()}
    people = _by_origin(await graph.expand(tenant, uids, [("ABOUT", Direction.OUT)], _MAX_NAMES))
    named = _by_origin(await graph.expand(tenant, uids, [("MENTIONS", Direction.OUT)], _MAX_NAMES))
    chunks = [passage.uid for of_one in passages.values() for passage in of_one if passage.label is Label.CHUNK]
    statements_of = _by_origin(await graph.expand(tenant, chunks, [("EVIDENCED_BY", Direction.IN)], _MAX_STATEMENTS))
    statements = {uid: [node for node in nodes if node.is_statement] for uid, nodes in statements_of.items()}
    causal = await _causal(graph, tenant, [node.uid for nodes in statements.values() for node in nodes])
    waiting = await pending.of(tenant, uids)
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
    own_statements = [node for passage in proofs for node in statements.get(passage.uid, ())]
    return SourceEvent(
        event,
        tuple(proofs),
        tuple(own_statements),
        frozenset(node.uid for node in people),
        tuple(sorted({node.name for node in named})),
        tuple(sorted({(node.text or "").strip() for node in own_statements if node.uid in causal})),
        busy=event.uid in waiting,
        use=uses.get(event.uid),
    )


async def _causal(graph: GraphStore, tenant: str, statements: Sequence[str]) -> set[str]:
    """Return which of these statements cause something, or are caused."""
    both = [("CAUSED", way) for way in Direction]
    return {one.origin for one in await graph.expand(tenant, statements, both, 1)}


def _by_origin(neighbours: Sequence[Neighbour]) -> dict[str, list[Node]]:
    nodes: dict[str, list[Node]] = defaultdict(list)
    for neighbour in neighbours:
        nodes[neighbour.origin].append(neighbour.node)
    return nodes


_FLOWS = 100
_FLOWS_WITHIN = 10_000
"""Page size within one context: no engine keeps a context's flows in an order of their own, so each page reads it all.
"""

type ContextRef = tuple[str, str]
"""A tenant and its context."""


@dataclass(frozen=True, slots=True)
class FlowBookmark:
    """Where a run continues: in a ``flow``, after a place of its NEXT chain; None: from its beginning."""

    flow: Flow
    after: ChainKey | None = None

    @property
    def written(self) -> list[object]:
        """The JSON form that ``read`` takes."""
        return [*astuple(self.flow), *(self.after or ())]

    @classmethod
    def read(cls, written: Sequence[Any]) -> FlowBookmark:
        """Return the bookmark of its JSON form."""
        tenant, context, flow, *after = written
        return cls(Flow(tenant, context, flow), cast(ChainKey, tuple(after)) if after else None)


async def pages(
    index: Scans, start: FlowBookmark | None, within: ContextRef | None, size: int, tenant: str | None = None
) -> AsyncIterator[tuple[FlowBookmark, list[Node]]]:
    """Yield live Events after ``start``, of all flows or those ``within`` a context, and where each page begins.

    ``tenant``: only its flows (None: those of all). ``size`` is the number of Events of a flow per page.
    """
    if start is not None:
        async for page in _of_flow(index, start, size):
            yield page
    after = start.flow if start is not None else None
    async for flows in scan_pages(index, Flows(within), after=after, limit=_FLOWS if within is None else _FLOWS_WITHIN):
        for flow in flows:
            if tenant not in {None, flow.tenant}:
                continue
            async for page in _of_flow(index, FlowBookmark(flow), size):
                yield page


async def _of_flow(index: Scans, mark: FlowBookmark, size: int) -> AsyncIterator[tuple[FlowBookmark, list[Node]]]:
    async for page in scan_pages(index, FlowEvents(mark.flow), after=mark.after, limit=size):
        yield mark, page
        mark = FlowBookmark(mark.flow, next_key(page[-1]))
