"""An embedding server of another make on this machine, with as much of the OpenAI wire as VICW speaks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import TestServer
from anyio.from_thread import start_blocking_portal

from support.fakes.hash_embedder import HashEmbedder
from vicw_shared.ports import Lane


@dataclass
class EmbeddingServer:
    """What the server has, what it was sent, the word that it refuses any text for, and the characters it reads."""

    models: list[str]
    url: str = ""
    asked_for: list[str | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    refuses: str = ""
    reads: int | None = None


@asynccontextmanager
async def serve_embeddings(*models: str) -> AsyncIterator[EmbeddingServer]:
    foreign = EmbeddingServer(list(models))

    async def list_models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name} for name in foreign.models]})

    async def embeddings(request: web.Request) -> web.Response:
        body = await request.json()
        foreign.asked_for.append(body.get("model"))
        foreign.texts += body["input"]
        if foreign.refuses and any(foreign.refuses in text for text in body["input"]):
            return web.json_response({"error": {"message": f"{foreign.refuses}: no such token"}}, status=400)
        rows = (await HashEmbedder().embed([text[: foreign.reads] for text in body["input"]], Lane.BULK)).tolist()
        data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"data": data, "model": foreign.models[0], "usage": usage})

    app = web.Application()
    app.router.add_get("/v1/models", list_models)
    app.router.add_post("/v1/embeddings", embeddings)
    async with TestServer(app) as server:
        foreign.url = str(server.make_url("/v1"))
        yield foreign


@contextmanager
def serve_embeddings_in_thread(*models: str) -> Iterator[EmbeddingServer]:
    """Serve from a thread, for tests that have no event loop."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serve_embeddings(*models)) as foreign:
        yield foreign
