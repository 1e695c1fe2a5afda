"""Engine-independent conditions on items: what a filter compiles to, and what each store translates.

A missing field satisfies no condition on it, so that ``Not`` is exact in every engine. Instants are microseconds since
1970. A field is one of ``FIELDS``, or ``metadata.KEY``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vicw_shared.text import fold_case

TAGS, USER = "tags", "user"
"""Fields that an item's edges have: case-folded names of its tags, and ids of its user."""
NAMES = ("context", "domain", "label", "subtype", "speaker", "flow_id", "source", "source_id", "uid", "sensitivity")
"""Fields of the item itself, text."""
IMPORTANCE, TOLD, HAPPENED, ARRIVAL = "importance", "told", "happened", "created_at"
NUMBERS = (IMPORTANCE, TOLD, HAPPENED, ARRIVAL)
METADATA = "metadata."
_EDGES = {TAGS: "TAGGED", USER: "STATED_BY"}
FIELDS = (*NAMES, *NUMBERS, TAGS, USER)

type Scalar = str | bool | int | float


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field, or one of its values, equals one of ``values``, of the same type; a number equals a number."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The text field starts with ``prefix``."""

    field: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Between:
    """The field, or one of its values, is of the bounds' type and inside them: each a bound and whether it belongs."""

    field: str
    low: tuple[str | float, bool] | None = None
    high: tuple[str | float, bool] | None = None


@dataclass(frozen=True, slots=True)
class Present:
    """The field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """All conditions hold; without any, it does."""

    conditions: tuple[ItemCondition, ...] = ()


@dataclass(frozen=True, slots=True)
class OneHolds:
    """At least one condition holds; without any, none does."""

    conditions: tuple[ItemCondition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    condition: ItemCondition


type ItemCondition = OneOf | StartsWith | Between | Present | AllOf | OneHolds | Not
EVERY = AllOf()
"""Holds for every item."""


def required_in(condition: ItemCondition) -> Iterator[ItemCondition]:
    """Yield the conditions that must all hold, taken out of nested ``AllOf``."""
    if isinstance(condition, AllOf):
        for one in condition.conditions:
            yield from required_in(one)
    else:
        yield condition


def edge_names(condition: ItemCondition) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the type of an edge and case-folded names of what it leads to, for each tag or user that is required.

    Every item that passes has such an edge; one that has it need not pass.
    """
    for one in required_in(condition):
        if isinstance(one, OneOf) and one.field in _EDGES:
            yield _EDGES[one.field], tuple(fold_case(str(value)) for value in one.values)
