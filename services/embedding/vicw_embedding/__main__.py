"""``python -m vicw_embedding``: the embedding server on a host and port, or on a unix domain socket.

On standard output it writes one line, ``vicw-embedding ready ADDRESS`` or ``vicw-embedding fatal REASON``,
for whoever started it; its log goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_embedding.parent import die_with
from vicw_shared import exits
from vicw_shared.errors import FatalError
from vicw_shared.settings.concerns import (
    EmbeddingSettings,
    LimitSettings,
    LogSettings,
    ServerSettings,
    StorageSettings,
)
from vicw_shared.settings.telemetry import TraceSettings
from vicw_shared.settings.variables import named_by_variable

if TYPE_CHECKING:
    import uvicorn

READY = "vicw-embedding ready"
FATAL = "vicw-embedding fatal"


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code: 0, or 78 if a person has to act."""
    options = _parser().parse_args(arguments)
    if options.parent_pid:
        die_with(options.parent_pid)
    try:
        with named_by_variable():
            server = ServerSettings()
        _serve(server, options.uds, options.host or server.host, server.port if options.port is None else options.port)
    except FatalError as error:
        _tell(f"{FATAL} {error.detail}")
        if not options.parent_pid:  # else whoever started it says it
            print(error.detail, file=sys.stderr)
        return exits.FATAL
    finally:
        if options.uds and options.parent_pid and os.getppid() != options.parent_pid:
            with contextlib.suppress(OSError):
                options.uds.parent.rmdir()  # nobody else is left to remove the socket's directory
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vicw_embedding", description="VICW's embedding server")
    parser.add_argument("--uds", type=Path, help="listen on this unix domain socket")
    parser.add_argument("--host", help="listen on this address (VICW_HOST)")
    parser.add_argument("--port", type=int, help="listen on this port (VICW_PORT)")
    parser.add_argument("--parent-pid", type=int, help="stop when this process is no longer our parent")
    return parser


def _serve(settings: ServerSettings, uds: Path | None, host: str, port: int) -> None:
    import uvicorn

    from vicw_embedding import wiring
    from vicw_embedding.app import create_app
    from vicw_shared.logs import configure_logs
    from vicw_shared.telemetry.spans import start_traces, stop_traces

    with named_by_variable():
        log, embedding, storage, limits = LogSettings(), EmbeddingSettings(), StorageSettings(), LimitSettings()
        traces = TraceSettings()
    gate = wiring.gate(embedding, None if uds else host)
    configure_logs(log)
    start_traces(traces, "vicw-embedding")
    served = wiring.load(embedding, wiring.models_dir(embedding, storage))
    config = uvicorn.Config(
        create_app(served, gate, limits),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_seconds)),
    )
    # uvicorn raises the signal again once it has shut down in good order; that must not look like a crash.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with _listen_uds(uds) if uds else _listen_tcp(host, port) as listener:
            _server(config).run(sockets=[listener])
    finally:
        served.close()
        stop_traces()
        if uds:
            uds.unlink(missing_ok=True)


def _server(config: uvicorn.Config) -> uvicorn.Server:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started and sockets:
                _tell(f"{READY} {_address(sockets[0])}")

    return Server(config)


def _listen_uds(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)  # a killed process leaves its socket behind
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    return listener


def _listen_tcp(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def _address(listener: socket.socket) -> str:
    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return str(name)
    host, port = name[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _tell(line: str) -> None:
    print(line.replace("\n", " "), flush=True)


if __name__ == "__main__":
    sys.exit(main())
