"""Use case of a context's timeline: by time, or along the chain of a flow."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

from vicw_core.filters.predicate import told_at
from vicw_core.page_cursor import fingerprint_of, no_cursor, read_cursor, write_cursor
from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.items.service import is_number, item_page, list_items, viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.clock import from_us
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError
from vicw_shared.model import Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import Flow, FlowEvents, ListingQuery
from vicw_shared.ports.scan import scan_pages
from vicw_shared.wire.items import ItemPage, ItemsQuery
from vicw_shared.wire.timeline import TimelineQuery

_FREE = {"cursor", "limit"}
_READ = 100
"""Least items of a flow that are read together: a viewer may see few of many."""


async def read_timeline(context: str, query: TimelineQuery, tenant: str, ports: RetrievalPorts) -> ItemPage:
    """Return a page of a context's items in order of time, or of a flow's in the order of its NEXT chain.

    Raises MissingRecordError for a context without an item that the viewer may see, live or retired, InvalidInputError
    for a wrong cursor, or an order of a flow without one, UnavailableError while the graph is down.
    """
    if query.order == "flow" and query.flow is None:
        raise InvalidInputError(FieldProblem("flow", "is missing: `order=flow` follows one", "Name the flow"))
    if query.flow is not None and query.order in {None, "flow"}:
        page = await _along_flow(Flow(tenant, context, query.flow), query, ports)
    else:
        page = await list_items(_listing(context, query), tenant, ports)
    if not page.items:
        scope = await viewer_scope(query, tenant, ports, context)
        if not await ports.graph.list_items(ListingQuery(scope=scope, retired=True), 1):
            raise MissingRecordError(f"There is no context {context!r}")
    return page


async def _along_flow(flow: Flow, query: TimelineQuery, ports: RetrievalPorts) -> ItemPage:
    """Return a page of the live items of a flow that the viewer may see, in the order of the flow's NEXT chain."""
    fingerprint = fingerprint_of(flow.tenant, f"flow of {flow.context}", query.model_dump(mode="json"), _FREE)
    after = _place(query.cursor, fingerprint) if query.cursor is not None else None
    scope = await viewer_scope(query, flow.tenant, ports, flow.context)
    visibility = Visibility(ports.graph, replace(scope, with_past=True))
    chain, limit = FlowEvents(flow, descending=query.direction == "desc"), query.limit
    items: list[Node] = []
    async for events in scan_pages(ports.graph, chain, after=after, limit=max(limit + 1, _READ)):
        items += [event for event in await visibility.nodes(events) if _within(event, query)]
        if len(items) > limit:
            break
    following = write_cursor(chain.place(items[limit - 1]), fingerprint) if len(items) > limit else None
    return await item_page(items[:limit], following, scope, ports)


def _within(event: Node, query: TimelineQuery) -> bool:
    told = from_us(told_at(event))
    return (query.since is None or told >= query.since) and (query.until is None or told < query.until)


def _place(cursor: str, fingerprint: str) -> ChainKey:
    numbers = read_cursor(cursor, fingerprint, 4)
    if not all(isinstance(number, int) and is_number(number) for number in numbers):
        raise no_cursor()
    return cast("ChainKey", tuple(numbers))


def _listing(context: str, query: TimelineQuery) -> ItemsQuery:
    shared: dict[str, Any] = query.model_dump(exclude={"order", "since", "until"}, exclude_unset=True)
    window = {"gte": query.since, "lt": query.until}
    order = query.order or "told"
    bounds: dict[str, Any] = {name: at.isoformat() for name, at in window.items() if at is not None}
    if order == "happened":
        bounds["exists"] = True  # what has no time has no place in this order
    return ItemsQuery(
        **{"direction": query.direction, **shared},
        context=context,
        order=ItemOrder(order),
        filter=json.dumps({order: bounds}) if bounds else None,
    )
