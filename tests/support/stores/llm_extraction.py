"""A pair of stores whose items a language model reads: a scripted one, on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from support.fakes.chat_server import Chat, Reply, serve_chat
from support.stores.pairs import Side
from vicw_ingest.llm_queue.requests import ExtractionBackend
from vicw_ingest.llm_queue.service import PendingExtractor
from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
from vicw_shared.model import EdgeRegistry
from vicw_shared.settings import IngestSettings, LimitSettings, LlmSettings
from vicw_shared.wire.ingest import IngestResponse


@dataclass
class Story:
    """One pair of stores with a scripted model."""

    side: Side
    chat: Chat
    extractor: PendingExtractor

    async def ingest(self, *items: dict[str, Any], context: str = "c", **fields: Any) -> IngestResponse:
        body = {"context": context, "items": items, "extract": "llm", **fields}
        return await self.side.ingest(body, "t", None)

    async def settle(self) -> None:
        """Read and index all there is; the stores must be sound afterwards."""
        await self.extractor.drain()
        await self.side.indexer.drain()
        assert (await self.side.check()).violations == []

    async def replaced(self) -> set[tuple[str, str, str]]:
        nodes = await self.side.nodes()
        found = [e for e in (await self.side.edges()).values() if e.type in {"SUPERSEDES", "CONTRADICTS"}]
        live = [e for e in found if nodes[e.source].retired_at is None and nodes[e.target].retired_at is None]
        return {(str(nodes[e.source].text), e.type, str(nodes[e.target].text)) for e in live}

    async def told(self, *types: str, by: str = "llm:m") -> set[tuple[str, str, str]]:
        names = {uid: node.name for uid, node in (await self.side.nodes()).items()}
        edges = [edge for edge in (await self.side.edges()).values() if edge.created_by == by]
        return {(names[e.source], e.type, names[e.target]) for e in edges if not types or e.type in types}


@asynccontextmanager
async def open_story_with_model(
    side: Side, *replies: Reply, pause: float = 0.0, **settings: Any
) -> AsyncIterator[Story]:
    """Have what is ingested read by a model that answers so."""
    async with serve_chat(*replies, pause=pause) as chat:
        model = OpenAILanguageModel(base_url=chat.url, model="m", retry_seconds=0.0, timeout_seconds=2)
        llm = LlmSettings(**{"repairs": 0, **settings})
        registry = EdgeRegistry.with_core_types()
        extractor = PendingExtractor.of(side.graph, model, registry, llm, LimitSettings(), IngestSettings())
        try:
            yield Story(replace(side, model=ExtractionBackend(extractor, extractor)), chat, extractor)
        finally:
            await extractor.close()
            await model.close()


def claim(quote: str, subject: str, attribute: str, value: str | None, **fields: Any) -> dict[str, Any]:
    """Return a claim as a model says it."""
    known = {"of": None, "changed": False, "ended": False, "heard_from": None}
    return known | {"quote": quote, "subject": subject, "attribute": attribute, "value": value} | fields
