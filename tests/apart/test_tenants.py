"""Two tenants of the services apart."""

from __future__ import annotations

import pytest

from apart.running import Platform
from e2e.tenants import INGEST, JOB, PATIENT, PROBES, RETRIEVE, endpoints, leave_each_other_alone

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]


def test_tenants_leave_each_other_alone_on_every_endpoint(platform: Platform) -> None:
    closed = {
        name: platform.add(f"closed-{name}", f"vicw_{name}", VICW_HOST="0.0.0.0", **PATIENT).start()
        for name in ("ingest", "retrieval")
    }
    ingest, retrieval = (closed[name].url for name in ("ingest", "retrieval"))
    assert endpoints(ingest) == {INGEST, JOB, *PROBES}, "a new endpoint is tried by two tenants, too"
    assert endpoints(retrieval) == {RETRIEVE, *PROBES}, "a new endpoint is tried by two tenants, too"
    ana, bob = (platform.key("--tenant", name) for name in ("ana", "bob"))
    urls = {probe: [ingest, retrieval] for probe in PROBES} | {INGEST: [ingest], JOB: [ingest], RETRIEVE: [retrieval]}
    leave_each_other_alone(urls, (ana, bob), indexed=False)
