"""Pages of a tenant's record of changes: the use case behind ``GET /audit``."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from vicw_core.changes import COUNT, KEY, place_before
from vicw_core.page_cursor import fingerprint_of, no_cursor, read_cursor, write_cursor
from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import MaintenanceStep, Scans, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.wire.changes import AuditPage, AuditQuery, AuditRecord


async def list_changes(graph: Scans, tenant: str, query: AuditQuery, since: datetime) -> AuditPage:
    """Return a page of the changes since an instant. Raises InvalidInputError for a wrong ``after``."""
    fingerprint = fingerprint_of(tenant, "audit", {})
    after = _place(query.after, fingerprint) if query.after is not None else None
    page = await graph.scan(Steps(tenant=tenant, task=AUDIT), after=after, limit=query.limit + 1)
    kept = [step for step in page if step.at >= since]
    shown = kept[: query.limit]
    last = shown[-1] if len(kept) > len(shown) and shown else None
    return AuditPage(
        records=tuple(map(_record, shown)),
        next=write_cursor((to_us(last.at), last.id), fingerprint) if last is not None else None,
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


def _place(cursor: str, fingerprint: str) -> MaintenanceStep:
    at, step_id = read_cursor(cursor, fingerprint, 2, "after")
    try:
        return replace(place_before(from_us(int(str(at)))), id=str(step_id))
    except (ValueError, OverflowError):
        raise no_cursor("after") from None
