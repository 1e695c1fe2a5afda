"""``python -m vicw_embedding.rerank``: the cross-encoder of VICW_RERANK_MODEL on a host and port, or on a socket.

It tells whoever started it the same as ``python -m vicw_embedding`` does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_embedding.serving import listen, run
from vicw_shared.errors import SettingsError
from vicw_shared.settings import LimitSettings, LogSettings, RerankSettings, ServerSettings
from vicw_shared.settings.variables import named_by_variable

if TYPE_CHECKING:
    import argparse


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code: 0, or 78 if a person has to act."""
    return run(_serve, "python -m vicw_embedding.rerank", "VICW's server of a cross-encoder", arguments)


def _serve(options: argparse.Namespace) -> None:
    from vicw_embedding.rerank.app import create_app
    from vicw_embedding.rerank.engine import RerankEngine
    from vicw_shared.http import SecretGate, is_loopback
    from vicw_shared.logs import configure_logs

    with named_by_variable():
        server, rerank, log, limits = ServerSettings(), RerankSettings(), LogSettings(), LimitSettings()
    host, port = options.host or server.host, server.port if options.port is None else options.port
    secret = rerank.api_key.get_secret_value().strip() if rerank.api_key is not None else None
    if not secret and not options.uds and not is_loopback(host):
        raise SettingsError(
            "VICW_RERANK_API_KEY is not set: without it this server listens on loopback or a socket only"
        )
    if rerank.model is None:
        raise SettingsError("VICW_RERANK_MODEL is not set: name a cross-encoder's GGUF file")
    configure_logs(log)
    engine = RerankEngine(Path(rerank.model).expanduser(), threads=rerank.threads, queue_requests=rerank.queue_requests)
    gate = SecretGate(secret or None, variable="VICW_RERANK_API_KEY")
    listen(create_app(engine, gate, limits, rerank.documents), options.uds, host, port, server.shutdown_seconds)


if __name__ == "__main__":
    sys.exit(main())
