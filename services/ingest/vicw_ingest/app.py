"""FastAPI application of the ingest service: the write path's endpoints over the platform's engines."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI

from vicw_ingest.api import create_router
from vicw_ingest.file_import.api import create_import_router
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.keys.router import create_keys_router
from vicw_runtime.keys.service import KeyPorts
from vicw_runtime.platform.app import create_platform_app
from vicw_runtime.upkeep.router import create_run_router, create_undo_router


def create_ingest_app(wiring: IngestWiring) -> FastAPI:
    """Return the application. ``wiring`` is open before the first request; the application closes it."""

    def keys() -> KeyPorts:
        graph = wiring.engines.graph
        return KeyPorts(graph.key_ring, graph)

    return create_platform_app(
        wiring,
        [
            lambda gate: create_router(lambda: wiring.ports, gate),
            lambda gate: create_import_router(lambda: wiring.imports, gate),
            lambda gate: create_keys_router(keys, gate),
            lambda gate: create_undo_router(lambda: wiring.undo, gate),
            lambda gate: create_run_router(lambda: wiring.runs, gate),
        ],
        title="VICW ingest",
        description="**Remember** with `POST /ingest`: items become durable memory, with their causes, order, agents "
        "and proof.",
        version=version("vicw"),
        server=wiring.settings.server,
        oidc=wiring.settings.oidc,
        limits=wiring.settings.limits,
        optional={"queue": wiring.queue.probe},  # workers poll by themselves, and a waiting request needs no queue
    )
