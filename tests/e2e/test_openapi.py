"""The one process keeps to its OpenAPI."""

from __future__ import annotations

import pytest

from e2e.conftest import Serve
from support.api.openapi import RIGHTS, check_conformance
from support.processes.server import require_clean, run

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


def test_the_server_conforms_to_its_openapi_schema(serve: Serve) -> None:
    server = serve(VICW_HOST="0.0.0.0")
    server.start()
    key = run(server, "keys", "create", *RIGHTS).stdout.strip()
    seen = check_conformance(server.url.replace("0.0.0.0", "127.0.0.1"), key)
    assert {200, 201, 404, 422} <= seen.keys(), seen
    assert server.stop() == 0
    require_clean(server)
