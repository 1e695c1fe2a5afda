"""Two tenants in the one process."""

from __future__ import annotations

import pytest

from e2e.conftest import Serve
from support.api.operator_requests import ALL_RIGHTS, WITH_WEBHOOKS
from support.api.tenant_isolation import PATIENT, TRIED, check_isolation, endpoints
from support.processes.server import require_clean, run

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]


def test_tenants_are_isolated_on_every_endpoint(serve: Serve) -> None:
    server = serve(VICW_HOST="0.0.0.0", **PATIENT, **WITH_WEBHOOKS)
    server.start()
    url = server.url.replace("0.0.0.0", "127.0.0.1")
    assert endpoints(url) == TRIED, "a new endpoint is tried by two tenants, too"
    ana, bob = (run(server, "keys", "create", "--tenant", name, *ALL_RIGHTS).stdout.strip() for name in ("ana", "bob"))
    check_isolation({endpoint: [url] for endpoint in TRIED}, (ana, bob), indexed=True)
    assert server.stop() == 0
    require_clean(server)
