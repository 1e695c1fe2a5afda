"""Entry point of every ``python -m SERVICE``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from fastapi import FastAPI

from vicw_shared.errors import VicwError
from vicw_shared.exits import exit_code
from vicw_shared.http.loop import fast_loop
from vicw_shared.http.serve import Resources, serve
from vicw_shared.logs import configure_logs
from vicw_shared.settings import LogSettings, ServerSettings, TraceSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_shared.telemetry.tracing import start_traces, stop_traces


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
