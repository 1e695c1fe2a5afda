"""What is measured: a memory in this process, through the real wiring, or a server over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from vicw_client import AsyncVicwClient
from vicw_core.index.wrapper import WRAPPER_VERSION
from vicw_embedding.models import model_files
from vicw_ingest.pipeline import ingest
from vicw_retrieval.pipeline import retrieve
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import SettingsError
from vicw_shared.model import Label
from vicw_shared.ports import NO_MODEL, Embedder, MaintenanceStep, ModelIdentity, Nodes, Steps, scan_pages
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.ingest import IngestRequest, IngestResponse
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse
from vicw_sleep.consolidation.job import consolidation_of
from vicw_sleep.consolidation.service import Consolidation, OnBatch
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.wiring import Standalone
from vicw_stores.null_engines import NullEmbedder, NullVectorStore

_SETTLED_SECONDS = 3600.0


class Target(Protocol):
    """A memory that can be filled and asked."""

    async def remember(self, request: IngestRequest) -> IngestResponse:
        """Store items durably; they are found a little later."""
        ...

    async def settled(self, response: IngestResponse) -> None:
        """Return when everything of ``response`` is found."""
        ...

    async def ask(
        self, request: RetrieveRequest, retrieval: Mapping[str, Any] | None = None, *, vectors: bool = True
    ) -> RetrieveResponse:
        """Return the answer, with ``retrieval`` in place of these fields of the read path's settings.

        Without ``vectors`` it is that of a store that has none.
        """
        ...

    def tokens_read(self) -> int | None:
        """Return the tokens that the embedder has read so far; None where it does not tell."""
        ...

    async def describe(self) -> dict[str, Any]:
        """Return what the figures depend on: model and settings, as JSON."""
        ...


class LocalTarget:
    """A memory in this process."""

    def __init__(self, standalone: Standalone) -> None:
        self._standalone = standalone
        self.tenant = standalone.settings.server.tenant
        self.graph = standalone.ingest_ports().graph

    async def remember(self, request: IngestRequest) -> IngestResponse:
        """Store items through the use case."""
        response, _ = await ingest(request, self.tenant, self._standalone.ingest_ports())
        return response

    async def settled(self, response: IngestResponse) -> None:
        """Wait for the indexer."""
        items = [item.uid for item in response.items]
        await self._standalone.indexer.wait_until_indexed(self.tenant, items, _SETTLED_SECONDS)

    async def ask(
        self, request: RetrieveRequest, retrieval: Mapping[str, Any] | None = None, *, vectors: bool = True
    ) -> RetrieveResponse:
        """Ask through the use case."""
        ports = self._standalone.retrieval_ports()
        if retrieval:
            settings = RetrievalSettings.model_validate(ports.settings.model_dump() | dict(retrieval))
            ports = replace(ports, settings=settings)
        if not vectors:
            ports = replace(ports, vectors=NullVectorStore(), embedder=NullEmbedder(), words=self._standalone.graph)
        return await retrieve(request, self.tenant, ports)

    def consolidation(self, told: OnBatch) -> Consolidation:
        """Return what consolidates old Events."""
        return replace(consolidation_of(self._standalone.memory()), on_batch=told)

    def steps(self, task: str) -> AsyncIterator[list[MaintenanceStep]]:
        """Yield what a task of the sleep cycle did, page by page, the latest first."""
        return scan_pages(self._standalone.graph, Steps(tenant=self.tenant, task=task))

    async def passages(self) -> int:
        """Return how many passages it has."""
        return await self._standalone.graph.audit.count(Label.CHUNK)

    async def vectors_of(self, label: Label) -> int:
        """Return how many of its passages (Chunk) or statements (Event) have a vector."""
        graph, vectors = self._standalone.graph, self._standalone.indexes.read_index.vectors
        count = 0
        async for page in scan_pages(graph, Nodes(label)):
            count += len(await vectors.dense([node.uid for node in page]))
        return count

    async def drain(self) -> None:
        """Index what waits."""
        await self._standalone.indexer.drain()

    def tokens_read(self) -> int | None:
        """Return what the embedding server has told of so far."""
        embedder = self._standalone.embedder
        return embedder.tokens_read if isinstance(embedder, OpenAIEmbedder) else None

    async def model(self) -> ModelIdentity:
        """Return the identity of its embedding model."""
        return await self._standalone.embedder.identity()

    async def describe(self) -> dict[str, Any]:
        """Return the model's identity and the settings of both paths."""
        identity = await self.model()
        settings = self._standalone.settings
        return {
            "model": {"name": identity.name, "size": identity.size, "digest": identity.digest},
            "wrapper_version": identity.wrapper_version,
            "ingest": settings.ingest.model_dump(mode="json"),
            "retrieval": settings.retrieval.model_dump(mode="json"),
            "rerank": settings.rerank.model_dump(mode="json", include={"url", "model"}),
        }


class HttpTarget:
    """A running server."""

    def __init__(self, client: AsyncVicwClient) -> None:
        self._client = client

    async def remember(self, request: IngestRequest) -> IngestResponse:
        """POST /ingest."""
        return await self._client.ingest(request)

    async def settled(self, response: IngestResponse) -> None:
        """Poll the job."""
        await self._client.wait_for(response, timeout=_SETTLED_SECONDS)

    async def ask(
        self, request: RetrieveRequest, retrieval: Mapping[str, Any] | None = None, *, vectors: bool = True
    ) -> RetrieveResponse:
        """POST /retrieve. Raises SettingsError for ``retrieval``: the server's settings are its own."""
        if retrieval or not vectors:
            raise SettingsError("a server's settings cannot be changed from outside; measure without --url")
        return await self._client.retrieve(request)

    def tokens_read(self) -> int | None:
        """Return None: a server does not tell."""
        return None

    async def describe(self) -> dict[str, Any]:
        """Return the address: what stands behind it, a server does not tell."""
        return {"url": self._client.address}


@asynccontextmanager
async def open_local(
    settings: StandaloneSettings, store: Path, embedder: Embedder | None = None
) -> AsyncIterator[LocalTarget]:
    """Open a memory in the folder ``store``, with the settings that users have, and close it in the end.

    Raises what ``Standalone.open`` raises.
    """
    storage = settings.storage.model_copy(update={"data_dir": store})
    embedding = settings.embedding.model_copy(update={"models_dir": settings.models_dir})
    sleep = settings.sleep.model_copy(update={"paused": True})  # what is measured is not to change meanwhile
    settings = replace(settings, storage=storage, embedding=embedding, sleep=sleep)
    standalone = Standalone(settings, embedder)
    await standalone.open()
    standalone.start_indexer()
    try:
        yield LocalTarget(standalone)
    finally:
        await standalone.close()
        await asyncio.sleep(0)  # lets the cancelled indexer end before the loop does


@asynccontextmanager
async def open_http(url: str, retrieve_url: str | None = None) -> AsyncIterator[HttpTarget]:
    """Connect to a server, or two, and disconnect in the end."""
    async with AsyncVicwClient(url, retrieve_url=retrieve_url) as client:
        yield HttpTarget(client)


def store_key(settings: StandaloneSettings, *data: str) -> str:
    """Return a short name for what a filled store depends on: data, model, and how texts are cut and wrapped."""
    embedding, ingest_settings = settings.embedding, settings.ingest
    if settings.storage.embedder == "none":
        model = NO_MODEL.name
    elif embedding.url is None:
        model = model_files.resolve(embedding, settings.models_dir).digest
    else:
        model = f"{embedding.url} {embedding.model}"
    parts = (*data, model, embedding.dimensions, WRAPPER_VERSION, ingest_settings.chunk_chars)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
