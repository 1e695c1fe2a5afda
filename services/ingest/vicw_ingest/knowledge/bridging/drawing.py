"""Draws bridges whenever passages have come to the vector store: of a memory to pages, of a page to memories.

What a passage is like is looked for among those of the other side, a few for each, so that the work for a passage is
bounded whatever there is. A passage's entry is settled only afterwards: what dies in between is done again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

import numpy as np
import structlog
from numpy.typing import NDArray
from prometheus_client import Counter

from vicw_ingest.knowledge.bridging.evidence import Verdict, judge, names_of, subjects_in
from vicw_ingest.knowledge.subjects import is_rule, keys_in, wider
from vicw_shared.clock import now
from vicw_shared.errors import RetryableError, VicwError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.model.knowledge import (
    BRIDGE_RULES,
    FILE,
    PAGE,
    ROOT_ALIAS,
    is_knowledge,
    page_uid,
)
from vicw_shared.ports import (
    Direction,
    GraphStore,
    GraphTransaction,
    PendingPoint,
    Point,
    Scope,
    VectorQuery,
    VectorStore,
)
from vicw_shared.settings import IngestSettings
from vicw_shared.text import fold
from vicw_shared.uids import edge_id

_log = structlog.get_logger()
DRAWN = Counter("vicw_bridges_total", "Bridges drawn between pages and memories", ["type"])
FAILED = Counter("vicw_bridge_failures_total", "Batches of passages for which no bridges could be drawn")
_QUERIES = 4
_HITS = 8
_SOUGHT_CHARS = 2000
_THINGS = 100
_NAMESAKES = 20
_KNOWLEDGE = (PAGE, FILE)
_NOT_DESCRIBED = frozenset({"tag", "bucket", "url", "amount", "date", "handle", "module"})


@dataclass(frozen=True, slots=True)
class Fresh:
    """A passage that has just come to the store, with the vectors that were made of it: its own, its sentences'."""

    point: PendingPoint
    made: Sequence[Point]

    @property
    def item(self) -> Node:
        """The item that it proves."""
        assert self.point.item is not None
        return self.point.item

    @property
    def text(self) -> str:
        """What it says."""
        assert self.point.chunk is not None
        return self.point.chunk.text or ""

    @property
    def is_first(self) -> bool:
        """Whether it stands for its item: what is looked for once an item is looked for then."""
        return self.item.qdrant_id == self.point.point_id

    def vectors(self) -> list[NDArray[np.float32]]:
        """Return what to look for: its own vector, and those of a few sentences, rules first."""
        said = {statement.uid: statement.text or "" for statement in self.point.statements}
        sentences = [point for point in self.made if point.id in said]
        sentences.sort(key=lambda point: not is_rule(said[point.id]))
        own = [point for point in self.made if point.id == self.point.point_id]
        return [point.dense for point in (*own, *sentences[:_QUERIES])]


@dataclass(slots=True)
class _Found:
    """What speaks for bridges of one tenant: the best verdict for each pair of ends, and the nodes of these."""

    nodes: dict[str, Node] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)

    def add(self, page: Node, other: Node, verdict: Verdict | None) -> None:
        if verdict is None or other.retired_at is not None or page.retired_at is not None:
            return
        known = self.verdicts.get((page.uid, other.uid))
        if known is None or verdict.confidence > known.confidence:
            self.nodes |= {page.uid: page, other.uid: other}
            self.verdicts[page.uid, other.uid] = verdict


