"""The separate services keep to their OpenAPI."""

from __future__ import annotations

import pytest

from support.api.openapi import RIGHTS, check_conformance
from support.api.tenant_isolation import PATIENT
from support.processes.platform import Platform

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


@pytest.mark.parametrize(("name", "statuses"), [("ingest", {200, 201, 404, 422}), ("retrieval", {200, 422})])
def test_a_service_conforms_to_its_openapi_schema(platform: Platform, name: str, statuses: set[int]) -> None:
    service = platform.add(f"closed-{name}", f"vicw_{name}", VICW_HOST="0.0.0.0", **PATIENT).start()
    seen = check_conformance(service.url, platform.key(*RIGHTS))
    assert statuses <= seen.keys(), seen
    service.kill()
