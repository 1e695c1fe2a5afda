"""The orders in which items are listed. Each gives every item a place of its own."""

from __future__ import annotations

from vicw_core.filters.predicate import arrived_at, happened_at, told_at
from vicw_shared.model import Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports.item_filter import (
    ARRIVAL,
    HAPPENED,
    IMPORTANCE,
    TOLD,
    Between,
    ItemCondition,
    OneOf,
    required_in,
)
from vicw_shared.ports.item_list import ListingPlace, ListingQuery

NO_TIME = -9_000_000_000_000_000_000
"""Key of an item without a time that its caller gave: before every time."""
NO_IMPORTANCE = -1.0
"""Key of an item without an importance: below every importance."""


def listing_place(order: ItemOrder, item: Node) -> ListingPlace:
    """Return an item's place in an order."""
    return ListingPlace(_key(order, item), item.arrival or 0, item.uid)


def _key(order: ItemOrder, item: Node) -> float:
    if order is ItemOrder.TOLD:
        return told_at(item)
    if order is ItemOrder.HAPPENED:
        happened = happened_at(item)
        return NO_TIME if happened is None else happened
    if order is ItemOrder.ARRIVAL:
        return arrived_at(item)
    return NO_IMPORTANCE if item.importance is None else item.importance


_ORDERED = {
    TOLD: ItemOrder.TOLD,
    HAPPENED: ItemOrder.HAPPENED,
    ARRIVAL: ItemOrder.ARRIVAL,
    IMPORTANCE: ItemOrder.IMPORTANCE,
}


def range_order(condition: ItemCondition) -> ItemOrder:
    """Return the order in which what passes a condition stands together: that of a range that it requires."""
    fields = (one.field for one in required_in(condition) if isinstance(one, Between))
    return next((_ORDERED[field] for field in fields if field in _ORDERED), ItemOrder.ARRIVAL)


def single_context(query: ListingQuery) -> str | None:
    """Return the context that all items of a query are in, if it names one."""
    named = [query.scope.contexts] if query.scope.contexts is not None else []
    named += contexts_of(query.condition)
    return next((contexts[0] for contexts in named if len(contexts) == 1), None)


def contexts_of(condition: ItemCondition) -> list[tuple[str, ...]]:
    """Return the contexts that a condition names: what passes is in one of each."""
    required = [one for one in required_in(condition) if isinstance(one, OneOf)]
    return [tuple(map(str, one.values)) for one in required if one.field == "context"]