@dataclass(frozen=True, slots=True)
class Bridges:
    """Draws bridges of at least ``confidence``, at most ``most`` of a type for each page; 0 draws none."""

    graph: GraphStore
    registry: EdgeRegistry
    confidence: float
    most: int

    async def draw(self, fresh: Sequence[Fresh], vectors: VectorStore) -> None:
        """Draw the bridges of passages that are in ``vectors`` by now.

        Raises RetryableError; any other failure costs these passages their bridges, and nothing else.
        """
        if not self.most:
            return
        of_tenant: dict[str, list[Fresh]] = defaultdict(list)
        for one in fresh:
            of_tenant[one.item.tenant].append(one)
        for tenant, passages in of_tenant.items():
            try:
                if await self.graph.named(tenant, [ROOT_ALIAS], limit=1):
                    await self._draw(tenant, passages, vectors)
            except RetryableError:
                raise
            except VicwError as error:
                FAILED.inc()
                _log.warning("no bridges could be drawn", error=str(error))

    async def _draw(self, tenant: str, fresh: Sequence[Fresh], vectors: VectorStore) -> None:
        found, look = _Found(), _Look(self.graph, vectors, tenant, now())
        for one in fresh:
            if one.item.retired_at is not None:
                continue
            page = await look.page_of(one.item)
            if page is not None:
                await look.from_page(one, page, found)
            else:
                await look.from_memory(one, found)
        pairs = {ends: v for ends, v in found.verdicts.items() if v.confidence >= self.confidence}
        for context in sorted({found.nodes[page].context for page, _ in pairs}):
            mine = {ends: v for ends, v in pairs.items() if found.nodes[ends[0]].context == context}
            await self.graph.write(tenant, context, partial(self._store, verdicts=mine))

    async def _store(self, transaction: GraphTransaction, *, verdicts: Mapping[tuple[str, str], Verdict]) -> None:
        """Store bridges, and keep of each page's only the surest of a type."""
        uids = {uid for ends in verdicts for uid in ends}
        live = {uid: node for uid, node in (await transaction.nodes(sorted(uids))).items() if node.retired_at is None}
        instant = now()
        new = [
            edge
            for (page, other), verdict in verdicts.items()
            if page in live and other in live
            for edge in [self._edge(live[page], live[other], verdict, instant)]
            if edge is not None
        ]
        pages = sorted({page for page, _ in verdicts if page in live})
        stored = await transaction.edges(pages, sorted({edge.type for edge in new}))
        drawn = {edge.id: edge for edge in stored if edge.created_by.startswith(BRIDGE_RULES)}
        surer = [e for e in new if e.id not in drawn or drawn[e.id].weight < e.weight]
        kept = _surest({**drawn, **{edge.id: edge for edge in surer}}.values(), set(pages), self.most)
        await transaction.drop_edges([edge for uid, edge in drawn.items() if uid not in kept])
        put = [edge for edge in surer if edge.id in kept]
        await transaction.put_edges(put)
        for edge in put:
            DRAWN.labels(edge.type).inc()

    def _edge(self, page: Node, other: Node, verdict: Verdict, instant: datetime) -> Edge | None:
        source, target = (other, page) if verdict.type == "IMPLEMENTS" else (page, other)
        edge_type = self.registry.get(verdict.type)
        if (source.label, target.label) not in edge_type.pairs:
            return None
        item = str(page.metadata["item"])
        return Edge(
            id=edge_id(verdict.type, source.uid, target.uid, told_by=item),
            type=verdict.type,
            source=source.uid,
            target=target.uid,
            weight=round(edge_type.weight * verdict.confidence, 4),
            created_at=instant,
            created_by=verdict.rule,
            properties={"confidence": verdict.confidence, TOLD_BY: item},
        )


def bridges_of(graph: GraphStore, registry: EdgeRegistry, settings: IngestSettings) -> Bridges:
    """Return what draws bridges as the settings say."""
    return Bridges(graph, registry, settings.bridge_confidence, settings.bridges)


def _surest(edges: Iterable[Edge], pages: set[str], most: int) -> set[str]:
    """Return the ids of the surest edges of each page and type, of equals the newest."""
    groups: dict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in edges:
        groups[edge.target if edge.type == "IMPLEMENTS" else edge.source, edge.type].append(edge)
    kept: set[str] = set()
    for (page, _), group in groups.items():
        group.sort(key=lambda edge: (-edge.weight, -edge.created_at.timestamp(), edge.id))
        kept |= {edge.id for edge in (group[:most] if page in pages else group)}
    return kept


