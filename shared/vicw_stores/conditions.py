"""Engine-independent filter conditions of a Scope on payload fields; each engine's adapter only translates them.

The same rule as ``may_see`` in the retrieval service's ``access/scope.py``, on payload fields: change both. The
payload's fields are written by ``points.py`` and also read by the retrieval service's ``request/payload_fallback.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vicw_shared.clock import to_ms
from vicw_shared.model import Label
from vicw_shared.ports import Audience, Scope

TENANT, CONTEXT, DOMAIN, ITEM, LABEL = "tenant", "context", "domain", "item", "label"
KEYWORDS = (
    TENANT,
    CONTEXT,
    DOMAIN,
    LABEL,
    "subtype",
    "node_id",
    ITEM,
    "flow_id",
    "tags",
    "bucket",
    "sensitivity",
    "about",
)
INSTANTS = ("timestamp", "created_at", "retired_at", "valid_to", "superseded_at", "expires_at")
"""Milliseconds since 1970."""
FLAGS = ("portable",)
"""0 or 1: an engine may not be able to match a boolean."""


@dataclass(frozen=True, slots=True)
class Is:
    """The field equals this value, or one of its values does."""

    field: str
    value: str | int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The field, or one of its values, equals one of ``values``; no point matches an empty tuple."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Until:
    """The field is set and not after this instant."""

    field: str
    instant: int


@dataclass(frozen=True, slots=True)
class After:
    """The field is set and after this instant."""

    field: str
    instant: int


@dataclass(frozen=True, slots=True)
class Group:
    """All of ``must``, none of ``must_not``, and at least one of ``should`` if there are any."""

    must: tuple[Condition, ...] = ()
    must_not: tuple[Condition, ...] = ()
    should: tuple[Condition, ...] = ()


type Condition = Is | AnyOf | Until | After | Group


def tenant_condition(tenant: str) -> Condition:
    """Return the condition for the points of a tenant."""
    return Is(TENANT, tenant)


def label_condition(label: Label) -> Condition:
    """Return the condition for the points of a node label: passages are Chunks, statements are Events."""
    return Is(LABEL, label.value)


def items_condition(items: Sequence[str]) -> Condition:
    """Return the condition for the passages of these items (uids)."""
    return AnyOf(ITEM, tuple(items))


def scope_conditions(scope: Scope) -> Group:
    """Return the conditions of a scope, except its tenant."""
    must: list[Condition] = []
    must_not: list[Condition] = []
    if scope.contexts is not None:
        must.append(AnyOf(CONTEXT, scope.contexts))
    if scope.domains is not None:
        must.append(AnyOf(DOMAIN, scope.domains))
    if scope.subtypes is not None:
        must.append(AnyOf("subtype", scope.subtypes))
    if scope.subtypes_none:
        must_not.append(AnyOf("subtype", scope.subtypes_none))
    if scope.items is not None:
        must.append(items_condition(scope.items))
    if scope.without:
        must_not.append(items_condition(scope.without))
    if scope.tags_any:
        must.append(AnyOf("tags", scope.tags_any))
    must += [Is("tags", tag) for tag in scope.tags_all]
    if scope.tags_none:
        must_not.append(AnyOf("tags", scope.tags_none))
    _add_time_conditions(scope, must, must_not)
    if scope.audience is not None:
        must += _visible_to(scope.audience)
    return Group(must=tuple(must), must_not=tuple(must_not))


def listing_conditions(scope: Scope, *, retired: bool) -> Group:
    """Return the conditions of a listing: the contexts and the viewer of a scope, and what holds now.

    What was replaced is listed, unless it is retired.
    """
    must = [AnyOf(CONTEXT, scope.contexts)] if scope.contexts is not None else []
    must_not = [Until("expires_at", to_ms(scope.judged_at))]
    must_not += [] if retired else [Until("retired_at", to_ms(scope.now))]
    visible = _visible_to(scope.audience) if scope.audience is not None else ()
    return Group(must=(*must, *visible), must_not=tuple(must_not))


def total_conditions(scope: Scope) -> Group:
    """Return the conditions for groups of items of one context, sensitivity and portability that are seen whole.

    Of the others, the viewer of a scope sees what is about it.
    """
    must: list[Condition] = [AnyOf(CONTEXT, scope.contexts)] if scope.contexts is not None else []
    if scope.audience is not None:
        must += _visible_to(replace(scope.audience, identities=()))
    return Group(must=tuple(must))


def _add_time_conditions(scope: Scope, must: list[Condition], must_not: list[Condition]) -> None:
    judged_at = scope.judged_at
    instant = to_ms(scope.as_of or judged_at)
    if scope.known_at is None and not scope.with_past:
        must_not.append(Until("superseded_at", instant))
    if scope.known_at is not None:
        # A record that was known then did not have its `superseded_at` yet.
        known_instant = to_ms(scope.known_at)
        must_not += [After("created_at", known_instant), Until("retired_at", known_instant)]
    elif scope.as_of is not None:
        # Retired because the world changed (valid until valid_to): visible as of then. Retired as wrong: never visible.
        not_retired = Group(must_not=(Until("retired_at", to_ms(scope.now)),))
        must.append(Group(should=(not_retired, After("valid_to", instant))))
    else:
        must_not.append(Until("retired_at", to_ms(scope.now)))
    if scope.as_of is not None:
        must_not.append(After("timestamp", instant))
    must_not.append(Until("expires_at", to_ms(judged_at)))


def public_conditions() -> tuple[Condition, ...]:
    """Return the conditions for points that every viewer may see in every context."""
    return Is("sensitivity", "public"), Is("portable", 1)


def _visible_to(audience: Audience) -> list[Condition]:
    about_viewer: list[Condition] = []
    if audience.identities:
        levels = ("personal", "sensitive") if audience.private else ("personal",)
        about_viewer.append(Group(must=(AnyOf("sensitivity", levels), AnyOf("about", audience.identities))))
    own_context = [Is(CONTEXT, audience.context)] if audience.context is not None else []
    return [Group(should=(Is("sensitivity", "public"), *about_viewer)), Group(should=(Is("portable", 1), *own_context))]
