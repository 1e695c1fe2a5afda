"""``python -m vicw_embedding.chat``: the language model of VICW_LLM_MODEL on a host and port, or on a socket.

It tells whoever started it the same as ``python -m vicw_embedding`` does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_embedding.serving import listen, run
from vicw_shared.errors import SettingsError
from vicw_shared.settings import LimitSettings, LlmSettings, LogSettings, ServerSettings
from vicw_shared.settings.variables import named_by_variable

if TYPE_CHECKING:
    import argparse


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code: 0, or 78 if a person has to act."""
    return run(_serve, "python -m vicw_embedding.chat", "VICW's server of a language model", arguments)


def _serve(options: argparse.Namespace) -> None:
    from vicw_embedding.chat.app import create_app
    from vicw_embedding.chat.engine import ChatEngine
    from vicw_shared.http import SecretGate, is_loopback
    from vicw_shared.logs import configure_logs

    with named_by_variable():
        server, llm, log, limits = ServerSettings(), LlmSettings(), LogSettings(), LimitSettings()
    host, port = options.host or server.host, server.port if options.port is None else options.port
    secret = llm.api_key.get_secret_value().strip() if llm.api_key is not None else None
    if not secret and not options.uds and not is_loopback(host):
        raise SettingsError("VICW_LLM_API_KEY is not set: without it this server listens on loopback or a socket only")
    if llm.model is None:
        raise SettingsError("VICW_LLM_MODEL is not set: name a GGUF file")
    configure_logs(log)
    engine = ChatEngine(Path(llm.model).expanduser(), threads=llm.threads, context_tokens=llm.context_tokens)
    gate = SecretGate(secret or None, variable="VICW_LLM_API_KEY")
    listen(create_app(engine, gate, limits), options.uds, host, port, server.shutdown_seconds)


if __name__ == "__main__":
    sys.exit(main())
