"""Translation of conditions into Qdrant Edge's filter."""

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

from vicw_stores.conditions import After, AnyOf, Condition, Group, Is, Until

EdgeCondition = (
    FieldCondition | IsEmptyCondition | IsNullCondition | HasIdCondition | HasVectorCondition | NestedCondition | Filter
)


def edge_conditions(conditions: Sequence[Condition]) -> list[EdgeCondition]:
    """Translate the conditions for the engine, in the same order."""
    return [_edge_condition(condition) for condition in conditions]


def _edge_condition(condition: Condition) -> EdgeCondition:
    match condition:
        case Is(field, value):
            return FieldCondition(field, match=MatchValue(value))
        case AnyOf(field, values):
            return FieldCondition(field, match=MatchAny(list(values)))
        case Until(field, instant):
            return FieldCondition(field, range=RangeFloat(lte=float(instant)))
        case After(field, instant):
            return FieldCondition(field, range=RangeFloat(gt=float(instant)))
        case Group(must, must_not, should):
            return Filter(
                must=edge_conditions(must) or None,
                must_not=edge_conditions(must_not) or None,
                should=edge_conditions(should) or None,
            )
