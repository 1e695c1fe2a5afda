"""Items that pass a filter, each as its caller would send it whole: what ``POST /ingest`` and ``vicw ingest`` take.

A part of a graph is no graph: chains, merges and rules of other items go through it. So a filter exports items, from
which a store of whatever version makes its own graph.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from functools import partial
from itertools import batched
from typing import Any, NamedTuple

from vicw_ingest.patch.stored_item import StoredItem, read_stored_item
from vicw_ingest.versions.filtered_items import choose_live
from vicw_ingest.versions.item_lookup import items_by_uid
from vicw_shared.clock import now
from vicw_shared.errors import StateConflictError
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, GraphTransaction
from vicw_shared.ports.item_filter import ItemCondition

BATCH = 100
"""Items that are read while their context is locked."""


async def items_as_sent(
    graph: GraphStore, tenant: str, condition: ItemCondition
) -> AsyncIterator[tuple[Node, dict[str, Any] | None]]:
    """Yield the live items that pass, by context, in order of their arrival: the node, and the fields as JSON.

    A consolidated item comes as it was before, a linked one with the text of its source. None instead of the fields: an
    earlier version of VICW did not keep the extraction of its caller. What is changed meanwhile comes as either.
    """
    arrivals: dict[str, list[_Arrival]] = {}
    for some in batched(await choose_live(graph, tenant, condition), BATCH):
        for node in (await items_by_uid(partial(graph.nodes, tenant), some)).values():
            arrivals.setdefault(node.context, []).append(_arrived(node))
    for context, arrived in sorted(arrivals.items()):
        for batch in batched(sorted(arrived), BATCH):
            for node, stored in await graph.write(tenant, context, partial(_read, [one.uid for one in batch])):
                yield node, _fields(stored) if stored is not None else None


class _Arrival(NamedTuple):
    """The place of an item in its context's order."""

    at: datetime
    arrival: int
    key: str
    uid: str


def _arrived(node: Node) -> _Arrival:
    return _Arrival(node.created_at, node.arrival or 0, node.source_id or node.uid, node.uid)


async def _read(uids: Sequence[str], transaction: GraphTransaction) -> list[tuple[Node, StoredItem | None]]:
    read: list[tuple[Node, StoredItem | None]] = []
    for node in (await items_by_uid(transaction.nodes, uids)).values():
        try:
            read.append((node, await read_stored_item(transaction, node, now())))
        except StateConflictError:
            read.append((node, None))
    return read


def _fields(stored: StoredItem) -> dict[str, Any]:
    node, item = stored.node, stored.item
    sent = item.model_dump(mode="json", exclude_defaults=True, exclude={"merge"}, by_alias=True)
    return {"context": node.context, "domain": node.domain, **sent}
