"""Translation of conditions into a Qdrant server's filter."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_client.models import Condition as ServerCondition
from qdrant_client.models import FieldCondition, Filter, HasIdCondition, MatchAny, MatchValue, Range

from vicw_shared.model import Label
from vicw_shared.ports import Scope
from vicw_stores.conditions import (
    After,
    AnyOf,
    Condition,
    Group,
    Is,
    Until,
    items_condition,
    label_condition,
    public_conditions,
    scope_conditions,
    tenant_condition,
)


def filter_of(scope: Scope, label: Label, without: Sequence[str] = ()) -> Filter:
    """Return the filter of a search: the points of a label in the scope, except those of the items ``without``."""
    group = scope_conditions(scope)
    must_not = (*group.must_not, items_condition(without)) if without else group.must_not
    return _filter(Group(must=(tenant_condition(scope.tenant), label_condition(label), *group.must), must_not=must_not))


def filter_of_passages(tenant: str, *, public: bool) -> Filter:
    """Return the filter of a tenant's passages; ``public``: of those that every viewer may see in every context."""
    return _filter(
        Group(must=(tenant_condition(tenant), label_condition(Label.CHUNK), *(public_conditions() if public else ())))
    )


def filter_of_ids(ids: Sequence[str]) -> Filter:
    """Return the filter of the points with these ids."""
    return Filter(must=[HasIdCondition(has_id=list(ids))])


def _filter(group: Group) -> Filter:
    return Filter(
        must=[_condition(condition) for condition in group.must] or None,
        must_not=[_condition(condition) for condition in group.must_not] or None,
        should=[_condition(condition) for condition in group.should] or None,
    )


def _condition(condition: Condition) -> ServerCondition:
    match condition:
        case Is(field, value):
            return FieldCondition(key=field, match=MatchValue(value=value))
        case AnyOf(field, values):
            return FieldCondition(key=field, match=MatchAny(any=list(values)))
        case Until(field, instant):
            return FieldCondition(key=field, range=Range(lte=float(instant)))
        case After(field, instant):
            return FieldCondition(key=field, range=Range(gt=float(instant)))
        case Group():
            return _filter(condition)
