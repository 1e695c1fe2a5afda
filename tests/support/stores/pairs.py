"""The same use cases over two pairs of stores: the embedded one and the platform's."""

from __future__ import annotations

import itertools
import random
import shutil
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.servers.neo4j.server import Neo4jServer
from support.servers.qdrant import QdrantServer
from support.stores.graph_records import Graph
from support.stores.memory import TYPED_EDGES
from support.stores.neo4j import empty_neo4j, open_neo4j
from support.stores.qdrant import collections_for_tests, server_if_any
from vicw_ingest.expiry.service import Expiry
from vicw_ingest.index.service import Indexer
from vicw_ingest.knowledge.bridges.builder import bridges_of
from vicw_ingest.knowledge.page_list import list_pages
from vicw_ingest.llm_queue.requests import ExtractionBackend
from vicw_ingest.patch.service import patch_by_id, patch_by_uid
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_ingest.response.job_status import job_status
from vicw_ingest.versions.replacement import supersede
from vicw_ingest.versions.retraction import retract
from vicw_retrieval.access.scope import scope_of
from vicw_retrieval.feedback.service import give_feedback
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.extensions import load_extractor
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.ports import Edges, Lane, ModelIdentity, Nodes, Point, VectorStore
from vicw_shared.settings import IngestSettings, LimitSettings, RetrievalSettings
from vicw_shared.wire.feedback import Feedback, FeedbackRequest
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.knowledge import KnowledgeQuery, KnownPages
from vicw_shared.wire.patch import ItemPatch, PatchedItem
from vicw_shared.wire.retract import RetractRequest, RetractResponse
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse
from vicw_shared.wire.supersede import SupersedeRequest, SupersedeResponse
from vicw_sleep.check.service import CheckLimits, CheckReport, check
from vicw_sleep.reconcile.service import reconcile
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.qdrant import QdrantVectorStore
from vicw_stores.sqlite import SqliteGraphStore

