"""The meaning of a filter's conditions on one item, in plain Python: every store returns the items that it accepts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from vicw_shared.clock import to_us
from vicw_shared.model import Node
from vicw_shared.ports.item_filter import (
    ARRIVAL,
    HAPPENED,
    METADATA,
    TAGS,
    TOLD,
    USER,
    AllOf,
    Between,
    ItemCondition,
    Not,
    OneHolds,
    OneOf,
    Present,
    Scalar,
    StartsWith,
)


@dataclass(frozen=True, slots=True)
class ItemFields:
    """An item with the fields that its edges have: case-folded names of its tags, and the ids of its user."""

    item: Node
    tags: Collection[str] = ()
    users: Collection[str] = ()


def accepts(condition: ItemCondition, fields: ItemFields) -> bool:  # noqa: PLR0911 - one a kind
    """Return whether a condition holds for an item."""
    match condition:
        case OneOf(field, values):
            wanted = {_comparable(value) for value in values}
            return any(_comparable(value) in wanted for value in _values(fields, field))
        case StartsWith(field, prefix):
            return any(isinstance(value, str) and value.startswith(prefix) for value in _values(fields, field))
        case Between(field):
            return any(_inside(value, condition) for value in _values(fields, field))
        case Present(field):
            return _is_present(fields, field)
        case AllOf(conditions):
            return all(accepts(one, fields) for one in conditions)
        case OneHolds(conditions):
            return any(accepts(one, fields) for one in conditions)
        case Not(inner):
            return not accepts(inner, fields)


def _is_present(fields: ItemFields, field: str) -> bool:
    if field.startswith(METADATA):
        return fields.item.metadata.get(field.removeprefix(METADATA)) is not None
    return any(True for _ in _values(fields, field))


def _values(fields: ItemFields, field: str) -> Iterable[Scalar]:
    """Return the values of a field; nested objects of metadata are none, and a list has those of its elements."""
    item = fields.item
    if field.startswith(METADATA):
        held = item.metadata.get(field.removeprefix(METADATA))
        return [one for one in (held if isinstance(held, list) else [held]) if isinstance(one, str | int | float)]
    if field in {TAGS, USER}:
        return fields.tags if field == TAGS else fields.users
    value = {TOLD: told_at, HAPPENED: happened_at, ARRIVAL: arrived_at}.get(field, lambda node: getattr(node, field))(
        item
    )
    return () if value is None else (value,)


def told_at(item: Node) -> int:
    """Return when an item was told, in microseconds: its timestamp, or without one its arrival."""
    return to_us(item.timestamp or item.created_at)


def happened_at(item: Node) -> int | None:
    """Return the time that an item's caller gave it, in microseconds."""
    return None if item.timestamp_inferred else to_us(item.timestamp)


def arrived_at(item: Node) -> int:
    """Return when an item was stored, in microseconds."""
    return to_us(item.created_at)


def _comparable(value: Scalar) -> tuple[str, object]:
    """Return a value that equals only values of its JSON type: in Python, ``True == 1``."""
    if isinstance(value, bool):
        return "flag", value
    return ("text", value) if isinstance(value, str) else ("number", as_float(value))


def _inside(value: Scalar, bounds: Between) -> bool:
    return _beyond(value, bounds.low, 1) and _beyond(value, bounds.high, -1)


def _beyond(value: Scalar, bound: tuple[str | float, bool] | None, sign: int) -> bool:
    """Return whether a value is of a bound's type and on its inner side: above it for the sign 1."""
    if bound is None:
        return True
    limit, inclusive = bound
    if isinstance(value, bool) or isinstance(value, str) is not isinstance(limit, str):
        return False
    order = _order(value, limit) * sign
    return order > 0 or (inclusive and order == 0)


def _order(value: Scalar, limit: str | float) -> int:
    if isinstance(value, str) and isinstance(limit, str):
        return (value > limit) - (value < limit)
    one, other = as_float(value), as_float(limit)
    return (one > other) - (one < other)


def as_float(value: Scalar) -> float:
    """Return a number as a float, as which all numbers are compared."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if isinstance(value, int) and value > 0 else float("-inf")
