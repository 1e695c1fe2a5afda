"""Two tenants of the separate services."""

from __future__ import annotations

import pytest

from support.api.operator_requests import ALL_RIGHTS, CHECK, ERASURE, KEYS, RUN, SLEEP, UNDO, WEBHOOKS, WITH_WEBHOOKS
from support.api.tenant_isolation import (
    CONTEXTS,
    EVENTS,
    FEEDBACK,
    GRAPH,
    IDENTITY,
    IMPORT,
    INGEST,
    ITEM,
    ITEMS,
    JOB,
    KNOWLEDGE,
    OF_AGENTS,
    OF_IMPORT,
    PATCH,
    PATCH_BY_ID,
    PATIENT,
    PROBES,
    PROFILE,
    RETRACT,
    RETRIEVE,
    SAID,
    STATS,
    SUPERSEDE,
    TIMELINE,
    USERS,
    check_isolation,
    check_queue_fairness,
    endpoints,
)
from support.processes.platform import Platform

READ = {
    RETRIEVE,
    FEEDBACK,
    SAID,
    ITEMS,
    ITEM,
    CONTEXTS,
    EVENTS,
    TIMELINE,
    USERS,
    PROFILE,
    STATS,
    SLEEP,
    CHECK,
    *GRAPH,
    *OF_AGENTS,
    *WEBHOOKS,
}
"""The endpoints of the retrieval service."""
WRITTEN = {INGEST, JOB, RETRACT, SUPERSEDE, PATCH, PATCH_BY_ID, KNOWLEDGE, *ERASURE, *IDENTITY, *KEYS, UNDO, RUN}
WRITTEN |= {IMPORT, *OF_IMPORT}
"""Those of the ingest service."""

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]


def test_tenants_are_isolated_on_every_endpoint(platform: Platform) -> None:
    variables = {"VICW_HOST": "0.0.0.0", **PATIENT, **WITH_WEBHOOKS}
    ingest = platform.add("closed-ingest", "vicw_ingest", **variables).start().url
    variables["VICW_MCP_INGEST_URL"] = ingest
    retrieval = platform.add("closed-retrieval", "vicw_retrieval", **variables).start().url
    assert endpoints(ingest) == {*WRITTEN, *PROBES}, "a new endpoint is tried by two tenants, too"
    assert endpoints(retrieval) == {*READ, *PROBES}, "a new endpoint is tried by two tenants, too"
    urls = {probe: [ingest, retrieval] for probe in PROBES}
    urls |= {endpoint: [retrieval] for endpoint in READ}
    urls |= {endpoint: [ingest] for endpoint in WRITTEN}
    ana, bob = (platform.key("--tenant", name, *ALL_RIGHTS) for name in ("ana", "bob"))
    check_isolation(urls, (ana, bob), indexed=False)


def test_a_full_backlog_share_of_one_tenant_does_not_block_another(platform: Platform) -> None:
    limits = {"VICW_INGEST_MAX_BACKLOG": "100000", "VICW_INGEST_BACKLOG_SHARE": "0.0001"}
    small = platform.add("small", "vicw_ingest", VICW_HOST="0.0.0.0", **limits).start()
    urls = {INGEST: [small.url]}
    check_queue_fairness(urls, (platform.key("--tenant", "cara"), platform.key("--tenant", "dan")), most=10)
