"""Entry point ``python -m vicw_ingest``: run the ingest service on VICW_HOST and VICW_PORT."""

from __future__ import annotations

import sys

from fastapi import FastAPI

from vicw_ingest.app import create_ingest_app
from vicw_ingest.settings import IngestServiceSettings
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.http.serve import run_service
from vicw_shared.settings import LogSettings, ServerSettings


def build() -> tuple[FastAPI, IngestWiring, ServerSettings, LogSettings]:
    """Return the application with its wiring, server settings and log settings. Raises SettingsError."""
    settings = IngestServiceSettings.read()
    wiring = IngestWiring(settings)
    return create_ingest_app(wiring), wiring, settings.server, settings.log


if __name__ == "__main__":
    sys.exit(run_service(build, name="ingest"))
