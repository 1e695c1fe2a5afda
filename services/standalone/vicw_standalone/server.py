"""Runs the application under uvicorn in this event loop: ready line, signals, exit code."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import uvicorn

from vicw_standalone.app import create_standalone_app
from vicw_standalone.settings import Settings
from vicw_standalone.wiring import Standalone

_log = structlog.get_logger()


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; requests in flight are finished first.

    Raises FatalError before it listens if anything cannot be opened, OSError if the port is taken.
    """
    listener = _listen(settings.server.host, settings.server.port)
    standalone = Standalone(settings)
    await standalone.open()
    config = uvicorn.Config(
        create_standalone_app(standalone),
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=max(1, int(settings.server.shutdown_seconds)),
    )
    server = _Server(config)
    host, port = listener.getsockname()[:2]
    server.announcement = f"VICW answers on http://{host}:{port} (API: /docs), data in {settings.storage.data_dir}"
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn's server, with our signals and our word when it is ready."""

    announcement = ""

    def stop(self) -> None:
        """End gracefully; a second signal ends at once."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to ``serve``: uvicorn would end the process by the signal, not with exit code 0."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(self.announcement, flush=True)  # the line that a person, or a script, waits for


def _listen(host: str, port: int) -> socket.socket:
    """Bind first: a taken port is told before the model is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    # asyncio sets this only on sockets that name their protocol; without it Nagle holds bodies back for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    return listener
