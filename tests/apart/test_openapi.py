"""The services apart keep to their OpenAPI."""

from __future__ import annotations

import pytest

from apart.running import Platform
from e2e.openapi import RIGHTS, keeps_its_word

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


@pytest.mark.parametrize(("name", "statuses"), [("ingest", {200, 201, 404, 422}), ("retrieval", {200, 422})])
def test_a_service_does_what_its_schema_says(platform: Platform, name: str, statuses: set[int]) -> None:
    service = platform.add(f"closed-{name}", f"vicw_{name}", VICW_HOST="0.0.0.0").start()
    key = platform.vicw("keys", "create", "--platform", *RIGHTS).stdout.strip()
    seen = keeps_its_word(service.url.replace("0.0.0.0", "127.0.0.1"), key)
    assert statuses <= seen.keys(), seen
    service.kill()
