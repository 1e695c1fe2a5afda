"""Find candidates for bridges: pages for a memory's passage, memories and code for a page's passage.

The number of similar passages is limited, so that the work per passage is bounded whatever the size of the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.shared_words import shares_a_word, words_of
from vicw_ingest.knowledge.bridges.evidence import BridgeVerdict, judge_bridge, names_of, subjects_in
from vicw_ingest.knowledge.subjects import is_rule, keys_in, with_word_forms
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import BRIDGE_RULES, FILE, PAGE, is_knowledge, page_uid
from vicw_shared.ports import Direction, GraphStore, PendingPoint, Point, Scope, VectorQuery, VectorStore, look_up
from vicw_shared.text import fold_case

_QUERIES = 4
_QUERY_CHARS = 2000
_MAX_NEIGHBOURS = 100
_NAMESAKES = 20
_KNOWLEDGE = (PAGE, FILE)
_NOT_DESCRIBED = frozenset({"tag", "bucket", "url", "amount", "date", "handle", "module"})


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A newly stored passage with its item and its vectors: its own and those of its statements."""

    point: PendingPoint
    item: Node
    points: Sequence[Point]

    @property
    def text(self) -> str:
        """The text of the passage."""
        assert self.point.chunk is not None
        return self.point.chunk.text or ""

    @property
    def is_first(self) -> bool:
        """Whether it is the representative passage of its item; searches per item run for it only."""
        return self.item.qdrant_id == self.point.point_id

    def vectors(self) -> list[NDArray[np.float32]]:
        """Return the query vectors: its own, and those of a few statements, rules first."""
        texts = {statement.uid: statement.text or "" for statement in self.point.statements}
        sentences = [point for point in self.points if point.id in texts]
        sentences.sort(key=lambda point: not is_rule(texts[point.id]))
        own = [point for point in self.points if point.id == self.point.point_id]
        return [point.dense for point in (*own, *sentences[:_QUERIES]) if point.dense is not None]


class BridgeCandidate(NamedTuple):
    """A page, a node that a bridge may join to it, and the verdict on the bridge, None if there is to be none."""

    page: Node
    other: Node
    verdict: BridgeVerdict | None


