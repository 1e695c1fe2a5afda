"""The two chains: NEXT along a flow, HAPPENED_AFTER along the clock.

A chain is a linked list in key order. Placing finds the gaps for new keys and splices runs into them; unlinking joins
the neighbours of a removed run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from vicw_core.graph.edge_factory import EdgeFactory
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT, ChainKey, clock_key, next_key
from vicw_shared.ports import GraphTransaction

_MAKER = "ingest"


@dataclass(frozen=True, slots=True)
class Chains:
    """Places and unlinks Events inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime

    async def place(self, nodes: Sequence[Node]) -> list[Edge]:
        """Cut the chains at the places of new Events; return the edges that splice them in, to put after the Events."""
        flows: dict[str, list[Node]] = {}
        for node in nodes:
            if node.flow_id is not None:
                flows.setdefault(node.flow_id, []).append(node)
        edges = await self._splice(HAPPENED_AFTER, None, sorted((clock_key(node), node.uid) for node in nodes))
        for flow, members in flows.items():
            edges += await self._splice(NEXT, flow, sorted((next_key(node), node.uid) for node in members))
        return edges

    async def unlink(self, uids: Iterable[str]) -> None:
        """Remove Events from both chains and close the gaps. They must be retired already."""
        removed = set(uids)
        edges = await self.transaction.edges(sorted(removed), (NEXT, HAPPENED_AFTER))
        await self.transaction.drop_edges(edges)
        bridges = []
        for edge_type in (NEXT, HAPPENED_AFTER):
            onward = {edge.source: edge.target for edge in edges if edge.type == edge_type}
            for start in onward.keys() - removed:
                end = onward[start]
                while end in removed and end in onward:
                    end = onward[end]
                if end not in removed:
                    bridges.append(EdgeFactory(self.registry, self.now).edge(edge_type, start, end, by=_MAKER))
        await self.transaction.put_edges(bridges)

    async def _splice(self, edge_type: str, flow: str | None, entries: Sequence[tuple[ChainKey, str]]) -> list[Edge]:
        gaps = await self.transaction.gaps(flow, [key for key, _ in entries])
        added: list[Edge] = []
        cut: list[Edge] = []
        factory = EdgeFactory(self.registry, self.now)
        start = 0
        for gap in gaps:
            run = [uid for _, uid in entries[start : start + gap.count]]
            start += gap.count
            line = [uid for uid in (gap.before, *run, gap.after) if uid is not None]
            if gap.before is not None and gap.after is not None:
                cut.append(factory.edge(edge_type, *_oriented(edge_type, gap.before, gap.after), by=_MAKER))
            added += [factory.edge(edge_type, *_oriented(edge_type, a, b), by=_MAKER) for a, b in pairwise(line)]
        await self.transaction.drop_edges(cut)
        return added


def _oriented(edge_type: str, earlier: str, later: str) -> tuple[str, str]:
    """Return (source, target): NEXT runs forward in time, HAPPENED_AFTER backward."""
    return (earlier, later) if edge_type == NEXT else (later, earlier)