EXTRACTOR = load_extractor(None)
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""The first instant of every story; each operation takes a minute."""
_UNWAITED: dict[str, Any] = {"wait": False}
"""By default: no indexer runs by itself, so that whoever waited for it would wait as long as he may."""
_PAGE = 1000


class Clockwork:
    """What differs from run to run, made the same for both sides: the time, and the uids of what has no id."""

    def __init__(self) -> None:
        self.now = START
        self._operation = 0
        self._random = random.Random()

    def install(self, patch: pytest.MonkeyPatch) -> None:
        asks = ("pipeline", "versions.retraction", "expiry.service", "knowledge.bridges.builder")
        for module in (*(f"vicw_ingest.{name}" for name in asks), "vicw_retrieval.pipeline"):
            patch.setattr(f"{module}.now", lambda: self.now)
        drawn = SimpleNamespace(uuid4=lambda: uuid.UUID(int=self._random.getrandbits(128), version=4))
        for module in ("vicw_ingest.pipeline", "vicw_ingest.plan.drafts"):
            patch.setattr(f"{module}.uuid", drawn)

    def next_operation(self) -> None:
        self._operation += 1
        self.now += timedelta(minutes=1)

    def next_side(self) -> None:
        """Let the second side draw what the first has drawn."""
        self._random.seed(self._operation)


@dataclass(frozen=True, slots=True)
class Side:
    """The use cases over one pair of stores, asked in plain words."""

    name: str
    graph: Graph
    vectors: VectorStore
    embedder: HashEmbedder
    indexer: Indexer
    collection: str = ""
    model: ExtractionBackend | None = None

    async def ingest(self, body: dict[str, Any], tenant: str, key: str | None) -> IngestResponse:
        request = IngestRequest.model_validate(_UNWAITED | body)
        response, _ = await ingest(request, tenant, self._ports(), idempotency_key=key)
        return response

    async def retract(self, body: dict[str, Any], tenant: str) -> RetractResponse:
        response, _ = await retract(RetractRequest.model_validate(_UNWAITED | body), tenant, self._ports())
        return response

    async def supersede(self, body: dict[str, Any], tenant: str) -> SupersedeResponse:
        response, _ = await supersede(SupersedeRequest.model_validate(_UNWAITED | body), tenant, self._ports())
        return response

    async def patch(
        self, item: str, fields: dict[str, Any], tenant: str, context: str | None = None, *versions: int
    ) -> PatchedItem:
        """Change an item, by its uid, or by its id in a context."""
        change, expected = ItemPatch.model_validate(fields), versions or None
        if context is None:
            answer, _ = await patch_by_uid(item, change, tenant, self._ports(), expected)
        else:
            answer, _ = await patch_by_id(context, item, change, tenant, self._ports(), expected)
        return answer

    async def expire(self) -> int:
        """Retire what has expired; return how many items."""
        return await Expiry(self.graph, EdgeRegistry.with_core_types(), self.indexer).drain()

    async def listed(self, query: dict[str, Any], tenant: str) -> KnownPages:
        """Return the pages of a knowledge folder, with the links that lead nowhere."""
        return await list_pages(self.graph, tenant, KnowledgeQuery.model_validate(query))

    async def job(self, job: str, tenant: str) -> JobStatus:
        return await job_status(
            job, tenant, self.graph, self.graph.record, self.graph.outbox, self.graph.pending_extractions
        )

    async def retrieve(self, body: dict[str, Any], tenant: str, **settings: Any) -> RetrieveResponse:
        patient = dict.fromkeys(("channel_ms", "graph_ms", "spread_ms"), 20_000)
        read = RetrievalSettings.model_validate(patient | {"graph_weight": TYPED_EDGES} | settings)
        engines = (self.graph, self.vectors, self.embedder)
        graph = self.graph
        ports = RetrievalPorts(
            *engines, "", LimitSettings(), read, CircuitBreaker(), outbox=graph.outbox, log=graph.log
        )
        return await retrieve(RetrieveRequest.model_validate(body), tenant, ports)

    async def feedback(self, body: dict[str, Any], tenant: str, **limits: int) -> Feedback:
        engines = (self.graph, self.vectors, self.embedder)
        bounds, log = LimitSettings.model_validate(limits), self.graph.log
        ports = RetrievalPorts(*engines, "", bounds, RetrievalSettings(), CircuitBreaker(), log=log)
        return await give_feedback(FeedbackRequest.model_validate(body), tenant, ports)

    async def find(self, word: str, body: dict[str, Any], tenant: str, now: datetime) -> set[str]:
        """Return the passages that the graph's full-text index finds inside the scope of a question."""
        scope = scope_of(RetrieveRequest.model_validate(body), tenant, now)
        return {hit.uid for hit in await self.graph.find(scope, word, _PAGE)}

    def _ports(self) -> IngestPorts:
        settings = IngestSettings(chunk_chars=100, wait_seconds=0.05)
        registry = EdgeRegistry.with_core_types()
        return IngestPorts.of(
            self.graph, self.indexer, registry, LimitSettings(), settings, extractor=EXTRACTOR, model=self.model
        )

    async def lose(self, every: int) -> tuple[int, int]:
        """Lose every so many-th point, gain one that nobody knows; bring the stores to agreement."""
        ids = sorted(await self.points())
        await self.vectors.delete(ids[::every])
        (dense,) = await self.embedder.embed(["nobody's"], Lane.BULK)
        await self.vectors.upsert([Point(str(uuid.UUID(int=every)), dense, None, {"tenant": "t", "label": "Chunk"})])
        done = await reconcile(self.graph.outbox, self.graph.audit, self.vectors)
        return done.missing, done.orphaned

    async def requeue(self) -> int:
        """Queue every passage again."""
        chunks = [uid for uid, node in (await self.nodes()).items() if node.label is Label.CHUNK]
        return await self.graph.outbox.requeue(chunks)

    async def check(self, limits: CheckLimits | None = None) -> CheckReport:
        registry = EdgeRegistry.with_core_types()
        return await check(self.graph.audit, self.graph.outbox, self.vectors, registry, limits=limits)

    async def nodes(self) -> dict[str, Node]:
        """Return the whole graph's nodes by uid, read as a check reads them: in pages, ascending."""
        found: list[Node] = []
        for label in Label:
            after: str | None = None
            while page := await self.graph.scan(Nodes(label), after=after, limit=_PAGE):
                after = page[-1].uid
                found += page
        assert [n.uid for n in found] == [n.uid for label in Label for n in _in_order(found, label)]
        return {node.uid: node for node in found}

    async def edges(self) -> dict[str, Edge]:
        """Return the whole graph's edges by id."""
        found: list[Edge] = []
        while page := await self.graph.scan(Edges(), after=found[-1] if found else None, limit=_PAGE):
            found += [edge for edge, _, _ in page]
        return {edge.id: edge for edge in found}

    async def points(self) -> set[str]:
        """Return the ids of all points."""
        found: set[str] = set()
        after: str | None = None
        while page := await self.vectors.ids(after=after, limit=_PAGE):
            found.update(page)
            after = page[-1]
        return found

    async def payloads(self) -> dict[str, dict[str, Any]]:
        """Return what every point says of itself; lists are sets to a filter."""
        payloads = await self.vectors.payloads(sorted(await self.points()))
        return {
            point: {field: sorted(value) if isinstance(value, list) else value for field, value in payload.items()}
            for point, payload in payloads.items()
        }


