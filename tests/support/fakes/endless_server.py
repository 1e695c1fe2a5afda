"""A server on this machine whose every answer has a beginning and no end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from aiohttp.test_utils import TestServer

_PART = b"x" * 2**16
_ENOUGH = 2**28
"""Where the server ends all the same: whoever reads that far reads everything."""


@dataclass
class EndlessServer:
    """The server: how often it was asked, and how much it could send."""

    url: str = ""
    asked: int = 0
    sent: int = 0


@asynccontextmanager
async def serve_endlessly(
    start: bytes = b'{"data": "', *, status: int = 200, encoding: str | None = None, part: bytes = _PART
) -> AsyncIterator[EndlessServer]:
    """Answer with a status and these bytes, then with ``part`` again and again."""
    seen = EndlessServer()

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.asked += 1
        await request.read()
        response = web.StreamResponse(status=status, headers={"Content-Encoding": encoding} if encoding else None)
        await response.prepare(request)
        await response.write(start)
        while part and seen.sent < _ENOUGH:
            await response.write(part)
            seen.sent += len(part)
            await asyncio.sleep(0)
        return response

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        seen.url = str(server.make_url("/v1"))
        yield seen
