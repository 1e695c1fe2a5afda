"""Operation ``items/export``: items that pass a filter, as they are ingested."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vicw_core.filters.compiler import compile_in_context
from vicw_ingest.item_export.service import items_as_sent
from vicw_runtime.operations import Opening, Operation, Report, Stores
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.base import Message, RawText, StrictInt, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.filters import Filter


class ExportItemsRequest(Message):
    """Which items are exported: the live ones of a tenant that pass a filter."""

    model_config = example({"filter": {"tags": "amulet"}, "context": story.NOVEL})

    filter: Filter
    tenant: RawText = "default"
    context: RawText | None = Field(None, description="Only in this context")


class ExportedItem(Message):
    """One item with its ``context`` and ``domain``, and the fields of an item of ``POST /ingest``."""

    model_config = example(
        {
            "item": {
                "context": story.NOVEL,
                "domain": "creative",
                "id": story.BETRAYAL,
                "text": story.BETRAYAL_TEXT,
                "tags": ["amulet"],
            }
        }
    )

    item: dict[str, Any]


class ItemsExported(Message):
    """How many were exported, and how many were left out.

    These were stored with an extraction of their caller by a version of VICW that did not keep it.
    """

    model_config = example({"items": 1, "left_out": 0})

    items: StrictInt
    left_out: StrictInt


async def run_export_items(stores: Stores, request: ExportItemsRequest, report: Report[ExportedItem]) -> ItemsExported:
    """Report each item. Raises InvalidInputError for a wrong filter, and the graph's errors."""
    condition = compile_in_context(request.filter, LimitSettings(), request.context)
    done = left_out = 0
    async for _, fields in items_as_sent(stores.graph, request.tenant, condition):
        if fields is None:
            left_out += 1
            continue
        report.item(ExportedItem(item=fields))
        done += 1
        report.progress("exporting", done, done)
    return ItemsExported(items=done, left_out=left_out)


EXPORT_ITEMS = Operation(
    name="items/export",
    summary="Export items that pass a filter, as they are ingested",
    request=ExportItemsRequest,
    result=ItemsExported,
    item=ExportedItem,
    run=run_export_items,
    opening=Opening.STORES,
    owner_only=True,
)
