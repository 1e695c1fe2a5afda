"""``POST /mcp``: admits a request, finds its scope, and hands it to the SDK, which is loaded with the first one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from vicw_core.background import in_thread
from vicw_runtime.http import Gate
from vicw_runtime.mcp.port import McpPorts
from vicw_runtime.mcp.scope import ConnectionScope
from vicw_shared.errors import UnavailableError

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATHS = ("/mcp", "/mcp/{context:path}")
_SEARCHING_CLIENTS = ("openai-mcp",)
"""Beginnings of the ``User-Agent`` of clients that want ``search`` and ``fetch``."""


class McpEndpoint:
    """The endpoint (ASGI). ``opened`` is awaited before anything is read or written."""

    def __init__(
        self,
        ports: McpPorts,
        gate: Gate,
        max_body_bytes: int,
        opened: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._gate = gate
        self._routes = [Route(path, self, methods=["POST"], include_in_schema=False) for path in PATHS]
        self._opened = opened
        self._sessions = {searches: _Sessions(ports, max_body_bytes, searches=searches) for searches in (False, True)}

    def mount(self, app: Starlette) -> None:
        """Add the endpoint's routes. Only requests by POST: no stream is kept open, and no session to delete."""
        app.router.routes += self._routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises UnauthorizedError, or UnavailableError without the SDK."""
        request = Request(scope, receive, send)
        scope["route"] = self._routes["context" in request.path_params]  # what logs and metrics call it
        request.state.caller = await self._gate.admit(request, None)
        request.state.mcp_scope = ConnectionScope.of(request.path_params.get("context", ""), request.headers)
        if self._opened is not None:
            await self._opened()
        sessions = await self._sessions[_wants_search(request)].running()
        await sessions.handle_request(scope, receive, send)

    async def close(self) -> None:
        """End what the SDK runs in the background. Safe to call twice."""
        for sessions in self._sessions.values():
            await sessions.close()


def _wants_search(request: Request) -> bool:
    """Return whether a client wants ``search`` and ``fetch``: it says so in its address, or is known to."""
    agent = request.headers.get("user-agent", "").lower()
    return "search" in request.query_params or agent.startswith(_SEARCHING_CLIENTS)


class _Sessions:
    """The SDK's session manager, in a task of its own from the first request to the end."""

    def __init__(self, ports: McpPorts, max_body_bytes: int, *, searches: bool) -> None:
        self._build = lambda: _load(ports, max_body_bytes, searches=searches)
        self._lock = asyncio.Lock()
        self._end = asyncio.Event()
        self._manager: StreamableHTTPSessionManager | None = None
        self._task: asyncio.Task[None] | None = None

    async def running(self) -> StreamableHTTPSessionManager:
        """Return the manager, which runs. Raises UnavailableError without the SDK."""
        async with self._lock:
            if self._manager is None:
                manager = await in_thread(self._build)  # a second of imports
                runs = asyncio.get_running_loop().create_future()
                self._task = asyncio.create_task(self._run(manager, runs), name="mcp")
                await asyncio.shield(runs)  # raises what keeps it from running
                self._manager = manager
        return self._manager

    async def _run(self, manager: StreamableHTTPSessionManager, runs: asyncio.Future[None]) -> None:
        try:
            async with manager.run():
                runs.set_result(None)
                await self._end.wait()
        except Exception as error:
            if runs.done():
                raise
            runs.set_exception(error)

    async def close(self) -> None:
        self._end.set()
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await self._task


def _load(ports: McpPorts, max_body_bytes: int, *, searches: bool) -> StreamableHTTPSessionManager:
    try:
        from vicw_runtime.mcp.sdk_server import build_sessions
    except ModuleNotFoundError as error:
        if error.name not in {"mcp", "mcp_types"}:
            raise
        raise UnavailableError("mcp", "the MCP SDK is not installed: `pip install 'mcp>=2.3,<3'`") from error
    return build_sessions(ports, max_body_bytes, searches=searches)
