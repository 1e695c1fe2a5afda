"""Context of a graph question, the paths to the nodes of its answer, and the rendering of the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from vicw_retrieval.access.visibility import Visibility, known_by, texts_of
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.synthesis.results import edge_to_wire
from vicw_retrieval.traversal.starts import StartFinder
from vicw_retrieval.traversal.walk import Walk, WalkPlan
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM, EdgeRegistry
from vicw_shared.ports import Direction, GraphStore, Scope, Spread
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.graph import GraphAnswer, WalkedNode


def paths_of(
    starts: Iterable[str], edges: Sequence[Edge], source_items: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return, for each node connected to a start, the edge ids of a shortest path, the start's first.

    Edges are followed either way. Between an item and the events of its text (``source_items``: event to item) there is
    no edge to count. A start has no edges; nodes that no edge of the answer reaches are left out.
    """
    near: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for event, item in source_items.items():
        near.setdefault(item, []).append((event, ()))
        near.setdefault(event, []).append((item, ()))
    for edge in edges:
        near.setdefault(edge.source, []).append((edge.target, (edge.id,)))
        near.setdefault(edge.target, []).append((edge.source, (edge.id,)))
    paths: dict[str, tuple[str, ...]] = dict.fromkeys(starts, ())
    frontier = deque(paths)
    while frontier:
        node = frontier.popleft()
        for neighbour, along in near.get(node, ()):
            path = paths[node] + along
            if neighbour not in paths or len(path) < len(paths[neighbour]):
                paths[neighbour] = path
                # The events of an item are as near as the item itself.
                (frontier.append if along else frontier.appendleft)(neighbour)
    return paths


@dataclass(frozen=True)
class GraphQuery:
    """One graph question: its engines and scope. ``ignore_validity``: includes what is past."""

    ports: RetrievalPorts
    scope: Scope
    ignore_validity: bool = False

    @property
    def graph(self) -> GraphStore:
        """The graph store."""
        return self.ports.graph

    @property
    def settings(self) -> RetrievalSettings:
        """The settings of the read path."""
        return self.ports.settings

    @property
    def limits(self) -> LimitSettings:
        """The limits of requests."""
        return self.ports.limits

    @property
    def registry(self) -> EdgeRegistry:
        """The registered edge types."""
        return self.ports.registry

    @cached_property
    def visibility(self) -> Visibility:
        """The visibility filter of the scope."""
        return Visibility(self.graph, self.scope, ignore_validity=self.ignore_validity)

    @cached_property
    def finder(self) -> StartFinder:
        """The finder of start nodes."""
        return StartFinder(self.graph, self.scope, self.visibility, self._known_by, self.settings)

    @cached_property
    def _known_by(self) -> list[Spread]:
        return known_by(self.registry)

    async def contexts(self) -> list[str]:
        """Return the contexts of the question."""
        if self.scope.contexts is not None:
            return list(self.scope.contexts)
        return [root.name for root in await self.graph.contexts(self.scope.tenant)]

    def walk(
        self,
        spreads: Sequence[Spread],
        *,
        hops: int,
        limit: int,
        fanout: int | None = None,
        min_weight: float = 0.0,
        statements: bool = False,
    ) -> Walk:
        """Return a new walk."""
        plan = WalkPlan(
            spreads=spreads,
            known_by=self._known_by,
            hops=hops,
            limit=limit,
            fanout=fanout or self.settings.fanout,
            min_weight=min_weight,
            statements=statements,
        )
        return Walk(self.graph, self.scope, self.visibility, plan)

    async def answer(
        self, walk: Walk, starts: Sequence[Node], order: Callable[[Walk], list[Node]] | None = None
    ) -> GraphAnswer:
        """Return the answer of a walk: its nodes as they were reached, or in the ``order`` of the question."""
        nodes = order(walk) if order is not None else list(walk.nodes.values())
        texts = await texts_of(self.graph, self.scope, nodes)
        source_items = await self._source_items(nodes)
        start_uids = [node.uid for node in starts] or [uid for uid, hops in walk.hops.items() if hops == 0]
        paths = paths_of(
            start_uids, walk.edges, {event: item for event, item in source_items.items() if item in walk.nodes}
        )
        return GraphAnswer(
            start=tuple(node.uid for node in starts),
            nodes=tuple(
                _shown(
                    node,
                    hops=walk.hops[node.uid],
                    path=paths.get(node.uid, ()),
                    text=texts.get(node.uid),
                    source_item=source_items.get(node.uid),
                )
                for node in nodes
            ),
            edges=tuple(map(edge_to_wire, walk.edges)),
            complete=walk.complete,
        )

    async def _source_items(self, nodes: Sequence[Node]) -> dict[str, str]:
        """Return the source item of each extracted event."""
        events = [node.uid for node in nodes if node.label is Label.EVENT and node.content_hash is None]
        if not events:
            return {}
        neighbours = await self.graph.expand(self.scope.tenant, events, [("EVIDENCED_BY", Direction.OUT)], 1)
        proven = await self.visibility.visible(neighbours)
        return {n.origin: str(n.edge.properties[SOURCE_ITEM]) for n in proven if SOURCE_ITEM in n.edge.properties}


def _shown(node: Node, *, hops: int, path: tuple[str, ...], text: str | None, source_item: str | None) -> WalkedNode:
    return WalkedNode(
        uid=node.uid,
        id=node.source_id,
        label=node.label,
        subtype=node.subtype,
        name=node.name,
        text=text,
        context=node.context,
        domain=node.domain,
        timestamp=node.timestamp,
        hops=hops,
        path=path,
        source_item=source_item,
        speaker=node.speaker,
        source=node.source,
        flow_id=node.flow_id,
        retired_at=node.retired_at,
        valid_to=node.valid_to,
    )
