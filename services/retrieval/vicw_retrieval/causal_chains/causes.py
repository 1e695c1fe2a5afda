"""Causal graph visible to one viewer, read hop by hop. Each node is read once."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from vicw_core.graph.canonical import canonical
from vicw_retrieval.access.scope import is_named
from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.causal_chains.model import CAUSAL_CHAINS, ChainDirection
from vicw_retrieval.request.hop_limit import HopLimit
from vicw_retrieval.traversal.walk import Walk, WalkPlan
from vicw_shared.model import Edge, Label, Node, Sensitivity
from vicw_shared.model.edges import SOURCE_ITEM, Category, EdgeRegistry
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread
from vicw_shared.settings import RetrievalSettings
from vicw_shared.text import fold_case

_PROOF = ("EVIDENCED_BY", Direction.OUT)
_PROVEN = ("EVIDENCED_BY", Direction.IN)
_MAX_EXTRACTED = 100
"""Statements and events read per passage."""
_PROOFS = 20
"""Passages read per node."""
_PASSAGES = 50
"""Passages read per hop."""
_NODES = 200
"""Nodes whose causes are read per hop, those of the best paths first."""
_ARTICLES = frozenset({"a", "an", "the"})
_DEICTIC = frozenset(
    "i me my we us our you your he him his she her it its they them their this that these those here there now then "
    "today yesterday tomorrow which who".split()
)
"""Words that need their context: an event that contains one is never matched with another by its words."""
_FEWEST_WORDS = 2


class CausalGraph:
    """Causal edges around nodes, followed in one direction, and the groups of nodes that describe the same event.

    Texts repeat an event when they name it as the cause of the next. Events with the same words in one item, or in one
    public flow, count as one event here. An entity and its canonical entity count as one, too.
    """

    def __init__(
        self,
        graph: GraphStore,
        scope: Scope,
        known_by: Sequence[Spread],
        registry: EdgeRegistry,
        settings: RetrievalSettings,
        direction: ChainDirection,
        hop_limit: HopLimit,
    ) -> None:
        follow = Direction.IN if direction is ChainDirection.BACK else Direction.OUT
        types = [edge_type.name for edge_type in registry if edge_type.category is Category.CAUSAL]
        self._graph, self._scope = graph, scope
        self._spreads = [(name, follow) for name in types]
        self.visibility = Visibility(graph, scope, most_edges=hop_limit.edges)
        self._hop_limit = hop_limit
        self._known_by = known_by
        plan = WalkPlan(
            spreads=self._spreads,
            known_by=known_by,
            hops=0,
            limit=settings.context_nodes,
            fanout=settings.fanout,
            statements=True,
        )
        self._walk = Walk(graph, scope, self.visibility, plan)
        self._neighbours: dict[str, list[Neighbour]] = {}
        self._proofs: dict[str, dict[str, Edge]] = defaultdict(dict)
        self._extracted: dict[str, list[Node]] = {}
        self._equivalents: dict[str, set[str]] = {}
        self._first: dict[tuple[str, str], str] = {}

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The visible nodes read so far."""
        return self._walk.nodes

    def proofs(self, uid: str) -> Mapping[str, Edge]:
        """Return the passages that prove a node, by their uids, with the edges to them."""
        return self._proofs.get(uid, {})

    def extracted_in(self, passage: str) -> Sequence[Node]:
        """Return the statements and events that a passage proves."""
        return self._extracted.get(passage, ())

    def equivalents(self, uid: str) -> set[str]:
        """Return the nodes that describe the same event or entity, including this one."""
        return self._equivalents.get(uid, {uid})

    def neighbours(self, uid: str) -> list[Neighbour]:
        """Return the neighbours one hop from a node that was read, or from its equivalents."""
        return [neighbour for one in sorted(self.equivalents(uid)) for neighbour in self._neighbours.get(one, ())]

    def was_read(self, uid: str) -> bool:
        """Return whether the neighbours of a node were read: the limit of a hop may leave it out."""
        return uid in self._neighbours

    def add_nodes(self, nodes: Iterable[Node]) -> list[str]:
        """Add visible nodes up to the limit; return the uids of the new ones."""
        return self._walk.add(nodes)

    async def read(self, uids: Iterable[str]) -> None:
        """Read the neighbours one hop from known nodes and from their equivalents."""
        requested = list(dict.fromkeys(uids))
        await self._follow([*requested, *await self._canonical_entities(requested)])
        passages = (passage for uid in requested if self._may_have_copies(uid) for passage in self.proofs(uid))
        await self.read_extracted(list(dict.fromkeys(passages)))
        await self._follow(sorted(set().union(*(self.equivalents(uid) for uid in requested))))

    async def read_proofs(self, edges: Sequence[Edge]) -> None:
        """Read the passages that prove the ends of visible edges and the passages of the edges' source items."""
        source_items = await self.visibility.source_items(edges)
        self.add_nodes(source_items.values())
        ends = {uid for edge in edges for uid in (edge.source, edge.target)}
        await self._evidence([uid for uid in sorted(ends | source_items.keys()) if uid not in self._neighbours])

    async def read_extracted(self, passages: Sequence[str]) -> None:
        """Read the statements and events that visible passages prove."""
        fresh = self._best([passage for passage in passages if passage not in self._extracted], _PASSAGES)
        if not fresh:
            return
        neighbours = await self._expand(fresh, _PROVEN, _MAX_EXTRACTED)
        visible = [n for n in await self.visibility.visible(neighbours) if n.node.label is Label.EVENT]
        self.add_nodes(n.node for n in visible)
        self._extracted |= {passage: [] for passage in fresh}
        for neighbour in visible:
            self._proofs[neighbour.node.uid][neighbour.origin] = neighbour.edge
            if neighbour.node.content_hash is None and neighbour.node.uid in self.nodes:
                self._extracted[neighbour.origin].append(neighbour.node)
        await self._compare(visible)

    async def _follow(self, uids: Iterable[str]) -> None:
        fresh = self._best([uid for uid in dict.fromkeys(uids) if uid not in self._neighbours], _NODES)
        if not fresh:
            return
        self._neighbours |= {uid: [] for uid in fresh}
        (neighbours, _), _ = await asyncio.gather(
            self._hop_limit.whole(CAUSAL_CHAINS, fresh, len(self._spreads), self._walk.plan.fanout, self._read_causes),
            self._evidence(fresh),
        )
        self.add_nodes(neighbour.node for neighbour in neighbours)
        for neighbour in neighbours:
            if neighbour.node.uid in self.nodes:
                self._neighbours[neighbour.origin].append(neighbour)

    async def _evidence(self, uids: Sequence[str]) -> None:
        """Read the proofs of nodes. A passage is visible if its item is: a passage has no subjects of its own."""
        proofs = await self._expand(uids, _PROOF, _PROOFS)
        source_items = await self.visibility.source_items(neighbour.edge for neighbour in proofs)
        visible = {node.uid for node in await self.visibility.nodes(list(source_items.values()))}
        nodes, shown = self.nodes, []
        for neighbour in proofs:
            source_item = neighbour.edge.properties.get(SOURCE_ITEM)
            if source_item in visible if source_item is not None else nodes[neighbour.origin].content_hash is not None:
                shown.append(neighbour)
        self.add_nodes(neighbour.node for neighbour in shown)
        for neighbour in shown:
            self._proofs[neighbour.origin][neighbour.node.uid] = neighbour.edge

    def _best(self, uids: Sequence[str], most: int) -> Sequence[str]:
        """Return the first of these; they come best first."""
        if len(uids) > most:
            self._hop_limit.reached.add(CAUSAL_CHAINS)
        return uids[:most]

    async def _read_causes(self, uids: Sequence[str], fanout: int) -> list[Neighbour]:
        return await self._walk.read(uids, self._spreads, fanout=fanout)

    async def _expand(self, uids: Sequence[str], spread: Spread, fanout: int) -> list[Neighbour]:
        """Return the edges of these nodes along one spread, visible or not, within the limit of a hop."""

        async def read(uids: Sequence[str], limit: int) -> list[Neighbour]:
            return await self._graph.expand(self._scope.tenant, uids, [spread], limit)

        return (await self._hop_limit.whole(CAUSAL_CHAINS, uids, 1, fanout, read))[0]

    def _may_have_copies(self, uid: str) -> bool:
        """Return whether other statements may repeat this node: an extracted event, or an item with one passage."""
        node = self.nodes[uid]
        return node.label is Label.EVENT and (node.content_hash is None or len(self.proofs(uid)) == 1)

    async def _canonical_entities(self, uids: Sequence[str]) -> list[str]:
        """Return the canonical entities of merged named nodes, limited to those known to the viewer."""
        nodes = self.nodes
        named = [uid for uid in uids if is_named(nodes[uid]) and uid not in self._neighbours]
        if not named:
            return []
        ends = {
            uid: end for uid, end in (await canonical(self._graph, self._scope.tenant, named)).items() if end != uid
        }
        read = await self._graph.nodes(self._scope.tenant, sorted(set(ends.values())))
        seen = await self.visibility.nodes(list(read.values()))
        known = await self.visibility.known(seen, self._known_by)
        self.add_nodes(known)
        for uid, end in ends.items():
            if end in self.nodes and end != uid:
                self._join(uid, end)
        return [node.uid for node in known]

    async def _compare(self, proven: Sequence[Neighbour]) -> None:
        """Join events that have the same words."""
        items = await self.visibility.source_items(neighbour.edge for neighbour in proven)
        texts = [fold_case(neighbour.node.text or neighbour.node.name) for neighbour in proven]
        for neighbour, text in zip(proven, texts, strict=True):
            words, item = _comparison_key(text), items.get(str(neighbour.edge.properties.get(SOURCE_ITEM)))
            if words is None or item is None or neighbour.node.content_hash is not None:
                continue
            shared = item.flow_id is not None and item.sensitivity is Sensitivity.PUBLIC
            place = f"{item.context}\0{item.flow_id}" if shared else item.uid
            self._join(self._first.setdefault((place, words), neighbour.node.uid), neighbour.node.uid)

    def _join(self, one: str, other: str) -> None:
        joined = self._equivalents.get(one, {one}) | self._equivalents.get(other, {other})
        self._equivalents |= dict.fromkeys(joined, joined)


def _comparison_key(text: str) -> str | None:
    """Return the key under which events are compared; None if the words are too few or need their context."""
    words = [word for word in re.findall(r"\w+", text) if word not in _ARTICLES]
    return " ".join(words) if len(words) >= _FEWEST_WORDS and _DEICTIC.isdisjoint(words) else None
