"""Pages of a tenant's record of changes: the use case behind ``GET /audit``."""

from __future__ import annotations

from datetime import datetime

from vicw_core.changes import COUNT, KEY
from vicw_core.page_cursor import fingerprint_of
from vicw_core.step_pages import cursor_of, place_of
from vicw_shared.ports import MaintenanceStep, Scans, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.wire.changes import AuditPage, AuditQuery, AuditRecord


async def list_changes(graph: Scans, tenant: str, query: AuditQuery, since: datetime) -> AuditPage:
    """Return a page of the changes since an instant. Raises InvalidInputError for a wrong ``after``."""
    fingerprint = fingerprint_of(tenant, "audit", {})
    after = place_of(query.after, fingerprint)
    page = await graph.scan(Steps(tenant=tenant, task=AUDIT), after=after, limit=query.limit + 1)
    kept = [step for step in page if step.at >= since]
    shown = kept[: query.limit]
    last = shown[-1] if len(kept) > len(shown) and shown else None
    return AuditPage(
        records=tuple(map(_record, shown)), next=cursor_of(last, fingerprint) if last is not None else None
    )


def _record(step: MaintenanceStep) -> AuditRecord:
    key, count = step.details.get(KEY), step.details.get(COUNT)
    return AuditRecord(
        id=step.id,
        at=step.at,
        kind=step.reason,
        key=str(key) if key is not None else None,
        count=count if isinstance(count, int) else 0,
    )
