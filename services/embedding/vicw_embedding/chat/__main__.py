"""``python -m vicw_embedding.chat``: the language model of VICW_LLM_MODEL on a host and port, or on a socket.

It writes the same line to standard output as ``python -m vicw_embedding``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_embedding.process.serving import gate, listen, run
from vicw_shared.errors import SettingsError
from vicw_shared.settings import LimitSettings, LlmSettings, LogSettings, ServerSettings
from vicw_shared.settings.variables import named_by_variable

if TYPE_CHECKING:
    import argparse


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code: 0, or 78 for an error that a person has to fix."""
    return run(_serve, "python -m vicw_embedding.chat", "VICW's language model server", arguments)


def _serve(options: argparse.Namespace) -> None:
    from vicw_embedding.chat.app import create_app
    from vicw_embedding.chat.engine import ChatEngine
    from vicw_runtime.browser_guard import BrowserGuard
    from vicw_runtime.logs import configure_logs

    with named_by_variable():
        server, llm, log, limits = ServerSettings(), LlmSettings(), LogSettings(), LimitSettings()
    host, port = options.host or server.host, server.port if options.port is None else options.port
    access_gate = gate(llm.api_key, "VICW_LLM_API_KEY", None if options.uds else host)
    guard = None if options.uds else BrowserGuard.of(server, host)
    if llm.model is None:
        raise SettingsError("VICW_LLM_MODEL is not set: name a GGUF file")
    configure_logs(log)
    engine = ChatEngine(Path(llm.model).expanduser(), threads=llm.threads, context_tokens=llm.context_tokens)
    listen(create_app(engine, access_gate, limits, guard), options.uds, host, port, server.shutdown_seconds)


if __name__ == "__main__":
    sys.exit(main())
