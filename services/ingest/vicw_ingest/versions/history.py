"""Version history: an updated item retires its earlier version, which stays readable for time travel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_core.graph.edge_factory import CALLER, DUPLICATE, INGEST, EdgeFactory, repoint
from vicw_ingest.versions.retirement import Retired, Retirement
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.model.knowledge import BRIDGE_RULES
from vicw_shared.ports import GraphTransaction

_DERIVED_TYPES = frozenset(
    {"BELONGS_TO", "EVIDENCED_BY", "NEXT", "HAPPENED_AFTER", "INITIATED", "STATED_BY", "TAGGED", "ABOUT", "SUPERSEDES"}
)
"""Types that each version derives from its own content. Edges of these types from other items are carried over."""


def _is_derived(edge: Edge) -> bool:
    """Return whether an edge is derived anew: by each version, or when its passages are indexed.

    A duplicate's edge belongs to the version that it repeats, and to no other.
    """
    if edge.type == "SUPERSEDES" and edge.created_by == CALLER:
        return False  # a person said so of the items, whatever their version
    of_version = edge.type in _DERIVED_TYPES and SOURCE_ITEM not in edge.properties
    return of_version or edge.created_by == DUPLICATE or edge.created_by.startswith(BRIDGE_RULES)


@dataclass(frozen=True, slots=True)
class History:
    """Replace versions of items inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime

    async def replace(self, pairs: Sequence[tuple[Node, Node]]) -> tuple[list[Edge], Retired]:
        """Retire the old node of each (old, new) pair, unless it was retracted before.

        Returns the edges to store after the new nodes (SUPERSEDES, and other items' edges to the old version), and
        the result of the retirement.
        """
        live = [(old, new) for old, new in pairs if old.retired_at is None]
        retracted = [old.uid for old, _ in pairs if old.retired_at is not None]
        ends = {old.uid: self._valid_to(old, new) for old, new in live}
        retirement = Retirement(self.transaction, self.registry, self.now)
        retired = await retirement.retire([old for old, _ in live], ends)
        await self._correct_ends(live)
        edges = [*retired.edges, *await self.transaction.edges(retracted, [t.name for t in self.registry])]
        supersedes = [self._supersedes(old, new) for old, new in pairs]
        return supersedes + await self._carry(edges, pairs), retired

    async def _correct_ends(self, pairs: Sequence[tuple[Node, Node]]) -> None:
        """Correct the end of earlier versions if the new version's time is before the old version's."""
        for old, new in pairs:
            if self._valid_to(old, new) is not None or new.timestamp is None:
                continue
            version = await self._predecessor(old)
            while version is not None:
                if version.valid_to is not None and version.timestamp is not None:
                    ends = new.timestamp if version.timestamp < new.timestamp else None
                    await self._set_end(version, ends)
                    if ends is not None:
                        break
                version = await self._predecessor(version)

    async def _predecessor(self, version: Node) -> Node | None:
        edges = await self.transaction.edges([version.uid], ["SUPERSEDES"])
        older = [edge.target for edge in edges if edge.source == version.uid and edge.created_by == INGEST]
        return next(iter((await self.transaction.nodes(older)).values()), None)

    async def _set_end(self, version: Node, ends: datetime | None) -> None:
        proofs = await self.transaction.edges([version.uid], ["EVIDENCED_BY"])
        chunks = [edge.target for edge in proofs]
        evidenced = [edge.source for edge in await self.transaction.edges(chunks, ["EVIDENCED_BY"])]
        nodes = await self.transaction.nodes([version.uid, *chunks, *evidenced])
        retired = [node for node in nodes.values() if node.retired_at is not None]
        await self.transaction.put_nodes([replace(node, valid_to=ends) for node in retired])

    @staticmethod
    def _valid_to(old: Node, new: Node) -> datetime | None:
        """Return when the old version stopped being true: the new version's time, if later.

        None otherwise: the new version corrects the old one, which then was never true.
        """
        if old.timestamp is None or new.timestamp is None or new.timestamp <= old.timestamp:
            return None
        return new.timestamp

    async def _carry(self, edges: Sequence[Edge], pairs: Sequence[tuple[Node, Node]]) -> list[Edge]:
        """Repoint other items' edges to the new version, unless the edge type does not allow its label."""
        replaced = {old.uid: new.uid for old, new in pairs}
        labels = {new.uid: new.label for _, new in pairs}
        foreign = [edge for edge in edges if edge.properties.get(SOURCE_ITEM) not in replaced and not _is_derived(edge)]
        others = {end for edge in foreign for end in (edge.source, edge.target)} - replaced.keys()
        retired_ends = {node.uid for node in (await self.transaction.nodes(list(others))).values() if node.retired_at}
        carried = []
        for edge in foreign:
            if not retired_ends.isdisjoint((edge.source, edge.target)):
                continue
            source, target = replaced.get(edge.source, edge.source), replaced.get(edge.target, edge.target)
            allowed = self.registry.get(edge.type).pairs
            if not any(labels.get(source, s) is s and labels.get(target, t) is t for s, t in allowed):
                continue
            carried.append(repoint(edge, source, target))
        return carried

    def _supersedes(self, old: Node, new: Node) -> Edge:
        return EdgeFactory(self.registry, self.now).edge("SUPERSEDES", new.uid, old.uid)
