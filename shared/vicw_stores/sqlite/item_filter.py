"""Translation of conditions on items into SQL, with bound values. Each is 0 or 1 for every item ``i``, never NULL."""

from __future__ import annotations

import json
from collections.abc import Sequence

from vicw_core.filters.metadata_terms import metadata_terms, presence_term, range_of, value_term
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
    required_in,
)
from vicw_stores.sqlite.rows import marks, pack

Clause = tuple[str, tuple[object, ...]]
KEYS = {
    TOLD: "ifnull(i.timestamp, i.created_at)",
    HAPPENED: f"ifnull(iif(i.timestamp_inferred, NULL, i.timestamp), {NO_TIME})",
    ARRIVAL: "i.created_at",
    IMPORTANCE: f"ifnull(i.importance, {NO_IMPORTANCE})",
}
"""Expressions of the schema's indexes, on the item ``i``, written as there, so that a range of them is looked up."""
_NONE = {HAPPENED: NO_TIME, IMPORTANCE: NO_IMPORTANCE}
_ALWAYS = "(i.pk > 0)"
"""Holds for every item. A constant that is negated would leave SQLite no way through the index of a listing."""
_TAG = "g.type = 'TAGGED' AND fold(t.subtype) <> 'bucket'"
_USER = "g.type = 'STATED_BY' AND fold(t.subtype) = 'user'"


def stored_terms(metadata: str) -> str:
    """Return the terms of stored metadata as a JSON list: a function of the schema's triggers."""
    return json.dumps(metadata_terms(json.loads(metadata)), ensure_ascii=False)


def clause_of(condition: ItemCondition) -> Clause:  # noqa: PLR0911 - one a kind
    """Return a condition on the item ``i``, with its values."""
    match condition:
        case AllOf(conditions):
            return _joined(" AND ", conditions, _ALWAYS)
        case OneHolds(conditions):
            return _joined(" OR ", conditions, f"NOT {_ALWAYS}")
        case Not(inner):
            sql, values = clause_of(inner)
            return f"NOT ({sql})", values
        case OneOf(field) | Between(field) | Present(field) if field.startswith(METADATA):
            return _on_metadata(field.removeprefix(METADATA), condition)
        case OneOf(field) | StartsWith(field) | Present(field) if field in {TAGS, USER}:
            return _on_edges(field, condition)
        case OneOf(field, values):
            bound = tuple(pack(str(value)) for value in values) if field == "uid" else values
            return f"ifnull(i.{_column(field)} IN ({marks(len(values))}), 0)", bound
        case StartsWith(field, prefix):
            return f"ifnull({_starts(f'i.{_column(field)}')}, 0)", (len(prefix), prefix)
        case Between(field):
            return _between(KEYS[field], _NONE.get(field), condition)
        case Present(field) if field in KEYS:
            return (f"{KEYS[field]} > ?", (_NONE[field],)) if field in _NONE else (_ALWAYS, ())
        case Present(field):
            return f"i.{_column(field)} IS NOT NULL", ()


def _on_edges(field: str, condition: OneOf | StartsWith | Present) -> Clause:
    """Return a condition on the names of the nodes ``t`` to which an edge ``g`` of the item leads."""
    kind = _USER if field == USER else _TAG
    match condition:
        case OneOf(_, values) if field == TAGS:
            names = marks(len(values))
            earlier = f"SELECT 1 FROM json_each(t.aliases) a WHERE fold(a.value) IN ({names})"  # noqa: S608
            named = f"(fold(t.name) IN ({names}) OR (t.aliases <> '[]' AND EXISTS ({earlier})))"
            values = (*values, *values)
        case OneOf(_, values):
            named = f"t.name IN ({marks(len(values))})"
        case StartsWith(_, prefix):
            named, values = _starts("t.name"), (len(prefix), prefix)
        case Present():
            named, values = "1", ()
    reached = f"SELECT 1 FROM edge g JOIN node t ON t.pk = g.target WHERE g.source = i.pk AND {kind} AND {named}"  # noqa: S608
    return f"EXISTS ({reached})", values


def _column(field: str) -> str:
    if field not in NAMES:
        raise ValueError(f"{field!r} is no field of an item")
    return field


def _starts(column: str) -> str:
    return f"substr({column}, 1, ?) = ?"


def _joined(word: str, conditions: Sequence[ItemCondition], empty: str) -> Clause:
    parts = [clause_of(condition) for condition in conditions]
    return word.join(f"({sql})" for sql, _ in parts) or empty, tuple(v for _, values in parts for v in values)


def _between(key: str, none: float | None, bounds: Between) -> Clause:
    parts = [(">" + "=" * bounds.low[1], bounds.low[0])] if bounds.low is not None else []
    parts += [("<" + "=" * bounds.high[1], bounds.high[0])] if bounds.high is not None else []
    parts += [(">", none)] if none is not None else []
    return " AND ".join(f"{key} {operator} ?" for operator, _ in parts), tuple(value for _, value in parts)


def _on_metadata(key: str, condition: OneOf | Between | Present) -> Clause:
    held, terms = _term_clause(key, condition)
    return f"EXISTS (SELECT 1 FROM metadata_term m WHERE m.node = i.pk AND {held})", terms  # noqa: S608


def term_clauses(condition: ItemCondition) -> list[Clause]:
    """Return the conditions on a term ``m`` of metadata of which every item that passes has one."""
    return [
        _term_clause(one.field.removeprefix(METADATA), one)
        for one in required_in(condition)
        if isinstance(one, OneOf | Between | Present) and one.field.startswith(METADATA)
    ]


def _term_clause(key: str, condition: OneOf | Between | Present) -> Clause:
    match condition:
        case OneOf(_, values):
            terms: tuple[object, ...] = tuple(value_term(key, value) for value in values)
            return f"m.term IN ({marks(len(terms))})", terms
        case Present():
            return "m.term = ?", (presence_term(key),)
        case Between():
            low, high, with_low, with_high = range_of(key, condition)
            return f"m.term >{'=' * with_low} ? AND m.term <{'=' * with_high} ?", (low, high)
