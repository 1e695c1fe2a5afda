"""HTTP endpoint of the record of changes. Its right is ``audit``, of the key's own tenant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request

from vicw_ingest.audit.service import list_changes
from vicw_ingest.pipeline import IngestPorts
from vicw_runtime.http import Gate, refusals, tenant_of
from vicw_shared.clock import now
from vicw_shared.model.keys import Right
from vicw_shared.wire.changes import AuditPage, AuditQuery


def add_audit_route(router: APIRouter, ports: Callable[[], IngestPorts], gate: Gate) -> None:
    """Add the route. Each request calls ``ports`` anew."""

    async def get_audit(http: Request, query: Annotated[AuditQuery, Query()]) -> AuditPage:
        of = ports()
        return await list_changes(of.graph, tenant_of(http), query, of.settings.audit_before(now()))

    router.add_api_route(
        "/audit",
        get_audit,
        methods=["GET"],
        tags=["audit"],
        operation_id="list_changes",
        summary="List who changed and erased how much",
        responses=refusals(401, 403, 422, 503),
        route_class_override=gate.route(Right.AUDIT),
    )
