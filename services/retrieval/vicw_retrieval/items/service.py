"""Use cases of reading items: a page of those that pass a filter, and one item whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from vicw_core.filters.compiler import parse_filter
from vicw_core.filters.order import listing_place
from vicw_core.filters.plain import all_conditions
from vicw_core.page_cursor import fingerprint_of, no_cursor, read_cursor, write_cursor
from vicw_retrieval.access.scope import audience_of
from vicw_retrieval.access.viewer_identity import with_viewer_identities
from vicw_retrieval.access.visibility import texts_of
from vicw_retrieval.items.details import FoundItem, ItemReader
from vicw_retrieval.items.wire_fields import listed_item
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError
from vicw_shared.model import Node
from vicw_shared.ports import ListingQuery, Scope
from vicw_shared.ports.item_filter import EVERY
from vicw_shared.ports.item_list import ListingPlace
from vicw_shared.uids import is_uid
from vicw_shared.wire.items import ItemDetails, ItemPage, ItemsQuery, ViewerQuery
from vicw_shared.wire.viewer import Viewer


async def list_items(query: ItemsQuery, tenant: str, ports: RetrievalPorts) -> ItemPage:
    """Return a page of the items that a query chooses.

    Raises InvalidInputError for a filter or a cursor that is wrong, UnavailableError while the graph is down.
    """
    fingerprint = fingerprint_of(tenant, "items", query.model_dump(mode="json"), {"cursor", "limit"})
    item_filter = parse_filter(query.filter) if query.filter is not None else None
    condition = all_conditions(query, ports.limits, "query", domain=query.domain, tags=query.tag, chosen=item_filter)
    chosen = ListingQuery(
        scope=await viewer_scope(query, tenant, ports, query.context),
        condition=condition or EVERY,
        order=query.order,
        descending=query.direction == "desc",
        retired=query.include == "retired",
        after=_place(query.cursor, fingerprint) if query.cursor is not None else None,
    )
    items = await ports.graph.list_items(chosen, query.limit + 1)
    page, more = items[: query.limit], len(items) > query.limit
    following = write_cursor(listing_place(query.order, page[-1]), fingerprint) if more else None
    return await item_page(page, following, chosen.scope, ports)


async def item_page(items: Sequence[Node], following: str | None, scope: Scope, ports: RetrievalPorts) -> ItemPage:
    """Return a page of these items; ``following`` is the cursor of the next one."""
    texts = await texts_of(ports.graph, scope, items)
    return ItemPage(items=tuple(listed_item(item, texts.get(item.uid), scope) for item in items), next=following)


async def read_item(
    address: str, query: ViewerQuery, tenant: str, ports: RetrievalPorts, *, context: str | None
) -> ItemDetails:
    """Return an item with everything that is known of it: by its uid, or with a ``context`` by its caller's id.

    Raises MissingRecordError if there is none, or the viewer may not see it.
    """
    reader = ItemReader(ports.graph, await viewer_scope(query, tenant, ports, None), ports.registry)
    return await reader.details(await find_item(reader, address, context))


async def find_item(reader: ItemReader, address: str, context: str | None) -> FoundItem:
    """Return the visible item with this uid, or with a ``context`` this id of its caller's.

    Raises MissingRecordError if there is none, or the viewer may not see it.
    """
    found = await reader.by_id(context, address) if context is not None else None
    if found is None and is_uid(address.lower()):
        found = await reader.by_uid(address.lower())
        found = found if found is not None and context in {None, found.item.context} else None
    if found is None:
        raise MissingRecordError(f"There is no item {address!r}{f' in the context {context!r}' if context else ''}")
    return found


async def viewer_scope(query: ViewerQuery, tenant: str, ports: RetrievalPorts, context: str | None) -> Scope:
    """Return the scope of a viewer, in one context or all of the tenant."""
    viewer = None
    if query.viewer is not None or query.viewer_context is not None or "viewer_chat" in query.model_fields_set:
        viewer = Viewer(user=query.viewer, chat=query.viewer_chat, context=query.viewer_context)
    scope = Scope(
        tenant=tenant,
        now=now(),
        contexts=(context,) if context is not None else None,
        audience=audience_of(viewer) if viewer is not None else None,
    )
    return await with_viewer_identities(ports.graph, scope)


def _place(cursor: str, fingerprint: str) -> ListingPlace:
    key, arrival, uid = read_cursor(cursor, fingerprint, 3)
    if not (is_number(key) and is_number(arrival) and isinstance(uid, str) and is_uid(uid)):
        raise no_cursor()
    return ListingPlace(cast("float", key), cast("int", arrival), uid)


def is_number(value: object) -> bool:
    """Return whether a value of a cursor is a number that engines can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
