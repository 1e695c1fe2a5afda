"""``python -m vicw_retrieval``: the retrieval service on VICW_HOST and VICW_PORT."""

from __future__ import annotations

import sys

from fastapi import FastAPI

from vicw_retrieval.app import create_retrieval_app
from vicw_retrieval.settings import RetrievalServiceSettings
from vicw_retrieval.wiring import RetrievalWiring
from vicw_runtime.http.serve import run_service
from vicw_shared.settings import LogSettings, ServerSettings


def build() -> tuple[FastAPI, RetrievalWiring, ServerSettings, LogSettings]:
    """Return the application, its wiring and its settings. Raises SettingsError."""
    settings = RetrievalServiceSettings.read()
    wiring = RetrievalWiring(settings)
    return create_retrieval_app(wiring), wiring, settings.server, settings.log


if __name__ == "__main__":
    sys.exit(run_service(build, name="retrieval"))