@dataclass(slots=True)
class _Look:
    """Looks for the other sides of a tenant's bridges."""

    graph: GraphStore
    vectors: VectorStore
    tenant: str
    at: datetime
    _pages: dict[str, Node | None] = field(default_factory=dict)

    async def page_of(self, item: Node) -> Node | None:
        """Return the page that an item is a version of, None for a memory."""
        if item.uid not in self._pages:
            uid = page_uid(item.tenant, item.context, item.source_id or "")
            node = (await self.graph.nodes(self.tenant, [uid])).get(uid) if item.subtype in _KNOWLEDGE else None
            mine = node is not None and is_knowledge(node) and node.metadata.get("item") == item.uid
            self._pages[item.uid] = node if mine else None
        return self._pages[item.uid]

    async def from_memory(self, fresh: Fresh, found: _Found) -> None:
        """Find pages that a memory is governed or described by, or implements."""
        scope = Scope(tenant=self.tenant, now=self.at, subtypes=(PAGE,))
        memory, text = fresh.item, fresh.text
        cosines = await self._alike(scope, fresh)
        for hit in await self.graph.find(scope, wider(text[:_SOUGHT_CHARS]), 2 * _HITS):
            cosines.setdefault(hit.uid, 0.0)
        named = {page.uid: page for page in await self._with_keys(keys_in(text), memory)}
        pages = {page.uid: (page, 0.0) for page in named.values()} | await self._pages_of(cosines)
        for page, cosine in pages.values():
            found.add(page, memory, judge(page, memory, text, cosine, by_key=page.uid in named))
        if fresh.is_first:
            spreads = [("MENTIONS", Direction.OUT), ("TAGGED", Direction.OUT)]
            beside = await self.graph.expand(self.tenant, [memory.uid], spreads, _THINGS)
            await self._described([neighbour.node for neighbour in beside], found)

    async def from_page(self, fresh: Fresh, page: Node, found: _Found) -> None:
        """Find memories that a page describes or governs, code that implements it, and what its title names."""
        scope = Scope(tenant=self.tenant, now=self.at, subtypes_none=_KNOWLEDGE)
        subjects = subjects_in(page)
        if page.subtype == FILE:
            for other in await self._with_keys(keys_in(fresh.text), page):
                found.add(other, page, judge(other, page, fresh.text, 0.0, by_key=True))
            return
        cosines = await self._alike(scope, fresh)
        if fresh.is_first:
            words = " ".join([page.name, *map(str, page.aliases), *subjects.keys])
            for hit in await self.graph.find(scope, wider(words), 4 * _HITS):
                cosines.setdefault(hit.uid, 0.0)
            code = replace(scope, subtypes=(FILE,), subtypes_none=())
            for hit in await self.graph.find(code, " ".join(subjects.keys), 4 * _HITS) if subjects.keys else ():
                cosines.setdefault(hit.uid, 0.0)
            named = await self.graph.named(self.tenant, list(names_of(page)), limit=_NAMESAKES)
            await self._described([node for nodes in named.values() for node in nodes], found, page)
        texts = await self.graph.texts(self.tenant, list(cosines))
        items = await self._items_of(cosines)
        for chunk, item in items.items():
            other = await self.page_of(item) or item
            if other.uid != page.uid:
                text = texts.get(chunk, "")
                keys = [key for key in keys_in(text) if key in subjects.keys]
                by_key = any(named.uid == page.uid for named in await self._with_keys(keys, other))
                found.add(page, other, judge(page, other, text, cosines[chunk], by_key=by_key))

    async def _alike(self, scope: Scope, fresh: Fresh) -> dict[str, float]:
        """Return the passages most like a passage or its sentences, with the best cosine of each."""
        best: dict[str, float] = {}
        for vector in fresh.vectors():
            query = VectorQuery(scope=scope, limit=_HITS, dense=vector, label=Label.CHUNK)
            for hit in await self.vectors.search(query):
                if hit.score > best.get(hit.id, -1.0):
                    best[hit.id] = hit.score
        return best

    async def _items_of(self, chunks: Iterable[str]) -> dict[str, Node]:
        owners = await self.graph.owners(self.tenant, list(chunks))
        items = await self.graph.nodes(self.tenant, list({ref.uid for ref in owners.values()}))
        return {chunk: items[ref.uid] for chunk, ref in owners.items() if ref.uid in items}

    async def _pages_of(self, cosines: Mapping[str, float]) -> dict[str, tuple[Node, float]]:
        """Return the pages that passages are of, with the best cosine of each."""
        best: dict[str, tuple[Node, float]] = {}
        for chunk, item in (await self._items_of(cosines)).items():
            page = await self.page_of(item)
            if page is not None and cosines[chunk] >= best.get(page.uid, (page, 0.0))[1]:
                best[page.uid] = page, cosines[chunk]
        return best

    async def _with_keys(self, keys: Sequence[str], memory: Node) -> list[Node]:
        """Return the pages that ids in a memory mean.

        Of several pages with an id it is the one of the memory's folder, else of its context; else nobody knows.
        """
        named = await self.graph.named(self.tenant, list(keys), limit=_NAMESAKES) if keys else {}
        meant: list[Node] = []
        for nodes in named.values():
            pages = [node for node in nodes if node.subtype == PAGE and is_knowledge(node)]
            near = [page for page in pages if page.context == memory.context]
            same = [page for page in near if page.metadata["folder"] == memory.metadata.get("folder")]
            closest = same or near or pages
            meant += closest if len(closest) == 1 else ()
        return meant

    async def _described(self, things: Sequence[Node], found: _Found, page: Node | None = None) -> None:
        """Find the pages, or this page, whose title or alias names one of these things."""
        things = [node for node in things if _is_thing(node)]
        names = {fold(name) for node in things for name in (node.name, *node.aliases)}
        pages = [page] if page is not None else []
        if page is None and names:
            named = await self.graph.named(self.tenant, sorted(names), limit=_NAMESAKES)
            pages = [node for nodes in named.values() for node in nodes if node.subtype == PAGE and is_knowledge(node)]
        for one in {node.uid: node for node in pages}.values():
            sure = names_of(one)
            for thing in things:
                best = max((sure.get(fold(name), 0.0) for name in (thing.name, *thing.aliases)), default=0.0)
                found.add(one, thing, Verdict("DESCRIBES", best, f"{BRIDGE_RULES}title") if best else None)


def _is_thing(node: Node) -> bool:
    """Tell whether a page may describe a node by its name: a named thing that is no page, tag, date or the like."""
    named = node.label in {Label.ENTITY, Label.CONCEPT} and node.content_hash is None
    return named and not is_knowledge(node) and fold(node.subtype) not in _NOT_DESCRIBED
