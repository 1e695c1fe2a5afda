"""Draw bridges for passages that were added to the vector store: from memories to pages and from pages to memories.

The outbox entry of a passage is settled afterwards: after a crash in between, the work is repeated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog
from prometheus_client import Counter

from vicw_ingest.knowledge.bridges.candidates import BridgeCandidate, BridgeSearch, NewPassage
from vicw_ingest.knowledge.bridges.evidence import BridgeVerdict
from vicw_shared.clock import now
from vicw_shared.errors import RetryableError, VicwError
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.model.knowledge import BRIDGE_RULES, ROOT_ALIAS
from vicw_shared.ports import GraphStore, GraphTransaction, VectorStore, look_up
from vicw_shared.settings import IngestSettings
from vicw_shared.uids import edge_id

_log = structlog.get_logger()
DRAWN = Counter("vicw_bridges_total", "Bridges drawn between pages and memories", ["type"])
FAILED = Counter("vicw_bridge_failures_total", "Batches of passages for which no bridges could be drawn")


@dataclass(frozen=True, slots=True)
class BridgeBuilder:
    """Draw bridges of at least ``confidence``, at most ``max_per_page`` of a type for each page; 0 draws none.

    A search by vectors takes ``hits`` passages.
    """

    graph: GraphStore
    registry: EdgeRegistry
    confidence: float
    max_per_page: int
    hits: int = 8

    async def draw(self, fresh: Sequence[NewPassage], vectors: VectorStore) -> None:
        """Draw the bridges of passages that are already in ``vectors``.

        Raises RetryableError. After any other VicwError these passages have no bridges; nothing else is affected.
        """
        if not self.max_per_page:
            return
        by_tenant: dict[str, list[NewPassage]] = defaultdict(list)
        for passage in fresh:
            by_tenant[passage.item.tenant].append(passage)
        for tenant, passages in by_tenant.items():
            try:
                if await look_up(self.graph, tenant, [ROOT_ALIAS], limit=1):
                    await self._draw(tenant, passages, vectors)
            except RetryableError:
                raise
            except VicwError as error:
                FAILED.inc()
                _log.warning("no bridges could be drawn", error=str(error))

    async def _draw(self, tenant: str, fresh: Sequence[NewPassage], vectors: VectorStore) -> None:
        search, candidates = BridgeSearch(self.graph, vectors, tenant, now(), self.hits), list[BridgeCandidate]()
        for passage in fresh:
            if passage.item.retired_at is not None:
                continue
            page = await search.page_of(passage.item)
            if page is not None:
                candidates += await search.from_page(passage, page)
            else:
                candidates += await search.from_memory(passage)
        for context, of_context in self._verdicts_by_context(candidates):
            await self.graph.write(tenant, context, partial(self._store, verdicts=of_context))

    def _verdicts_by_context(
        self, candidates: Iterable[BridgeCandidate]
    ) -> list[tuple[str, dict[tuple[str, str], BridgeVerdict]]]:
        """Return the most certain verdict on each pair of live nodes, by the uids of page and other node."""
        verdicts: dict[tuple[str, str], BridgeVerdict] = {}
        contexts: dict[str, str] = {}
        for page, other, verdict in candidates:
            if verdict is None or other.retired_at is not None or page.retired_at is not None:
                continue
            best = verdicts.get((page.uid, other.uid))
            if best is None or verdict.confidence > best.confidence:
                verdicts[page.uid, other.uid] = verdict
                contexts[page.uid] = page.context
        by_context: dict[str, dict[tuple[str, str], BridgeVerdict]] = defaultdict(dict)
        for ends, verdict in verdicts.items():
            if verdict.confidence >= self.confidence:
                by_context[contexts[ends[0]]][ends] = verdict
        return sorted(by_context.items())

    async def _store(self, transaction: GraphTransaction, *, verdicts: Mapping[tuple[str, str], BridgeVerdict]) -> None:
        """Store bridges, and keep only the most certain ones of each page and type."""
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
        bridges = {edge.id: edge for edge in stored if edge.created_by.startswith(BRIDGE_RULES)}
        stronger = [e for e in new if e.id not in bridges or bridges[e.id].weight < e.weight]
        kept_ids = _most_certain(
            {**bridges, **{edge.id: edge for edge in stronger}}.values(), set(pages), self.max_per_page
        )
        await transaction.drop_edges([edge for uid, edge in bridges.items() if uid not in kept_ids])
        added = [edge for edge in stronger if edge.id in kept_ids]
        await transaction.put_edges(added)
        for edge in added:
            DRAWN.labels(edge.type).inc()

    def _edge(self, page: Node, other: Node, verdict: BridgeVerdict, instant: datetime) -> Edge | None:
        source, target = (other, page) if verdict.type == "IMPLEMENTS" else (page, other)
        edge_type = self.registry.get(verdict.type)
        if (source.label, target.label) not in edge_type.pairs:
            return None
        item = str(page.metadata["item"])
        return Edge(
            id=edge_id(verdict.type, source.uid, target.uid, source_item=item),
            type=verdict.type,
            source=source.uid,
            target=target.uid,
            weight=round(edge_type.weight * verdict.confidence, 4),
            created_at=instant,
            created_by=verdict.rule,
            properties={"confidence": verdict.confidence, SOURCE_ITEM: item},
        )


def bridges_of(graph: GraphStore, registry: EdgeRegistry, settings: IngestSettings) -> BridgeBuilder:
    """Return the bridge builder that the settings describe."""
    return BridgeBuilder(graph, registry, settings.bridge_confidence, settings.bridges)


def _most_certain(edges: Iterable[Edge], pages: set[str], limit: int) -> set[str]:
    """Return the ids of the most certain edges of each page and type; newer edges win ties."""
    groups: dict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in edges:
        groups[edge.target if edge.type == "IMPLEMENTS" else edge.source, edge.type].append(edge)
    ids: set[str] = set()
    for (page, _), group in groups.items():
        group.sort(key=lambda edge: (-edge.weight, -edge.created_at.timestamp(), edge.id))
        ids |= {edge.id for edge in (group[:limit] if page in pages else group)}
    return ids
