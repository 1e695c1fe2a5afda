"""``python -m vicw_embedding``: the embedding server on a host and port, or on a unix domain socket.

On standard output it writes one line for its parent, ``vicw-embedding ready ADDRESS`` or ``vicw-embedding fatal
REASON``; its log goes to standard error.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from vicw_embedding.process.serving import gate, listen, run
from vicw_shared.settings.concerns import EmbeddingSettings, LimitSettings, LogSettings, ServerSettings, StorageSettings
from vicw_shared.settings.telemetry import TraceSettings
from vicw_shared.settings.variables import named_by_variable

if TYPE_CHECKING:
    import argparse


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code: 0, or 78 for an error that a person has to fix."""
    return run(_serve, "python -m vicw_embedding", "VICW's embedding server", arguments)


def _serve(options: argparse.Namespace) -> None:
    from vicw_embedding import wiring
    from vicw_embedding.app import create_app
    from vicw_runtime.browser_guard import BrowserGuard
    from vicw_runtime.logs import configure_logs
    from vicw_runtime.telemetry.tracing import start_traces, stop_traces

    with named_by_variable():
        server = ServerSettings()
        log, embedding, storage, limits = LogSettings(), EmbeddingSettings(), StorageSettings(), LimitSettings()
        traces = TraceSettings()
    host, port = options.host or server.host, server.port if options.port is None else options.port
    access_gate = gate(embedding.api_key, "VICW_EMBEDDING_API_KEY", None if options.uds else host)
    guard = None if options.uds else BrowserGuard.of(server, host)
    configure_logs(log)
    start_traces(traces, "vicw-embedding")
    served = wiring.load(embedding, wiring.models_dir(embedding, storage))
    try:
        listen(create_app(served, access_gate, limits, guard), options.uds, host, port, server.shutdown_seconds)
    finally:
        served.close()
        stop_traces()


if __name__ == "__main__":
    sys.exit(main())
