"""Items that pass a filter, each as its caller would send it whole: what ``POST /ingest`` and ``vicw ingest`` take.

A part of a graph is no graph: chains, merges and rules of other items go through it. So a filter exports items, from
which a store of whatever version makes its own graph.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from functools import partial
from itertools import batched
from typing import Any

from vicw_ingest.patch.stored_item import StoredItem, read_stored_item
from vicw_ingest.versions.filtered_items import choose_filtered
from vicw_shared.clock import now
from vicw_shared.errors import StateConflictError
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, GraphTransaction
from vicw_shared.ports.item_filter import ItemCondition

_BATCH = 100
"""Items that are read while their context is locked."""


async def items_as_sent(
    graph: GraphStore, tenant: str, condition: ItemCondition
) -> AsyncIterator[tuple[Node, dict[str, Any] | None]]:
    """Yield the live items that pass, by context, in order of their arrival: the node, and the fields as JSON.

    A consolidated item comes as it was before, a linked one with the text of its source. None instead of the fields: an
    earlier version of VICW did not keep the extraction of its caller. What is changed meanwhile comes as either.
    """
    passing = await choose_filtered(graph, tenant, condition)
    for context, uids in sorted(passing.by_context.items()):
        ordered = sorted((passing.items[uid] for uid in uids), key=_arrived)
        for batch in batched(ordered, _BATCH):
            read = await graph.write(tenant, context, partial(_read, batch))
            for node in batch:
                if node.uid in read:
                    stored = read[node.uid]
                    yield node, _fields(stored) if stored is not None else None


def _arrived(node: Node) -> tuple[datetime, int, str]:
    return node.created_at, node.arrival or 0, node.source_id or node.uid


async def _read(nodes: tuple[Node, ...], transaction: GraphTransaction) -> Mapping[str, StoredItem | None]:
    read: dict[str, StoredItem | None] = {}
    for node in nodes:
        try:
            read[node.uid] = await read_stored_item(transaction, node, now())
        except StateConflictError:
            read[node.uid] = None
    return read


def _fields(stored: StoredItem) -> dict[str, Any]:
    node, item = stored.node, stored.item
    sent = item.model_dump(mode="json", exclude_defaults=True, exclude={"merge"}, by_alias=True)
    return {"context": node.context, "domain": node.domain, **sent}
