"""``vicw serve``."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from vicw_runtime.listener import fast_loop, listen, on_stop_signals
from vicw_runtime.logs import configure_logs
from vicw_standalone.embedding_model.process import first_process
from vicw_standalone.settings import StandaloneSettings, read_settings


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. \\[default: 127.0.0.1, or VICW_HOST]")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port; 0 takes a free one. \\[default: 8080, or VICW_PORT]", min=0, max=65535)
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Data directory. \\[default: ~/.local/share/vicw, or VICW_DATA_DIR]"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Embedding model: a name that `vicw model list` shows, or a GGUF's path. \\[or VICW_EMBEDDING_MODEL]"
        ),
    ] = None,
) -> None:
    """Serve the memory in one process: no other server, no LLM, no network.

    POST /ingest stores items, POST /retrieve finds them; /docs describes both. Ctrl-C or SIGTERM finishes the
    requests in flight and stops. Every setting can come from the environment (VICW_…); .env.example lists them all.
    """
    for number in (signal.SIGTERM, signal.SIGINT):  # until the event loop runs; there is nothing to end yet
        signal.signal(number, lambda *_: sys.exit(0))
    settings = read_settings(host=host, port=port, data_dir=data_dir, model=model)
    configure_logs(settings.log)
    gc.disable()  # until the server answers: imports make much and no garbage
    # A signal before the server has its own handler cancels what runs.
    with listen(settings.server.host, settings.server.port) as listener, contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(settings, listener), loop_factory=fast_loop())


async def _serve(settings: StandaloneSettings, listener: socket.socket) -> None:
    """Start the model's process, then import and run the server: the two take the longest."""
    starting = asyncio.current_task()
    assert starting is not None
    on_stop_signals(starting.cancel)
    process = first_process(settings)
    try:
        if process is not None:
            await process.begin()
        from vicw_runtime.telemetry.tracing import start_traces, stop_traces
        from vicw_standalone.app import serve as run_server

        start_traces(settings.traces, "vicw")
        try:
            await run_server(settings, listener, process)
        finally:
            stop_traces()
    finally:
        if process is not None:
            await process.close()
