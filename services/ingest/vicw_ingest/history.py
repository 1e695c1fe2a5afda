"""Versions: an updated item retires its earlier version, which stays for time travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_ingest.materialise import TOLD_BY
from vicw_ingest.sequence import Chains
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import edge_id

_OWN = frozenset({"BELONGS_TO", "EVIDENCED_BY", "NEXT", "HAPPENED_AFTER", "INITIATED", "TAGGED", "ABOUT", "SUPERSEDES"})
"""Types that every version derives anew from its own content."""


@dataclass(frozen=True, slots=True)
class History:
    """Retires versions inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    chains: Chains

    async def retire(self, pairs: Sequence[tuple[Node, Node]]) -> list[Edge]:
        """Retire the old node of each (old, new) pair, with its passages, and take it out of the chains.

        Returns edges to store once the new nodes are: SUPERSEDES, and what others said of the old version. What
        the old version alone told of other things is dropped with it.
        """
        if not pairs:
            return []
        replaced = {old.uid: new.uid for old, new in pairs}
        edges = await self.transaction.edges(list(replaced), [t.name for t in self.registry])
        await self._retire_nodes(pairs, edges)
        await self.chains.unlink(replaced)
        told = {e.target for e in edges if e.type == "MENTIONS" and e.source in replaced}
        told |= await self._told_events(edges, replaced)
        around = await self.transaction.edges(sorted(told), [t.name for t in self.registry])
        await self.transaction.drop_edges([e.id for e in around if e.properties.get(TOLD_BY) in replaced])
        labels = {new.uid: new.label for _, new in pairs}
        return [self._supersedes(old, new) for old, new in pairs] + self._carry(edges, replaced, labels)

    async def _retire_nodes(self, pairs: Sequence[tuple[Node, Node]], edges: Sequence[Edge]) -> None:
        chunk_of = {e.target: e.source for e in edges if e.type == "EVIDENCED_BY"}
        ends = {old.uid: self._valid_to(old, new) for old, new in pairs}
        chunks = await self.transaction.nodes(list(chunk_of))
        retired = [replace(old, retired_at=self.now, valid_to=ends[old.uid]) for old, _ in pairs]
        retired += [
            replace(chunk, retired_at=self.now, valid_to=ends[chunk_of[chunk.uid]]) for chunk in chunks.values()
        ]
        await self.transaction.put_nodes(retired)

    @staticmethod
    def _valid_to(old: Node, new: Node) -> datetime | None:
        """Return when the old version stopped being true: at a later time of the new one.

        Without a later time the new version corrects the old, which then was never true.
        """
        if old.timestamp is None or new.timestamp is None or new.timestamp <= old.timestamp:
            return None
        return new.timestamp

    async def _told_events(self, edges: Sequence[Edge], replaced: dict[str, str]) -> set[str]:
        chunks = [e.target for e in edges if e.type == "EVIDENCED_BY" and e.source in replaced]
        proofs = await self.transaction.edges(chunks, ["EVIDENCED_BY"])
        sources = {e.source for e in proofs} - replaced.keys()
        nodes = await self.transaction.nodes(sorted(sources))
        return {uid for uid, node in nodes.items() if node.label is Label.EVENT}

    def _carry(self, edges: Sequence[Edge], replaced: Mapping[str, str], labels: Mapping[str, Label]) -> list[Edge]:
        """Point what others said to the new version, unless that has become something the edge may not join."""
        carried = []
        for edge in edges:
            if edge.type in _OWN or edge.properties.get(TOLD_BY) in replaced:
                continue
            source, target = replaced.get(edge.source, edge.source), replaced.get(edge.target, edge.target)
            allowed = self.registry.get(edge.type).pairs
            if not any(labels.get(source, s) is s and labels.get(target, t) is t for s, t in allowed):
                continue
            desc = str(edge.properties.get("desc", ""))
            carried.append(replace(edge, id=edge_id(edge.type, source, target, desc), source=source, target=target))
        return carried

    def _supersedes(self, old: Node, new: Node) -> Edge:
        return Edge(
            id=edge_id("SUPERSEDES", new.uid, old.uid),
            type="SUPERSEDES",
            source=new.uid,
            target=old.uid,
            weight=self.registry.get("SUPERSEDES").weight,
            created_at=self.now,
            created_by="ingest",
        )
