"""A Scope as Qdrant Edge's filter. The payload's fields are named here and in ``payload.py`` only."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_edge import (
    FieldCondition,
    Filter,
    HasIdCondition,
    HasVectorCondition,
    IsEmptyCondition,
    IsNullCondition,
    MatchAny,
    MatchValue,
    NestedCondition,
    RangeFloat,
)

from vicw_shared.clock import to_ms
from vicw_shared.ports import Audience, Scope

KEYWORDS = (
    "tenant",
    "context",
    "domain",
    "label",
    "subtype",
    "node_id",
    "flow_id",
    "tags",
    "bucket",
    "sensitivity",
    "about",
)
INSTANTS = ("timestamp", "created_at", "retired_at", "valid_to", "expires_at")
FLAGS = ("portable",)

Condition = (
    FieldCondition | IsEmptyCondition | IsNullCondition | HasIdCondition | HasVectorCondition | NestedCondition | Filter
)


def conditions_of_tenant(tenant: str) -> list[Condition]:
    """Return what every point of a tenant matches."""
    return [_is("tenant", tenant)]


def conditions(scope: Scope) -> tuple[list[Condition], list[Condition]]:
    """Return what every point must and must not match, but for its tenant."""
    must: list[Condition] = []
    must_not: list[Condition] = []
    if scope.contexts is not None:
        must.append(_any("context", scope.contexts))
    if scope.domains is not None:
        must.append(_any("domain", scope.domains))
    if scope.tags_any:
        must.append(_any("tags", scope.tags_any))
    must += [_is("tags", tag) for tag in scope.tags_all]
    if scope.tags_none:
        must_not.append(_any("tags", scope.tags_none))
    _in_time(scope, must, must_not)
    if scope.audience is not None:
        must += _visible_to(scope.audience)
    return must, must_not


def _in_time(scope: Scope, must: list[Condition], must_not: list[Condition]) -> None:
    instant = to_ms(scope.as_of or scope.judged_at)
    if scope.known_at is None:
        must_not.append(_until("valid_to", instant))
    if scope.known_at is not None:
        # What was believed then had no end yet that anybody knew of.
        known = to_ms(scope.known_at)
        must_not += [_after("created_at", known), _until("retired_at", known)]
    elif scope.as_of is not None:
        # Retired because the world changed (it was true until valid_to): seen as of then. Retired because
        # it was wrong: never.
        believed = Filter(must_not=[_until("retired_at", to_ms(scope.now))])
        must.append(Filter(should=[believed, _after("valid_to", instant)]))
    else:
        must_not.append(_until("retired_at", to_ms(scope.now)))
    if scope.as_of is not None:
        must_not.append(_after("timestamp", instant))
    must_not.append(_until("expires_at", to_ms(scope.judged_at)))


def _visible_to(audience: Audience) -> list[Condition]:
    public: Condition = _is("sensitivity", "public")
    own: list[Condition] = []
    if audience.subjects:
        levels = ("personal", "sensitive") if audience.private else ("personal",)
        own.append(Filter(must=[_any("sensitivity", levels), _any("about", audience.subjects)]))
    portable: Condition = FieldCondition("portable", match=MatchValue(1))
    home: list[Condition] = [_is("context", audience.context)] if audience.context is not None else []
    return [Filter(should=[public, *own]), Filter(should=[portable, *home])]


def _is(field: str, value: str) -> FieldCondition:
    return FieldCondition(field, match=MatchValue(value))


def _any(field: str, values: Sequence[str]) -> FieldCondition:
    return FieldCondition(field, match=MatchAny(list(values)))


def _until(field: str, instant: int) -> FieldCondition:
    return FieldCondition(field, range=RangeFloat(lte=float(instant)))


def _after(field: str, instant: int) -> FieldCondition:
    return FieldCondition(field, range=RangeFloat(gt=float(instant)))
