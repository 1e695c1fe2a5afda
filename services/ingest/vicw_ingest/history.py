"""Versions: an updated item retires its earlier version, which stays for time travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_ingest.sequence import Chains
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import edge_id

_OWN = frozenset({"BELONGS_TO", "EVIDENCED_BY", "NEXT", "HAPPENED_AFTER", "INITIATED", "TAGGED", "ABOUT", "SUPERSEDES"})
"""Types that every version derives anew from its own content; another item's telling of one is carried over."""


@dataclass(frozen=True, slots=True)
class History:
    """Retires versions inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    chains: Chains

    async def retire(self, pairs: Sequence[tuple[Node, Node]]) -> tuple[list[Edge], list[Edge]]:
        """Retire the old node of each (old, new) pair, with its passages, and take it out of the chains.

        Returns edges to store once the new nodes are: SUPERSEDES, and what others said of the old version. The
        events that the old version told of are retired with it, and keep their edges; what it told of things that
        others tell of, too, is dropped: the second list returned.
        """
        if not pairs:
            return [], []
        replaced = {old.uid: new.uid for old, new in pairs}
        edges = await self.transaction.edges(list(replaced), [t.name for t in self.registry])
        events = await self._retire_nodes(pairs, edges)
        await self._end_earlier(pairs)
        await self.chains.unlink(replaced)
        history = {*replaced, *events}
        told = await self.transaction.told_by(list(replaced))
        taken_back = [edge for edge in told if history.isdisjoint((edge.source, edge.target))]
        await self.transaction.drop_edges(taken_back)
        labels = {new.uid: new.label for _, new in pairs}
        supersedes = [self._supersedes(old, new) for old, new in pairs]
        return supersedes + self._carry(edges, replaced, labels), taken_back

    async def _retire_nodes(self, pairs: Sequence[tuple[Node, Node]], edges: Sequence[Edge]) -> set[str]:
        """Retire the old items, their passages, and the events that these prove; return the uids of the events."""
        item_of = {e.target: e.source for e in edges if e.type == "EVIDENCED_BY"}
        proofs = await self.transaction.edges(list(item_of), ["EVIDENCED_BY"])
        ends = {old.uid: self._valid_to(old, new) for old, new in pairs}
        item_of |= {e.source: item_of[e.target] for e in proofs if e.source not in ends}
        nodes = await self.transaction.nodes(list(item_of))
        mine = [node for node in nodes.values() if node.label in {Label.CHUNK, Label.EVENT}]
        retired = [replace(old, retired_at=self.now, valid_to=ends[old.uid]) for old, _ in pairs]
        retired += [replace(node, retired_at=self.now, valid_to=ends[item_of[node.uid]]) for node in mine]
        await self.transaction.put_nodes(retired)
        return {node.uid for node in mine if node.label is Label.EVENT}

    async def _end_earlier(self, pairs: Sequence[tuple[Node, Node]]) -> None:
        """Where the new version is of a time before the old one, it is what ended the versions before that."""
        for old, new in pairs:
            if self._valid_to(old, new) is not None or new.timestamp is None:
                continue
            version = await self._before(old)
            while version is not None:
                if version.valid_to is not None and version.timestamp is not None:
                    ends = new.timestamp if version.timestamp < new.timestamp else None
                    await self._set_end(version, ends)
                    if ends is not None:
                        break
                version = await self._before(version)

    async def _before(self, version: Node) -> Node | None:
        edges = await self.transaction.edges([version.uid], ["SUPERSEDES"])
        older = [edge.target for edge in edges if edge.source == version.uid]
        return next(iter((await self.transaction.nodes(older)).values()), None)

    async def _set_end(self, version: Node, ends: datetime | None) -> None:
        proofs = await self.transaction.edges([version.uid], ["EVIDENCED_BY"])
        chunks = [edge.target for edge in proofs]
        told = [edge.source for edge in await self.transaction.edges(chunks, ["EVIDENCED_BY"])]
        nodes = await self.transaction.nodes([version.uid, *chunks, *told])
        mine = [node for node in nodes.values() if node.retired_at is not None]
        await self.transaction.put_nodes([replace(node, valid_to=ends) for node in mine])

    @staticmethod
    def _valid_to(old: Node, new: Node) -> datetime | None:
        """Return when the old version stopped being true: at a later time of the new one.

        Without a later time the new version corrects the old, which then was never true.
        """
        if old.timestamp is None or new.timestamp is None or new.timestamp <= old.timestamp:
            return None
        return new.timestamp

    def _carry(self, edges: Sequence[Edge], replaced: Mapping[str, str], labels: Mapping[str, Label]) -> list[Edge]:
        """Point what others said to the new version, unless that has become something the edge may not join."""
        carried = []
        for edge in edges:
            teller = edge.properties.get(TOLD_BY)
            if teller in replaced or (teller is None and edge.type in _OWN):
                continue
            source, target = replaced.get(edge.source, edge.source), replaced.get(edge.target, edge.target)
            allowed = self.registry.get(edge.type).pairs
            if not any(labels.get(source, s) is s and labels.get(target, t) is t for s, t in allowed):
                continue
            uid = edge_id(
                edge.type, source, target, desc=str(edge.properties.get("desc", "")), told_by=str(teller or "")
            )
            carried.append(replace(edge, id=uid, source=source, target=target))
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
