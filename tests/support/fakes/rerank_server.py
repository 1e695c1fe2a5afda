"""A double of a re-ranking server, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

type Said = Callable[[dict[str, Any]], Any]


@asynccontextmanager
async def rerank_server(answer: Said, status: int = 200, seconds: float = 0.0) -> AsyncIterator[tuple[str, list[Any]]]:
    asked: list[Any] = []

    async def rerank(request: web.Request) -> web.Response:
        asked.append((request.headers.get("Authorization"), await request.json()))
        await asyncio.sleep(seconds)
        return web.json_response(answer(asked[-1][1]), status=status)

    app = web.Application()
    app.router.add_post("/v1/rerank", rerank)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1", asked
    finally:
        await runner.cleanup()


def rows(*scores: tuple[int, Any]) -> dict[str, Any]:
    return {
        "results": [{"index": index, "relevance_score": score, "document": {"text": ""}} for index, score in scores]
    }
