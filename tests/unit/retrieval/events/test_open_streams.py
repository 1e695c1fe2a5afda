"""The limit of open streams holds for requests that come at once, and each gives its place back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Message

from support.stores.memory import Memory
from vicw_shared.settings import LimitSettings
from vicw_standalone.app import create_standalone_app


class Watcher:
    """A request for events, and the status of its answer; ``gone`` is set when its sender leaves."""

    def __init__(self, query: str = "") -> None:
        self.query = query
        self.gone = asyncio.Event()
        self._body: list[Message] = [{"type": "http.request"}]
        self.status: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def ask(self, app: ASGIApp) -> None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/events",
            "query_string": self.query.encode(),
            "headers": [(b"host", b"127.0.0.1")],
        }
        await app(scope, self._receive, self._send)
        if not self.status.done():
            self.status.set_result(None)

    async def _receive(self) -> Message:
        if self._body:
            return self._body.pop()
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status.set_result(message["status"])


@asynccontextmanager
async def watching(app: ASGIApp, *watchers: Watcher) -> AsyncIterator[list[int | None]]:
    """Yield the statuses of these requests, sent at once; then all leave."""
    async with asyncio.TaskGroup() as group:
        for one in watchers:
            group.create_task(one.ask(app))
        yield await asyncio.wait_for(asyncio.gather(*(one.status for one in watchers)), 20)
        for one in watchers:
            one.gone.set()


async def test_requests_at_once_get_no_more_streams_than_the_limit_and_give_them_back(memory: Memory) -> None:
    app, most = create_standalone_app(memory.standalone), LimitSettings().event_streams
    for _ in range(2):
        async with watching(app, *(Watcher() for _ in range(3 * most))) as statuses:
            assert (statuses.count(200), statuses.count(429)) == (most, 2 * most)
    for _ in range(most):
        async with watching(app, Watcher("after=x"), Watcher("limit=1")) as refused:
            assert refused == [422, 422]
    for _ in range(most):
        left = Watcher()
        left.gone.set()
        async with watching(app, left):
            pass  # nobody is there for an answer
    async with watching(app, *(Watcher() for _ in range(most))) as statuses:
        assert statuses == [200] * most