@dataclass(slots=True)
class BridgeSearch:
    """Search the store of one tenant for candidates."""

    graph: GraphStore
    vectors: VectorStore
    tenant: str
    at: datetime
    hits: int
    _pages: dict[str, Node | None] = field(default_factory=dict)

    async def page_of(self, item: Node) -> Node | None:
        """Return the page that an item is a version of, None for a memory."""
        if item.uid not in self._pages:
            uid = page_uid(item.tenant, item.context, item.source_id or "")
            node = (await self.graph.nodes(self.tenant, [uid])).get(uid) if item.subtype in _KNOWLEDGE else None
            is_version = node is not None and is_knowledge(node) and node.metadata.get("item") == item.uid
            self._pages[item.uid] = node if is_version else None
        return self._pages[item.uid]

    async def from_memory(self, fresh: NewPassage) -> list[BridgeCandidate]:
        """Find pages that govern or describe a memory, or that it implements."""
        scope = Scope(tenant=self.tenant, now=self.at, subtypes=(PAGE,))
        memory, text = fresh.item, fresh.text
        cosines = await self._similar(scope, fresh)
        for hit in await self.graph.find(scope, with_word_forms(text[:_QUERY_CHARS]), 2 * self.hits):
            cosines.setdefault(hit.uid, 0.0)
        named = {page.uid: page for page in await self._with_keys(keys_in(text), memory)}
        pages = {page.uid: (page, 0.0) for page in named.values()} | await self._pages_of(cosines)
        found = [
            BridgeCandidate(page, memory, judge_bridge(page, memory, text, cosine, by_key=page.uid in named))
            for page, cosine in pages.values()
        ]
        if fresh.is_first:
            spreads = [("MENTIONS", Direction.OUT), ("TAGGED", Direction.OUT)]
            neighbours = await self.graph.expand(self.tenant, [memory.uid], spreads, _MAX_NEIGHBOURS)
            found += await self._match_names([neighbour.node for neighbour in neighbours])
        return found

    async def from_page(self, fresh: NewPassage, page: Node) -> list[BridgeCandidate]:
        """Find memories that a page describes or governs, code that implements it, and nodes that its title names."""
        scope = Scope(tenant=self.tenant, now=self.at, subtypes_none=_KNOWLEDGE)
        subjects = subjects_in(page)
        if page.subtype == FILE:
            named_pages = await self._with_keys(keys_in(fresh.text), page)
            verdicts = [judge_bridge(other, page, fresh.text, 0.0, by_key=True) for other in named_pages]
            return [BridgeCandidate(o, page, verdict) for o, verdict in zip(named_pages, verdicts, strict=True)]
        found: list[BridgeCandidate] = []
        cosines = await self._similar(scope, fresh)
        if fresh.is_first:
            words = " ".join([page.name, *map(str, page.aliases), *subjects.keys])
            for hit in await self.graph.find(scope, with_word_forms(words), 4 * self.hits):
                cosines.setdefault(hit.uid, 0.0)
            code = replace(scope, subtypes=(FILE,), subtypes_none=())
            for hit in await self.graph.find(code, " ".join(subjects.keys), 4 * self.hits) if subjects.keys else ():
                cosines.setdefault(hit.uid, 0.0)
            named = await look_up(self.graph, self.tenant, list(names_of(page)), limit=_NAMESAKES)
            found += await self._match_names([node for nodes in named.values() for node in nodes], page)
        texts = await self.graph.texts(self.tenant, list(cosines))
        items = await self._items_of(cosines)
        for chunk, item in items.items():
            other = await self.page_of(item) or item
            if other.uid != page.uid:
                text = texts.get(chunk, "")
                keys = [key for key in keys_in(text) if key in subjects.keys]
                by_key = any(named.uid == page.uid for named in await self._with_keys(keys, other))
                verdict = judge_bridge(page, other, text, cosines[chunk], by_key=by_key)
                found.append(BridgeCandidate(page, other, verdict))
        return found

    async def _similar(self, scope: Scope, fresh: NewPassage) -> dict[str, float]:
        """Return the passages most similar to a passage or its statements, with the best cosine of each.

        Only those that share a word with it: what a model cannot read is similar to anything else that it cannot.
        """
        best: dict[str, float] = {}
        for vector in fresh.vectors():
            query = VectorQuery(scope=scope, limit=self.hits, dense=vector, label=Label.CHUNK)
            for hit in await self.vectors.search(query):
                if hit.score > best.get(hit.id, -1.0):
                    best[hit.id] = hit.score
        words, texts = words_of(fresh.text), await self.graph.texts(self.tenant, list(best))
        return {uid: cosine for uid, cosine in best.items() if shares_a_word(words, texts.get(uid, ""))}

    async def _items_of(self, chunks: Iterable[str]) -> dict[str, Node]:
        owners = await self.graph.owners(self.tenant, list(chunks))
        items = await self.graph.nodes(self.tenant, list({ref.uid for ref in owners.values()}))
        return {chunk: items[ref.uid] for chunk, ref in owners.items() if ref.uid in items}

    async def _pages_of(self, cosines: Mapping[str, float]) -> dict[str, tuple[Node, float]]:
        """Return the pages of these passages, with the best cosine of each."""
        best: dict[str, tuple[Node, float]] = {}
        for chunk, item in (await self._items_of(cosines)).items():
            page = await self.page_of(item)
            if page is not None and cosines[chunk] >= best.get(page.uid, (page, 0.0))[1]:
                best[page.uid] = page, cosines[chunk]
        return best

    async def _with_keys(self, keys: Sequence[str], memory: Node) -> list[Node]:
        """Return the pages that ids in a memory refer to.

        Of several pages with one id, the page in the memory's folder wins, else the one in its context; an id that
        is still ambiguous yields no page.
        """
        named = await look_up(self.graph, self.tenant, list(keys), limit=_NAMESAKES) if keys else {}
        referenced: list[Node] = []
        for nodes in named.values():
            pages = [node for node in nodes if node.subtype == PAGE and is_knowledge(node)]
            in_context = [page for page in pages if page.context == memory.context]
            same = [page for page in in_context if page.metadata["folder"] == memory.metadata.get("folder")]
            closest = same or in_context or pages
            referenced += closest if len(closest) == 1 else ()
        return referenced

    async def _match_names(self, targets: Sequence[Node], page: Node | None = None) -> list[BridgeCandidate]:
        """Find pages, or test this page, whose title or alias names one of these nodes."""
        targets = [node for node in targets if _is_describable(node)]
        names = {fold_case(name) for node in targets for name in (node.name, *node.aliases)}
        pages = [page] if page is not None else []
        if page is None and names:
            named = await look_up(self.graph, self.tenant, sorted(names), limit=_NAMESAKES)
            pages = [node for nodes in named.values() for node in nodes if node.subtype == PAGE and is_knowledge(node)]
        found = []
        for named_page in {node.uid: node for node in pages}.values():
            confidences = names_of(named_page)
            for target in targets:
                best = max(
                    (confidences.get(fold_case(name), 0.0) for name in (target.name, *target.aliases)), default=0.0
                )
                verdict = BridgeVerdict("DESCRIBES", best, f"{BRIDGE_RULES}title") if best else None
                found.append(BridgeCandidate(named_page, target, verdict))
        return found


def _is_describable(node: Node) -> bool:
    """Return whether a page may describe a node by its name: an entity or concept, but no page, tag or date."""
    has_name = node.label in {Label.ENTITY, Label.CONCEPT} and node.content_hash is None
    return has_name and not is_knowledge(node) and fold_case(node.subtype) not in _NOT_DESCRIBED
