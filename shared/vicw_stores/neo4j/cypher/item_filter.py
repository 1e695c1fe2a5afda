"""Translation of conditions on items into Cypher, with bound values. Each is true or false for every item ``i``."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_core.filters.metadata_terms import presence_term, range_of, value_term
from vicw_core.filters.order import NO_IMPORTANCE, NO_TIME
from vicw_shared.ports.item_filter import (
    ARRIVAL,
    HAPPENED,
    IMPORTANCE,
    METADATA,
    NAMES,
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
    StartsWith,
)

KEYS = {TOLD: "i.told_key", HAPPENED: "i.happened_key", ARRIVAL: "i.created_at", IMPORTANCE: "i.importance_key"}
_NONE: dict[str, float] = {HAPPENED: NO_TIME, IMPORTANCE: NO_IMPORTANCE}


class Bindings(dict[str, object]):
    """The values of a statement's parameters."""

    def bind(self, value: object) -> str:
        """Add a value; return its parameter."""
        name = f"f{len(self)}"
        self[name] = value
        return f"${name}"


def condition_of(condition: ItemCondition, values: Bindings) -> str:  # noqa: PLR0911 - one a kind
    """Return a condition on the item ``i``; its values are added to ``values``."""
    match condition:
        case AllOf(conditions):
            return _joined(" AND ", conditions, values) or "i.uid IS NOT NULL"
        case OneHolds(conditions):
            return _joined(" OR ", conditions, values) or "i.uid IS NULL"
        case Not(inner):
            return f"NOT ({condition_of(inner, values)})"
        case OneOf(field) | Between(field) | Present(field) if field.startswith(METADATA):
            held = _on_metadata(field.removeprefix(METADATA), condition, values)
            return f"any(m IN coalesce(i.metadata_terms, []) WHERE {held})"
        case OneOf(field) | StartsWith(field) | Present(field) if field in {TAGS, USER}:
            return _on_edges(field, condition, values)
        case OneOf("label", names):
            return f"labels(i)[0] IN {values.bind(list(names))}"
        case OneOf(field, names):
            return f"coalesce(i.{_property(field)} IN {values.bind(list(names))}, false)"
        case StartsWith(field, prefix):
            return f"coalesce(i.{_property(field)} STARTS WITH {values.bind(prefix)}, false)"
        case Between(field):
            return _between(KEYS[field], _NONE.get(field), condition, values)
        case Present("label" | "created_at" | "told"):
            return "i.uid IS NOT NULL"  # a constant that is negated is one that no index has: the planner refuses it
        case Present(field) if field in _NONE:
            return f"{KEYS[field]} > {values.bind(_NONE[field])}"
        case Present(field):
            return f"i.{_property(field)} IS NOT NULL"


def _property(field: str) -> str:
    if field not in NAMES:
        raise ValueError(f"{field!r} is no field of an item")
    return field


def _joined(word: str, conditions: Sequence[ItemCondition], values: Bindings) -> str:
    return word.join(f"({condition_of(condition, values)})" for condition in conditions)


def _on_edges(field: str, condition: OneOf | StartsWith | Present, values: Bindings) -> str:
    """Return a condition on the names of the nodes ``t`` to which edges of the item lead."""
    edge, kind = ("STATED_BY", "t.kind = 'user'") if field == USER else ("TAGGED", "t.kind <> 'bucket'")
    match condition:
        case OneOf(_, names) if field == TAGS:
            bound = values.bind(list(names))
            named = f"(t.folded IN {bound} OR any(name IN coalesce(t.formerly, []) WHERE name IN {bound}))"
        case OneOf(_, names):
            named = f"t.name IN {values.bind(list(names))}"
        case StartsWith(_, prefix):
            named = f"t.name STARTS WITH {values.bind(prefix)}"
        case Present():
            named = "true"
    return f"EXISTS {{ (i)-[:{edge}]->(t) WHERE {kind} AND {named} }}"


def _between(key: str, none: float | None, bounds: Between, values: Bindings) -> str:
    parts = [(">" + "=" * bounds.low[1], bounds.low[0])] if bounds.low is not None else []
    parts += [("<" + "=" * bounds.high[1], bounds.high[0])] if bounds.high is not None else []
    parts += [(">", none)] if none is not None else []
    return " AND ".join(f"{key} {operator} {values.bind(value)}" for operator, value in parts)


def _on_metadata(key: str, condition: OneOf | Between | Present, values: Bindings) -> str:
    match condition:
        case OneOf(_, wanted):
            return f"m IN {values.bind([value_term(key, value) for value in wanted])}"
        case Present():
            return f"m = {values.bind(presence_term(key))}"
        case Between():
            low, high, with_low, with_high = range_of(key, condition)
            return f"m >{'=' * with_low} {values.bind(low)} AND m <{'=' * with_high} {values.bind(high)}"
