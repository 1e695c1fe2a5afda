"""Record of changes: who changed how many items when, never which, and never a text.

A record is a step of the maintenance log without a context, written by the transaction that makes the change.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from operator import methodcaller

from vicw_core.step_pages import place_before
from vicw_shared.clock import now
from vicw_shared.ports import GraphStore, GraphTransaction, MaintenanceStep, Outcome, Steps, Store
from vicw_shared.ports.sleep import AUDIT

KEY, COUNT = "key", "count"
_BATCH = 500


class ChangeKind(StrEnum):
    """What was done.

    Items are updated, patched, retracted, erased or superseded; entities merged, split, identified or renamed; steps of
    the sleep cycle undone, its jobs run by request, and auto-tags wiped; webhooks made, removed, or given another
    secret; keys made and revoked; indexes rebuilt or dropped; what failed is tried again.
    """

    UPDATE = "update"
    PATCH = "patch"
    RETRACT = "retract"
    ERASE = "erase"
    MERGE = "merge"
    SPLIT = "split"
    IDENTIFY = "identify"
    RENAME = "rename"
    SUPERSEDE = "supersede"
    UNDO = "undo"
    RUN = "run"
    MAKE_WEBHOOK = "make-webhook"
    REMOVE_WEBHOOK = "remove-webhook"
    ROTATE_WEBHOOK = "rotate-webhook"
    MAKE_KEY = "make-key"
    REVOKE_KEY = "revoke-key"
    WIPE = "wipe"
    REINDEX = "reindex"
    DROP_INDEXES = "drop-indexes"
    REPLAY = "replay"


async def record_change(
    transaction: GraphTransaction, tenant: str, kind: ChangeKind, count: int, *, key: str | None, at: datetime
) -> None:
    """Record a change by the key with this id (None: no key was needed)."""
    details = {KEY: key, COUNT: count}
    step = MaintenanceStep(
        id=str(uuid.uuid4()),
        tenant=tenant,
        context="",
        task=AUDIT,
        outcome=Outcome.DONE,
        at=at,
        subject="",
        reason=kind,
        details=details,
    )
    await transaction.log_step(step)


async def record_change_now(graph: GraphStore, tenant: str, kind: ChangeKind, *, key: str | None) -> None:
    """Record a change of one thing in a transaction of its own: of what no transaction of the graph makes."""
    at = now()
    await graph.write(tenant, "", lambda transaction: record_change(transaction, tenant, kind, 1, key=key, at=at))


async def forget_changes(graph: Store, before: datetime) -> int:
    """Remove the records of all tenants made before an instant; return how many."""
    forgotten = 0
    while page := await graph.scan(Steps(task=AUDIT), after=place_before(before), limit=_BATCH):
        by_tenant: dict[str, list[str]] = {}
        for step in page:
            by_tenant.setdefault(step.tenant, []).append(step.id)
        for tenant, ids in by_tenant.items():
            await graph.write(tenant, "", methodcaller("drop_steps", ids))
        forgotten += len(page)
    return forgotten
