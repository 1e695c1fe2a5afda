"""Pages of a tenant's record of changes: the use case behind ``GET /audit``."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from datetime import datetime

from vicw_core.changes import COUNT, KEY, place_before
from vicw_shared.clock import from_us, to_us
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.ports import MaintenanceStep, Scans, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.wire.changes import AuditPage, AuditQuery, AuditRecord


async def list_changes(graph: Scans, tenant: str, query: AuditQuery, since: datetime) -> AuditPage:
    """Return a page of the changes since an instant. Raises InvalidInputError for an ``after`` of no page."""
    after = _place(query.after) if query.after is not None else None
    page = await graph.scan(Steps(tenant=tenant, task=AUDIT), after=after, limit=query.limit + 1)
    kept = [step for step in page if step.at >= since]
    shown = kept[: query.limit]
    return AuditPage(
        records=tuple(map(_record, shown)), next=_cursor(shown[-1]) if len(kept) > len(shown) and shown else None
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


def _cursor(step: MaintenanceStep) -> str:
    return base64.urlsafe_b64encode(f"{to_us(step.at)}:{step.id}".encode()).decode()


def _place(cursor: str) -> MaintenanceStep:
    try:
        at, _, step_id = base64.urlsafe_b64decode(cursor).decode("ascii").partition(":")
        return replace(place_before(from_us(int(at))), id=step_id)
    except (ValueError, OverflowError, binascii.Error) as error:
        raise InvalidInputError(
            FieldProblem("after", "is no place of a page", "Send `next` of the page before, or leave it out")
        ) from error
