"""The tests of tenants on the separate services name all endpoints of these; here no server is needed to see it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI

from apart.test_tenants import READ, WRITTEN
from support.api.tenant_isolation import MCP, PROBES, TRIED
from vicw_ingest.app import create_ingest_app
from vicw_retrieval.app import create_retrieval_app
from vicw_shared.settings import HookSettings, LimitSettings, OidcSettings, ServerSettings


@pytest.fixture
def wiring() -> Any:
    settings = SimpleNamespace(
        server=ServerSettings(), limits=LimitSettings(), oidc=OidcSettings(), hooks=HookSettings()
    )
    return SimpleNamespace(settings=settings, queue=SimpleNamespace(probe=None))


def endpoints(app: FastAPI) -> set[str]:
    return {f"{method.upper()} {path}" for path, methods in app.openapi()["paths"].items() for method in methods}


def test_each_endpoint_of_the_services_is_tried_by_two_tenants(wiring: Any) -> None:
    assert endpoints(create_ingest_app(wiring)) == {*WRITTEN, *PROBES}
    assert endpoints(create_retrieval_app(wiring)) == {*READ, *PROBES} - {MCP}
    assert {*READ, *WRITTEN} <= TRIED
