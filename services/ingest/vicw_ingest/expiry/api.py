"""Operation ``sleep/expire``."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from vicw_ingest.expiry.service import Expiry
from vicw_runtime.operations import Memory, Operation, Report
from vicw_shared.clock import now
from vicw_shared.wire.base import Message, StrictBool, StrictInt, example
from vicw_shared.wire.examples import story

LISTED = 1000
"""Items that a dry run lists."""


class ExpireRequest(Message):
    """Retire the items whose ``expires_at`` has passed."""

    model_config = example({"dry_run": True})

    dry_run: StrictBool = Field(False, description="Only show what would be retired")


class ExpiredItem(Message):
    """An item that would be retired."""

    model_config = example(
        {"context": story.NOVEL, "id": story.OLD_HOME, "name": "Ana", "expires_at": story.NEW_HOME_AT}
    )

    context: str
    id: str
    name: str
    expires_at: datetime | None


class ExpireResult(Message):
    """The number of items ``retired``, or that would be; ``more`` would be than are listed."""

    model_config = example({"retired": 1})

    retired: StrictInt
    more: StrictBool = False


async def run(memory: Memory, request: ExpireRequest, report: Report[ExpiredItem]) -> ExpireResult:
    """Retire expired items, or list the first of them."""
    if not request.dry_run:
        return ExpireResult(retired=await Expiry(memory.graph, memory.registry, memory.queue).drain())
    items = await memory.graph.expired(now(), limit=LISTED + 1)
    for item in items[:LISTED]:
        report.item(
            ExpiredItem(context=item.context, id=item.source_id or item.uid, name=item.name, expires_at=item.expires_at)
        )
    return ExpireResult(retired=len(items[:LISTED]), more=len(items) > LISTED)


EXPIRE_ITEMS = Operation(
    name="sleep/expire",
    summary="Retire the items whose expires_at has passed",
    request=ExpireRequest,
    result=ExpireResult,
    item=ExpiredItem,
    run=run,
    owner_only=True,
)
