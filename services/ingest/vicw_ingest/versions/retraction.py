"""Retraction of items by id or uid: the use case behind ``POST /items/retract``.

check → commit (one graph transaction) → rewrite the payloads (see ``index/service.py``) → answer
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import structlog
from prometheus_client import Counter

from vicw_core.changes import ChangeKind, record_change
from vicw_core.consolidation.restore import RestoredItems, Restorer
from vicw_core.filters.compiler import compile_in_context
from vicw_ingest.knowledge.page_graph import remove_pages
from vicw_ingest.pipeline import IngestPorts
from vicw_ingest.versions.filtered_items import choose_live
from vicw_ingest.versions.item_lookup import items_by_uid
from vicw_ingest.versions.restore import latest_versions, stored_versions
from vicw_ingest.versions.retirement import Retirement
from vicw_ingest.versions.supersession import Supersession
from vicw_shared.clock import now
from vicw_shared.errors import FieldProblem, InvalidInputError, RetryableError
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.ports import GraphStore, GraphTransaction
from vicw_shared.settings import LimitSettings
from vicw_shared.uids import context_uid, is_uid
from vicw_shared.wire.filters import Filter
from vicw_shared.wire.retract import RetractedItem, RetractedStatus, RetractRequest, RetractResponse

_log = structlog.get_logger()
RETRACTED = Counter("vicw_retract_items_total", "Ids that were to be retracted", ["status"])


@dataclass(frozen=True, slots=True)
class _Targets:
    """Items to retract in one ``context``: ids, and uids of items without an id, by the id or uid that was given."""

    context: str
    ids: Mapping[str, str] = field(default_factory=dict)
    uids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _RetractedBatch:
    """Outcome of a commit: the versions before it by what was given, uids of items whose payloads must be refreshed,
    and points without a node.
    """

    versions: Mapping[str, Node] = field(default_factory=dict)
    touched: tuple[str, ...] = ()
    obsolete_points: tuple[str, ...] = ()


async def retract(
    request: RetractRequest, tenant: str, ports: IngestPorts, *, key: str | None = None
) -> tuple[RetractResponse, bool]:
    """Retract items. Return the outcome of each, and whether the vector store is already up to date.

    ``key``: the id of the caller's key, for the record of changes.

    Everything is durable when this returns, and the call is idempotent. Items of several contexts are retracted in a
    transaction of each. Raises InvalidInputError, StorageFullError (nothing was changed) or UnavailableError.
    """
    instant = now()
    _check(request, ports.limits, instant)
    selected, named = None, request.context
    if request.filter is not None:
        request, selected = await _chosen(request, request.filter, tenant, ports)
    batches: list[_RetractedBatch] = []
    for context in await _contexts(request, tenant, ports.graph):
        work = partial(_commit, request, context, instant, ports.registry, tenant, key)
        batches.append(await ports.graph.write(tenant, context, work))
    versions = {given: node for batch in batches for given, node in batch.versions.items()}
    response = _response(request, versions, selected, named)
    if request.dry_run:
        return response, True
    await ports.indexer.discard([point for batch in batches for point in batch.obsolete_points])
    for item in response.items:
        RETRACTED.labels(item.status.value).inc()
    if request.wait:
        touched = [uid for batch in batches for uid in batch.touched]
        try:
            if await ports.indexer.wait_until_indexed(tenant, touched, ports.settings.wait_seconds):
                return response, True
        except RetryableError as error:
            _log.warning("waiting ended early; the retraction is durable", error=error.detail)
    await ports.queue.wake()
    return response, False


async def _chosen(
    request: RetractRequest, chosen: Filter, tenant: str, ports: IngestPorts
) -> tuple[RetractRequest, int]:
    """Return the request with the uids of what passes its filter, as many as one may have, and how many pass."""
    passing = await choose_live(ports.graph, tenant, compile_in_context(chosen, ports.limits, request.context))
    uids = tuple(passing[: ports.limits.items])
    return request.model_copy(update={"context": None, "uids": uids}), len(passing)


async def _contexts(request: RetractRequest, tenant: str, graph: GraphStore) -> list[str]:
    """Return the contexts to lock: the request's if it exists, else those of the items that ``uids`` name."""
    if request.context is None:
        items = await items_by_uid(lambda uids: graph.nodes(tenant, uids), request.uids)
        return sorted({item.context for item in items.values()})
    return [request.context] if await graph.nodes(tenant, [context_uid(tenant, request.context)]) else []


