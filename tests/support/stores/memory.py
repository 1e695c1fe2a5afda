"""A whole memory over the embedded stores, through the real wiring, with an embedder double."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from support.fakes.hash_embedder import HashEmbedder
from vicw_ingest.pipeline import ingest
from vicw_ingest.versions.retraction import retract
from vicw_retrieval.pipeline import retrieve
from vicw_shared.model import EdgeRegistry
from vicw_shared.settings import (
    EmbeddingSettings,
    IngestSettings,
    LimitSettings,
    LlmSettings,
    LogSettings,
    RetrievalSettings,
    ServerSettings,
    StorageSettings,
    TraceSettings,
)
from vicw_shared.wire.ingest import IngestRequest, IngestResponse
from vicw_shared.wire.retract import RetractRequest
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse
from vicw_sleep.check.service import CheckReport, check
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.wiring import Standalone

PATIENT_MS = 20_000
"""What is found is tested: a busy machine must not cost the graph's part of it."""
TYPED_EDGES = 0.15
"""What they count here: they are off by default, and no test is to pass for that."""


def settings_for(path: Path, llm: LlmSettings | None = None, **storage: Any) -> StandaloneSettings:
    return StandaloneSettings(
        ServerSettings(port=0),
        StorageSettings(data_dir=path, **storage),
        LimitSettings(),
        EmbeddingSettings(),
        IngestSettings(wait_seconds=10),
        RetrievalSettings(graph_ms=PATIENT_MS, spread_ms=PATIENT_MS, graph_weight=TYPED_EDGES),
        LogSettings(),
        TraceSettings(),
        llm=llm or LlmSettings(),
    )


class Memory:
    """The use cases, asked in plain words."""

    def __init__(self, standalone: Standalone, embedder: HashEmbedder) -> None:
        self.standalone = standalone
        self.embedder = embedder
        self.tenant = "default"

    async def ingest(
        self, *items: dict[str, Any], context: str = "ctx", key: str | None = None, **fields: Any
    ) -> IngestResponse:
        request = IngestRequest.model_validate({"context": context, "items": items, **fields})
        response, _ = await ingest(request, self.tenant, self.standalone.ingest_ports(), idempotency_key=key)
        return response

    async def retract(self, *ids: str, context: str = "ctx", **fields: Any) -> list[str]:
        """Return what became of each id."""
        request = RetractRequest.model_validate({"context": context, "ids": ids, **fields})
        response, _ = await retract(request, self.tenant, self.standalone.ingest_ports())
        return [item.status.value for item in response.items]

    async def retrieve(self, query: str, **fields: Any) -> RetrieveResponse:
        request = RetrieveRequest.model_validate({"query": query, **fields})
        return await retrieve(request, self.tenant, self.standalone.retrieval_ports())

    async def found(self, query: str, **fields: Any) -> list[str | None]:
        return [result.id for result in (await self.retrieve(query, **fields)).results]

    async def check(self) -> CheckReport:
        graph = self.standalone.graph
        index = self.standalone.indexes.read_index
        vectors = index.vectors if index.model.has_vectors else None
        return await check(graph.audit, graph.outbox, vectors, EdgeRegistry.with_core_types())


@asynccontextmanager
async def open_memory(
    path: Path,
    embedder: HashEmbedder | None = None,
    *others: HashEmbedder,
    llm: LlmSettings | None = None,
    vectors: bool = True,
    **storage: Any,
) -> AsyncIterator[Memory]:
    """Open a memory over the first embedder; ``others`` are there for a change of the model.

    Without ``vectors`` it is told that there are none, whatever embedders there are.
    """
    embedder = embedder or HashEmbedder()
    if not vectors:
        storage["embedder"] = "none"
    standalone = Standalone(settings_for(path, llm, **storage), embedder, *others)
    await standalone.open()
    standalone.start_indexer()
    try:
        yield Memory(standalone, embedder)
    finally:
        await standalone.close()
        await asyncio.sleep(0)
