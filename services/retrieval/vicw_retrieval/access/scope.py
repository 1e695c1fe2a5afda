"""Scope of a request as a search filter, by viewer and time, and the same rule for single nodes."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from vicw_retrieval.intent.history import asks_for_past
from vicw_shared.domains import canonical
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.ports import Audience, ItemRef, Scope
from vicw_shared.text import fold_case
from vicw_shared.wire.graph import GraphQuestion
from vicw_shared.wire.retrieve import RetrieveRequest
from vicw_shared.wire.viewer import Viewer


def scope_of(request: RetrieveRequest, tenant: str, now: datetime) -> Scope:
    """Return the scope of a request. Expiry and validity are judged at ``query_time`` if it is given."""
    return Scope(
        tenant=tenant,
        now=now,
        asked_at=request.query_time.astimezone(UTC) if request.query_time is not None else None,
        contexts=(request.context,) if request.context is not None else None,
        domains=(canonical(request.domain),) if request.domain is not None else None,
        tags_any=tuple(map(fold_case, request.tags.any)),
        tags_all=tuple(map(fold_case, request.tags.all)),
        tags_none=tuple(map(fold_case, request.tags.none)),
        as_of=request.as_of,
        known_at=request.known_at,
        with_past=asks_for_past(request.query),
        audience=audience_of(request.viewer) if request.viewer is not None else None,
    )


def scope_of_question(request: GraphQuestion, tenant: str, now: datetime) -> Scope:
    """Return the scope of a graph question: the same rules, without the filters that choose results."""
    return Scope(
        tenant=tenant,
        now=now,
        asked_at=request.query_time,
        contexts=(request.context,) if request.context is not None else None,
        as_of=request.as_of,
        known_at=request.known_at,
        audience=audience_of(request.viewer) if request.viewer is not None else None,
    )


def audience_of(viewer: Viewer) -> Audience:
    """Return the audience of an answer. In a group others see it too, so only the viewer's own rights count."""
    return Audience(
        identities=(fold_case(viewer.user),) if viewer.user is not None else (),
        private=viewer.chat == "private",
        context=viewer.context,
    )


def may_see(scope: Scope, node: Node, about: Collection[str], *, ignore_validity: bool = False) -> bool:
    """Return whether ``scope`` may see a node; ``about`` are the folded names and uids of its subjects.

    The rule of the vector stores' filters, for nodes reached along edges. Tags and domains choose results, not
    neighbours, so they do not count here. With ``ignore_validity``, only expiry counts.
    """
    if node.tenant != scope.tenant or (scope.contexts is not None and node.context not in scope.contexts):
        return False
    if is_named(node):
        return True  # a visible memory reveals its name, not its description: see expansion
    timely = not is_expired(scope, node) if ignore_validity else holds_in_scope(scope, node)
    return timely and (scope.audience is None or _visible_to(scope.audience, node, about))


def is_named(node: Node) -> bool:
    """Return whether a node is a named one (an entity, a tag, a context), not a memory of its own."""
    return node.label not in {Label.EVENT, Label.CHUNK} and node.content_hash is None


def holds_in_scope(scope: Scope, node: Node | ItemRef) -> bool:
    """Return whether a node is live, or was true or known at the instant of the scope."""
    if is_expired(scope, node):
        return False
    if scope.known_at is None and not scope.with_past and is_superseded(scope, node):
        return False
    if scope.as_of is not None and node.timestamp is not None and node.timestamp > scope.as_of:
        return False
    if scope.known_at is not None:
        return node.created_at <= scope.known_at and (node.retired_at is None or node.retired_at > scope.known_at)
    if node.retired_at is None or node.retired_at > scope.now:
        return True
    return scope.as_of is not None and node.valid_to is not None and node.valid_to > scope.as_of


def is_superseded(scope: Scope, node: Node | ItemRef) -> bool:
    """Return whether something that decides had replaced what a node says at the instant of the scope."""
    return node.superseded_at is not None and node.superseded_at <= (scope.as_of or scope.judged_at)


def has_ended(scope: Scope, node: Node) -> bool:
    """Return whether a later statement replaced a node at the instant of the scope, by a guess or by a decision."""
    return scope.known_at is None and node.valid_to is not None and node.valid_to <= (scope.as_of or scope.judged_at)


def is_expired(scope: Scope, node: Node | ItemRef) -> bool:
    """Return whether a node has expired: it is then invisible, whatever instant is asked about."""
    return node.expires_at is not None and node.expires_at <= scope.judged_at


def _visible_to(audience: Audience, node: Node, about: Collection[str]) -> bool:
    if not node.portable and node.context != audience.context:
        return False
    if node.sensitivity is Sensitivity.PUBLIC:
        return True
    if node.sensitivity is Sensitivity.SENSITIVE and not audience.private:
        return False
    return any(subject in about for subject in audience.identities)