async def _commit(
    request: RetractRequest,
    context: str,
    instant: datetime,
    registry: EdgeRegistry,
    tenant: str,
    key: str | None,
    transaction: GraphTransaction,
) -> _RetractedBatch:
    targets = await _find_targets(request, context, transaction)
    if request.dry_run:
        stored = await stored_versions(transaction, list(dict.fromkeys(targets.ids.values())))
        unnamed = await items_by_uid(transaction.nodes, list(targets.uids.values()))
        return _RetractedBatch(_by_given(targets, stored, unnamed))
    latest, restored = await latest_versions(transaction, registry, instant, dict.fromkeys(targets.ids.values()))
    uids = list(dict.fromkeys(targets.uids.values()))
    more = await Restorer(transaction, registry, instant).restore_uids(uids) if uids else RestoredItems()
    unnamed = await items_by_uid(transaction.nodes, uids)
    versions = {node.uid: node for node in (*latest.values(), *unnamed.values())}
    live = [node for node in versions.values() if node.retired_at is None]
    retirement = Retirement(transaction, registry, instant)
    retired = await retirement.retire(live, {node.uid: request.ended_at for node in live})
    await remove_pages(transaction, registry, instant, live)
    await retirement.retire_unsupported(retired, context)
    changed = await Supersession(transaction, registry, instant).apply(retired.neighbours)
    if live:
        await record_change(transaction, tenant, ChangeKind.RETRACT, len(live), key=key, at=instant)
    touched = {*versions, *(node.uid for node in (*restored.items, *more.items))}
    touched |= changed | retired.heirs | {edge.source for edge in retired.dropped if edge.type in IN_PAYLOAD}
    obsolete = (*restored.deleted_points, *more.deleted_points)
    return _RetractedBatch(_by_given(targets, latest, unnamed), tuple(touched), obsolete)


async def _find_targets(request: RetractRequest, context: str, transaction: GraphTransaction) -> _Targets:
    """Return what the request names in a context. A caller's id precedes an equal uid."""
    known = await stored_versions(transaction, list(dict.fromkeys(request.ids)))
    ids = {given: given for given in request.ids if given in known}
    uids = [given for given in dict.fromkeys((*request.ids, *request.uids)) if given not in ids and is_uid(given)]
    items = await items_by_uid(transaction.nodes, uids, context)
    ids |= {uid: item.source_id for uid, item in items.items() if item.source_id is not None}
    unnamed = [uid for uid, item in items.items() if item.source_id is None]
    ids |= {uid: uid for uid in await stored_versions(transaction, unnamed)}  # a patch made the uid its id
    if request.filter is not None:  # what was changed since it passed may not pass any more
        latest = await stored_versions(transaction, list(dict.fromkeys(ids.values())))
        ids = {uid: key for uid, key in ids.items() if key in latest and latest[key].uid == uid}
        unnamed = [uid for uid in unnamed if uid not in latest]
        return _Targets(context, ids, {uid: uid for uid in unnamed})
    return _Targets(context, ids, {uid: uid for uid in unnamed if uid not in ids})


def _by_given(targets: _Targets, latest: Mapping[str, Node], unnamed: Mapping[str, Node]) -> dict[str, Node]:
    """Return the versions before the retraction by the id or uid that was given."""
    versions = {given: latest[key] for given, key in targets.ids.items() if key in latest}
    return versions | {given: unnamed[uid] for given, uid in targets.uids.items() if uid in unnamed}


def _response(
    request: RetractRequest, versions: Mapping[str, Node], selected: int | None, context: str | None
) -> RetractResponse:
    items = [_outcome(versions.get(given), given) for given in request.ids]
    uids = request.uids if selected is None else tuple(uid for uid in request.uids if uid in versions)
    for uid in uids:
        version = versions.get(uid)
        items.append(_outcome(version, version.source_id if version is not None else None))
    different = {(item.uid or given): item for item, given in zip(items, (*request.ids, *uids), strict=True)}
    counts = Tally(item.status for item in different.values())
    return RetractResponse(
        context=context,
        items=tuple(items),
        counts={status: counts[status] for status in RetractedStatus},
        selected=selected,
        dry_run=request.dry_run,
    )


def _outcome(version: Node | None, item_id: str | None) -> RetractedItem:
    if version is None:
        return RetractedItem(id=item_id, uid=None, status=RetractedStatus.UNKNOWN)
    status = RetractedStatus.RETRACTED if version.retired_at is None else RetractedStatus.ALREADY
    return RetractedItem(id=item_id, uid=version.uid, status=status)


def _check(request: RetractRequest, limits: LimitSettings, instant: datetime) -> None:
    problems = list(_problems(request, limits, instant))
    if problems:
        raise InvalidInputError(*problems[:20])


def _problems(request: RetractRequest, limits: LimitSettings, instant: datetime) -> Iterator[FieldProblem]:
    named = "ids" if request.ids else "uids" if request.uids else None
    if named is None and request.filter is None:
        yield FieldProblem(
            "ids", "is missing, and so are uids and filter", "Give `ids` of a context, `uids` or `filter`"
        )
    if named is not None and request.filter is not None:
        yield FieldProblem("filter", f"stands beside {named}", "Give the one or the other")
    if request.all and request.filter is None:
        yield FieldProblem("all", "has no filter beside it", "Leave it out")
    if request.filter is not None and not request.filter.size() and request.context is None and not request.all:
        yield FieldProblem("filter", "has no condition: every item passes it", "Name some, or send `all` as well")
    if request.ids and request.context is None:
        yield FieldProblem("context", "is missing", "Name the context of the ids: an id is unique inside it alone")
    if (count := len(request.ids) + len(request.uids)) > limits.items:
        yield FieldProblem(
            named or "uids",
            f"has {count} ids and uids, over the limit of {limits.items}",
            "Send them in several requests, or raise VICW_MAX_ITEMS",
        )
    if request.ended_at is not None and request.ended_at > instant:
        yield FieldProblem(
            "ended_at", "lies in the future", "Give an instant that is over, or ingest the item with expires_at"
        )
