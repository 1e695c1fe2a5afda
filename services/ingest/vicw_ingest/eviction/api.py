"""Operation ``forget/capacity``."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from vicw_ingest.eviction.job import eviction_of
from vicw_ingest.eviction.policy import EvictionPolicy
from vicw_runtime.operations import Memory, Operation, Report
from vicw_shared.clock import now
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Node
from vicw_shared.wire.base import Message, StrictBool, StrictInt, example
from vicw_shared.wire.examples import story

_ALL = 1_000_000


class EvictRequest(Message):
    """Erase the items of least weight from tenants with more items than allowed."""

    model_config = example({"items": 100000, "dry_run": True})

    items: StrictInt | None = Field(None, ge=1, description="Maximum number of items of a tenant (null: the setting)")
    dry_run: StrictBool = Field(False, description="Only show what would be erased")


class EvictedItem(Message):
    """An evicted item and its weight, in [0, 1]."""

    model_config = example({"context": story.NOVEL, "id": story.OLD_HOME, "name": "Ana", "weight": 0.12})

    context: str
    id: str
    name: str
    weight: float


class EvictResult(Message):
    """The number of items ``erased``, or that would be."""

    model_config = example({"erased": 1})

    erased: StrictInt


async def run(memory: Memory, request: EvictRequest, report: Report[EvictedItem]) -> EvictResult:
    """Evict, batch by batch. Raises InvalidInputError if there is no limit."""
    limit = request.items or memory.settings.eviction.items
    if not limit:
        raise InvalidInputError(FieldProblem("items", "no limit is set", "Name one, or set VICW_EVICTION_ITEMS"))
    settings = memory.settings.eviction.model_copy(update={"items": limit})
    policy = EvictionPolicy.of(settings)

    def show(item: Node, weight: float) -> None:
        report.item(EvictedItem(context=item.context, id=item.source_id or item.uid, name=item.name, weight=weight))

    eviction = replace(eviction_of(memory), on_evicted=show)
    batch = _ALL if request.dry_run else settings.batch
    done = await eviction.run(policy, now=now(), dry=request.dry_run, limit=batch)
    while done.more:
        done.add(await eviction.run(policy, now=now(), limit=batch))
    return EvictResult(erased=done.erased)


EVICT_ITEMS = Operation(
    name="forget/capacity",
    summary="Erase the items of least weight from tenants over their limit",
    request=EvictRequest,
    result=EvictResult,
    item=EvictedItem,
    run=run,
    owner_only=True,
)
