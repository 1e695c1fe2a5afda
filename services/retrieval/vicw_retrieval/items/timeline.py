"""Use case of a context's timeline."""

from __future__ import annotations

import json
from typing import Any

from vicw_retrieval.items.service import list_items, viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.errors import MissingRecordError
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import ListingQuery
from vicw_shared.wire.items import ItemPage, ItemsQuery
from vicw_shared.wire.timeline import TimelineQuery


async def read_timeline(context: str, query: TimelineQuery, tenant: str, ports: RetrievalPorts) -> ItemPage:
    """Return a page of a context's items in order of time.

    Raises MissingRecordError for a context without an item that the viewer may see, live or retired, InvalidInputError
    for a wrong cursor, UnavailableError while the graph is down.
    """
    page = await list_items(_listing(context, query), tenant, ports)
    if not page.items:
        scope = await viewer_scope(query, tenant, ports, context)
        if not await ports.graph.list_items(ListingQuery(scope=scope, retired=True), 1):
            raise MissingRecordError(f"There is no context {context!r}")
    return page


def _listing(context: str, query: TimelineQuery) -> ItemsQuery:
    shared: dict[str, Any] = query.model_dump(exclude={"order", "since", "until"}, exclude_unset=True)
    window = {"gte": query.since, "lt": query.until}
    bounds: dict[str, Any] = {name: at.isoformat() for name, at in window.items() if at is not None}
    if query.order == "happened":
        bounds["exists"] = True  # what has no time has no place in this order
    return ItemsQuery(
        **{"direction": query.direction, **shared},
        context=context,
        order=ItemOrder(query.order),
        filter=json.dumps({query.order: bounds}) if bounds else None,
    )
