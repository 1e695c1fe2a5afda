"""Replacement of an item by another, as a person states it: the use case behind ``POST /supersede``.

A SUPERSEDES edge of the caller between two items of a context decides what holds now (docs/decisions/0059): the old
item, its passages and the statements of these alone get ``superseded_at``. It follows both items from version to
version, and ends when it is undone, or the new item was never true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog

from vicw_core.changes import ChangeKind, record_change
from vicw_core.consolidation.restore import RestoredItems, Restorer
from vicw_core.graph.edge_factory import CALLER, EdgeFactory
from vicw_ingest.extraction.acyclic import rejected_edges
from vicw_ingest.pipeline import IngestPorts
from vicw_ingest.versions.item_lookup import items_by_uid
from vicw_ingest.versions.restore import latest_versions, stored_versions
from vicw_ingest.versions.supersession import Supersession, stated_edges
from vicw_shared.clock import now
from vicw_shared.errors import (
    FieldProblem,
    InvalidInputError,
    MissingRecordError,
    RetryableError,
    StateConflictError,
)
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.supersession import UNTIL
from vicw_shared.ports import Direction, GraphStore, GraphTransaction
from vicw_shared.uids import context_uid, is_uid
from vicw_shared.wire.supersede import SupersedeRequest, SupersedeResponse

_log = structlog.get_logger()
_TYPE = "SUPERSEDES"


@dataclass(frozen=True, slots=True)
class _Replaced:
    """The answer of a transaction, the items whose payloads it changed, and points without a node."""

    response: SupersedeResponse
    touched: tuple[str, ...]
    obsolete_points: tuple[str, ...]


async def supersede(
    request: SupersedeRequest, tenant: str, ports: IngestPorts, *, key: str | None = None
) -> tuple[SupersedeResponse, bool]:
    """State that an item replaces another, or take that back. Return the outcome, and whether all answers know it.

    ``key``: the id of the caller's key, for the record of changes.

    It is durable when this returns, and the call is idempotent. Raises MissingRecordError for an item that is not
    stored, StateConflictError for a retracted one and for a circle, InvalidInputError for two contexts, one item twice,
    labels that do not replace each other, and an instant in the future; nothing was changed then.
    """
    instant = now()
    if request.at is not None and request.at > instant:
        raise InvalidInputError(FieldProblem("at", "lies in the future", "Give an instant that is over"))
    context = await _context(request, tenant, ports.graph)
    work = partial(_commit, request, context, instant, ports.registry, tenant, key)
    replaced = await ports.graph.write(tenant, context, work)
    await ports.indexer.discard(list(replaced.obsolete_points))
    if request.wait:
        try:
            if await ports.indexer.wait_until_indexed(tenant, list(replaced.touched), ports.settings.wait_seconds):
                return replaced.response, True
        except RetryableError as error:
            _log.warning("waiting ended early; the replacement is durable", error=error.detail)
    await ports.queue.wake()
    return replaced.response, False


async def _context(request: SupersedeRequest, tenant: str, graph: GraphStore) -> str:
    if request.context is not None:
        if not await graph.nodes(tenant, [context_uid(tenant, request.context)]):
            raise MissingRecordError(f"context: there is no context {request.context!r}")
        return request.context
    for field, given in (("new", request.new), ("old", request.old)):
        if not is_uid(given):
            raise InvalidInputError(FieldProblem("context", "is missing", f"Name the context: `{field}` is no uid"))
    items = await items_by_uid(lambda uids: graph.nodes(tenant, uids), [request.new, request.old])
    for field, given in (("new", request.new), ("old", request.old)):
        if given not in items:
            raise _missing(field, given)
    new, old = items[request.new], items[request.old]
    if new.context != old.context:
        raise InvalidInputError(
            FieldProblem("old", "is in another context than `new`", "Name two items of one context")
        )
    return old.context


async def _commit(
    request: SupersedeRequest,
    context: str,
    instant: datetime,
    registry: EdgeRegistry,
    tenant: str,
    key: str | None,
    transaction: GraphTransaction,
) -> _Replaced:
    find = partial(_find, transaction, registry, instant, context)
    new, restored = await find("new", request.new)
    old, more = await find("old", request.old)
    if new.uid == old.uid:
        raise InvalidInputError(FieldProblem("old", "is the same item as `new`", "Name two items"))
    registry.check(_TYPE, new.label, old.label, field="old")
    into_old = await transaction.edges([old.uid], [_TYPE], Direction.IN)
    stated = await _by_item(transaction, stated_edges(into_old), new)
    changed = bool(stated) is request.undo
    supersession = Supersession(transaction, registry, instant)
    if changed:
        if request.undo:
            await transaction.drop_edges(stated)
        else:
            at = request.at or min(new.timestamp or new.created_at, instant)
            edge = EdgeFactory(registry, instant).edge(
                _TYPE, new.uid, old.uid, by=CALLER, properties={UNTIL: at.isoformat()}
            )
            if await rejected_edges(transaction, [edge], {}):
                raise StateConflictError("new: it is replaced by `old`, in one step or several. Undo that first")
            await transaction.put_edges([edge])
        await record_change(transaction, tenant, ChangeKind.SUPERSEDE, 1, key=key, at=instant)
    touched = await supersession.date_items([old]) if changed else set()
    old = (await transaction.nodes([old.uid]))[old.uid]
    response = SupersedeResponse(
        context=context, new=new.uid, old=old.uid, superseded_at=old.superseded_at, changed=changed
    )
    brought_back = (*restored.items, *more.items)
    return _Replaced(
        response,
        (*touched, *(node.uid for node in brought_back)),
        (*restored.deleted_points, *more.deleted_points),
    )


async def _find(
    transaction: GraphTransaction, registry: EdgeRegistry, instant: datetime, context: str, field: str, given: str
) -> tuple[Node, RestoredItems]:
    """Return the latest version of an item that is named by id or uid, and what was restored for it."""
    named = given if given in await stored_versions(transaction, [given]) else None
    if named is None:
        item = (await items_by_uid(transaction.nodes, [given], context)).get(given)
        if item is None:
            raise _missing(field, given)
        named = item.source_id
    if named is not None:
        latest, restored = await latest_versions(transaction, registry, instant, {named: None})
        node = latest[named]
    else:
        restored = await Restorer(transaction, registry, instant).restore_uids([given])
        node = (await transaction.nodes([given]))[given]
    if node.retired_at is not None:
        raise StateConflictError(f"{field}: the item {given!r} is retracted. Ingest it again first")
    return node, restored


async def _by_item(transaction: GraphTransaction, stated: Sequence[Edge], new: Node) -> list[Edge]:
    """Return those edges that lead from any version of an item."""
    sources = await transaction.nodes(sorted({edge.source for edge in stated}))
    versions = {
        uid
        for uid, node in sources.items()
        if uid == new.uid or (new.source_id is not None and new.source_id in {node.source_id, uid})
    }
    return [edge for edge in stated if edge.source in versions]


def _missing(field: str, given: str) -> MissingRecordError:
    return MissingRecordError(f"{field}: there is no item {given!r}")
