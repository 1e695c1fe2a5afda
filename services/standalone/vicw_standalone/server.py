"""Runs the application under uvicorn in this event loop: ready line, signals, exit code."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import uvicorn

from vicw_shared.errors import SettingsError
from vicw_shared.http import is_loopback
from vicw_standalone.app import create_standalone_app
from vicw_standalone.settings import Settings
from vicw_standalone.wiring import Standalone

_log = structlog.get_logger()
_NOTICED_SECONDS = 0.2
"""What uvicorn takes to notice that it should end, and pauses before it waits for the requests in flight."""


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; requests in flight are finished first, a start under way is given up.

    Raises FatalError before it listens if anything cannot be opened or the port is taken.
    """
    with _listen(settings.server.host, settings.server.port) as listener:
        standalone = Standalone(settings)
        config = uvicorn.Config(
            create_standalone_app(standalone),
            log_config=None,
            access_log=False,
            lifespan="on",
            # Annotated as int, but handed to asyncio as it is.
            timeout_graceful_shutdown=max(0.1, settings.server.shutdown_seconds - _NOTICED_SECONDS),  # type: ignore[arg-type]
        )
        server = _Server(config)
        host, port = listener.getsockname()[:2]
        server.announcement = f"VICW answers on http://{host}:{port} (API: /docs), data in {settings.storage.data_dir}"
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.stop)
        if await _opened(standalone, server):
            await _tell_of_keys(standalone)
            await server.serve(sockets=[listener])


async def _tell_of_keys(standalone: Standalone) -> None:
    if not is_loopback(standalone.settings.server.host) and not await standalone.keys.keys():
        _log.warning("requests need a key, and there is none yet: `vicw keys create` makes one")


async def _opened(standalone: Standalone, server: _Server) -> bool:
    """Open ``standalone``; return False, with everything closed again, if the server was told to stop meanwhile."""
    server.opening = asyncio.create_task(standalone.open())
    try:
        await server.opening
    except asyncio.CancelledError:
        if not server.should_exit:
            raise
    if server.should_exit:  # told in the very moment in which opening was done
        await standalone.close()
    return not server.should_exit


class _Server(uvicorn.Server):
    """uvicorn's server, with our signals and our word when it is ready."""

    announcement = ""
    opening: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """End gracefully; a second signal ends at once."""
        if self.should_exit:
            self.force_exit = True
        elif self.opening is not None:
            self.opening.cancel()  # does nothing once it is open
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
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Stop what has it, or name another with --port"
        ) from error
    # asyncio sets this only on sockets that name their protocol; without it Nagle holds bodies back for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    return listener