def _in_order(nodes: list[Node], label: Label) -> list[Node]:
    return sorted((node for node in nodes if node.label is label), key=lambda node: node.uid)


async def _side(name: str, graph: Graph, vectors: VectorStore) -> Side:
    embedder = HashEmbedder()
    model = await embedder.identity()
    await graph.record.set_model(model)

    async def opener(_: ModelIdentity) -> Index:
        return Index(model, vectors, embedder)

    indexes = Indexes(graph.record, opener)
    await indexes.open()
    # Two engines may take different passages of many: here each looks at all.
    bridges = replace(bridges_of(graph, EdgeRegistry.with_core_types(), IngestSettings()), hits=_PAGE)
    return Side(name, graph, vectors, embedder, Indexer(graph.outbox, indexes, batch=16, max_tries=30, bridges=bridges))


_numbers = itertools.count()


@asynccontextmanager
async def embedded(room: Path) -> AsyncIterator[Side]:
    """SQLite and Edge, empty; gone afterwards, since a store of no items takes a hundred megabytes."""
    path = room / str(next(_numbers))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, path, ignore_errors=True)
        data_dir = stack.enter_context(DataDir(path))
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        vectors = EdgeVectorStore(data_dir.path / "vectors", (await HashEmbedder().identity()).size)
        try:
            yield await _side("embedded", graph, vectors)
        finally:
            await vectors.close()
            await graph.close()


@asynccontextmanager
async def platform(neo4j: Neo4jServer, qdrant: QdrantServer | None, **fields: Any) -> AsyncIterator[Side]:
    """Neo4j, with settings of the test's own, and Qdrant, both empty."""
    empty_neo4j(neo4j)
    async with open_neo4j(neo4j, **fields) as graph, collections_for_tests(qdrant) as (client, collections):
        collection = await collections.open(await HashEmbedder().identity())
        # Without figures that may be some minutes old: those of the two stores grow old in different ways.
        vectors = QdrantVectorStore(client, collection.name, recent_seconds=0)
        yield replace(await _side("platform", graph, vectors), collection=collection.name)


def asked_for(request: pytest.FixtureRequest, store: Path) -> AbstractAsyncContextManager[Side]:
    """Return the pair of stores, still to be opened, that a fixture's parameter names: "embedded" or "platform"."""
    if request.param == "embedded":
        return embedded(store)
    return platform(request.getfixturevalue("neo4j_server"), server_if_any(request))
