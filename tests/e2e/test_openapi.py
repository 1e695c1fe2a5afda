"""The one process keeps to its OpenAPI."""

from __future__ import annotations

import pytest

from e2e.conftest import Serve
from support.api.openapi import RIGHTS, keeps_its_word
from support.processes.server import require_clean, run

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


def test_the_server_does_what_its_schema_says(serve: Serve) -> None:
    server = serve(VICW_HOST="0.0.0.0")
    server.start()
    key = run(server, "keys", "create", *RIGHTS).stdout.strip()
    seen = keeps_its_word(server.url.replace("0.0.0.0", "127.0.0.1"), key)
    assert {200, 201, 404, 422} <= seen.keys(), seen
    assert server.stop() == 0
    require_clean(server)
