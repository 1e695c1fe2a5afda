"""A store of a test behind a real HTTP server of this process, found by commands through its data directory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import structlog
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI
from typer.testing import CliRunner, Result

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import settings_for
from vicw_runtime.listener import listen
from vicw_shared.errors import VicwError
from vicw_shared.settings import ServerSettings
from vicw_standalone.app import create_standalone_app
from vicw_standalone.cli import app
from vicw_standalone.lifecycle.start import Start
from vicw_standalone.wiring import Standalone


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: this is no main thread."""
        yield


@asynccontextmanager
async def serve(app: FastAPI) -> AsyncIterator[str]:
    """Serve an application over HTTP; yield its address."""
    listener = listen("127.0.0.1", 0)
    server = _Server(uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def _serve_store(store: Path, host: str) -> AsyncIterator[Standalone]:
    standalone = Standalone(settings_for(store), HashEmbedder())
    standalone.settings = replace(standalone.settings, server=ServerSettings(host=host))
    start = Start(standalone)
    await start.open()
    async with serve(create_standalone_app(standalone)) as url:
        await start.load(url)
        yield standalone


@dataclass(frozen=True)
class Served:
    """A served store; its event loop runs in another thread."""

    standalone: Standalone
    portal: BlockingPortal

    def settle(self) -> None:
        """Wait until nothing waits for the index."""

        async def wait() -> None:
            async with asyncio.timeout(60):
                while (await self.standalone.graph.outbox.backlog()).waiting:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

        self.portal.call(wait)


@contextmanager
def serve_store(store: Path, host: str = "127.0.0.1") -> Iterator[Served]:
    """Serve a store from a thread, without a log; off loopback (``host``) requests need a key."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(_serve_store(store, host)) as standalone,
        ):
            yield Served(standalone, portal)
    finally:
        structlog.reset_defaults()


def command(store: Path, *words: str) -> Result:
    """Run a command on a data directory; an expected error ends it as in ``vicw``."""
    done = CliRunner().invoke(app, [*words, "--data-dir", str(store)])
    if isinstance(done.exception, VicwError):
        done.stderr_bytes = (done.stderr_bytes or b"") + f"error: {done.exception.detail}\n".encode()
    elif done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def keep_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the log as it is: loggers keep what they were given first, here a stream that ends with a command."""
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)
