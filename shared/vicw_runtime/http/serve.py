"""Server runner: serves an application with uvicorn in this event loop; entry point of ``python -m SERVICE``."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import uvicorn
from fastapi import FastAPI

from vicw_runtime.exit_codes import exit_code
from vicw_runtime.http.event_stream import with_stream_control
from vicw_runtime.listener import fast_loop, listen, on_stop_signals
from vicw_runtime.logs import configure_logs
from vicw_runtime.telemetry.tracing import start_traces, stop_traces
from vicw_shared.errors import VicwError
from vicw_shared.settings import LogSettings, ServerSettings, TraceSettings
from vicw_shared.settings.variables import named_by_variable

_GC_THRESHOLD = 10_000
"""Surviving objects after which the garbage collector looks for cycles; two questions reach Python's default, 700."""
_SHUTDOWN_DELAY_SECONDS = 0.2
"""Time until uvicorn notices a shutdown, with its pause before it waits for the requests in flight."""


class Resources(Protocol):
    """Resources of a service. ``serve`` opens them before the service answers; its application closes them."""

    async def open(self) -> None:
        """Open all resources; after an error, none stays open."""
        ...

    async def close(self) -> None:
        """Close all resources. Safe to call twice."""
        ...


class LateResources(Resources, Protocol):
    """Resources that are opened while the service answers already, and load something after that."""

    async def load(self, url: str) -> None:
        """Load what the service, which answers at ``url``, can do without for a while. A failure ends the service."""
        ...


async def serve(app: FastAPI, wiring: Resources, settings: ServerSettings, announcement: str) -> None:
    """Serve until SIGTERM or SIGINT; finish requests in flight first, cancel a start-up under way.

    ``announcement`` is printed once the server answers, with ``{url}`` filled in. Raises FatalError, before it answers,
    if a resource cannot be opened or the port is taken.
    """
    with listen(settings.host, settings.port) as listener:
        server = _server(app, listener, settings)
        if await _opened(wiring, server):
            server.on_start = lambda: _announce(announcement, listener)
            await server.serve(sockets=[listener])


async def serve_while_opening(
    app: FastAPI,
    wiring: LateResources,
    listener: socket.socket,
    settings: ServerSettings,
    announcement: str,
) -> None:
    """Serve as ``serve`` does, but from the start: until ``wiring`` is open, ``app`` has to answer without it.

    ``announcement`` is printed once ``wiring`` is open. If opening it fails, or what it loads after that, the server
    ends, and the error is raised.
    """
    server = _server(app, listener, settings)
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="server")
    try:
        if await _opened(wiring, server):
            freeze_loaded_objects()
            _announce(announcement, listener)
            server.opening = asyncio.ensure_future(wiring.load(url_of(listener)))
            await asyncio.wait({server.opening, serving}, return_when=asyncio.FIRST_COMPLETED)
            if server.opening.done() and not server.opening.cancelled():
                server.opening.result()
        await serving
    finally:
        server.stop()
        await asyncio.wait({serving})


def _announce(announcement: str, listener: socket.socket) -> None:
    print(announcement.replace("{url}", url_of(listener)), flush=True)  # people and scripts wait for this line


def url_of(listener: socket.socket) -> str:
    """Return the address of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _server(app: FastAPI, listener: socket.socket, settings: ServerSettings) -> _Server:
    config = uvicorn.Config(
        with_stream_control(app, lambda: server.should_exit),
        log_config=None,
        access_log=False,
        lifespan="on",
        # Annotated as int, but passed to asyncio unchanged.
        timeout_graceful_shutdown=max(0.1, settings.shutdown_seconds - _SHUTDOWN_DELAY_SECONDS),  # type: ignore[arg-type]
    )
    server = _Server(config)
    on_stop_signals(server.stop)
    return server


async def _opened(wiring: Resources, server: _Server) -> bool:
    """Open ``wiring``; if the server is stopped during that, close it again and return False."""
    server.opening = asyncio.ensure_future(wiring.open())
    try:
        await server.opening
    except asyncio.CancelledError:
        if not server.should_exit:
            raise
    if server.should_exit:  # stopped just as opening finished
        await wiring.close()
    return not server.should_exit


class _Server(uvicorn.Server):
    """uvicorn's server with its own signal handling and ready line."""

    on_start: Callable[[], None] | None = None
    opening: asyncio.Future[None] | None = None

    def stop(self) -> None:
        """Stop gracefully; a second signal stops at once."""
        if self.should_exit:
            self.force_exit = True
        elif self.opening is not None:
            self.opening.cancel()  # no effect once it is open
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to ``serve``: uvicorn would end the process by the signal, not with exit code 0."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.on_start is not None:
            freeze_loaded_objects()
            self.on_start()


def freeze_loaded_objects() -> None:
    """Exclude loaded objects from garbage collection: they stay, and a pass over them stops every request.

    Not even once before: of 200,000 objects a thousand are garbage, and the pass takes 0.1 s of the start. Passes are
    made rare, too: the cached part of the graph grows, and a pass over it takes longer than most answers.
    """
    gc.enable()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)


def run_service(build: Callable[[], tuple[FastAPI, Resources, ServerSettings, LogSettings]], *, name: str) -> int:
    """Build and serve; return the exit code. An expected error is printed as one line without a traceback."""
    try:
        app, wiring, server, log = build()
        configure_logs(log)
        with named_by_variable():
            start_traces(TraceSettings(), f"vicw-{name}")
        announcement = f"VICW {name} answers on {{url}} (API: /docs)"
        asyncio.run(serve(app, wiring, server, announcement), loop_factory=fast_loop())
    except VicwError as error:
        print(f"error: {error.detail}", file=sys.stderr, flush=True)
        return exit_code(error)
    finally:
        stop_traces()
    return 0
