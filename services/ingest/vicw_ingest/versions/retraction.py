"""Retraction of items by id: the use case behind ``POST /items/retract``.

check → commit (one graph transaction) → rewrite the payloads (see ``index/service.py``) → answer
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from prometheus_client import Counter

from vicw_ingest.knowledge.page_graph import remove_pages
from vicw_ingest.pipeline import IngestPorts
from vicw_ingest.versions.restore import latest_versions
from vicw_ingest.versions.retirement import Retirement
from vicw_ingest.versions.supersession import Supersession
from vicw_shared.clock import now
from vicw_shared.errors import FieldProblem, InvalidInputError, RetryableError
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.ports import GraphTransaction
from vicw_shared.settings import LimitSettings
from vicw_shared.uids import context_uid
from vicw_shared.wire.retract import RetractedItem, RetractedStatus, RetractRequest, RetractResponse

_log = structlog.get_logger()
RETRACTED = Counter("vicw_retract_items_total", "Ids that were to be retracted", ["status"])


@dataclass(frozen=True, slots=True)
class _RetractedBatch:
    """Outcome of a commit: items, uids of items whose payloads must be refreshed, and points without a node."""

    items: tuple[RetractedItem, ...]
    touched: tuple[str, ...]
    obsolete_points: tuple[str, ...] = ()


async def retract(request: RetractRequest, tenant: str, ports: IngestPorts) -> tuple[RetractResponse, bool]:
    """Retract items. Return the outcome of each, and whether the vector store is already up to date.

    Everything is durable when this returns, and the call is idempotent. Raises InvalidInputError, StorageFullError
    (nothing was changed) or UnavailableError.
    """
    instant = now()
    _check(request, ports.limits, instant)
    batch = _RetractedBatch(_outcomes(request.ids, {}), ())
    root = context_uid(tenant, request.context)
    if await ports.graph.nodes(tenant, [root]):  # else there is nothing to lock
        batch = await ports.graph.write(
            tenant,
            request.context,
            lambda transaction: _commit(request, instant, ports.registry, transaction),
        )
    await ports.indexer.discard(batch.obsolete_points)
    for item in batch.items:
        RETRACTED.labels(item.status.value).inc()
    response = RetractResponse(context=request.context, items=batch.items)
    if request.wait:
        try:
            if await ports.indexer.wait_until_indexed(tenant, batch.touched, ports.settings.wait_seconds):
                return response, True
        except RetryableError as error:
            _log.warning("waiting ended early; the retraction is durable", error=error.detail)
    await ports.queue.wake()
    return response, False


async def _commit(
    request: RetractRequest, instant: datetime, registry: EdgeRegistry, transaction: GraphTransaction
) -> _RetractedBatch:
    latest, restored = await latest_versions(transaction, registry, instant, dict.fromkeys(request.ids))
    live = [node for node in latest.values() if node.retired_at is None]
    retirement = Retirement(transaction, registry, instant)
    retired = await retirement.retire(live, {node.uid: request.ended_at for node in live})
    await remove_pages(transaction, registry, instant, live)
    await retirement.retire_unsupported(retired, request.context)
    changed = await Supersession(transaction, registry, instant).apply(retired.neighbours)
    touched = {node.uid for node in (*latest.values(), *restored.items)}
    touched |= changed | retired.heirs | {edge.source for edge in retired.dropped if edge.type in IN_PAYLOAD}
    return _RetractedBatch(_outcomes(request.ids, latest), tuple(touched), restored.deleted_points)


def _outcomes(ids: Sequence[str], latest: Mapping[str, Node]) -> tuple[RetractedItem, ...]:
    """Return the outcome of each id. ``latest`` are the items' versions before the retraction."""
    return tuple(_outcome(key, latest.get(key)) for key in ids)


def _outcome(key: str, version: Node | None) -> RetractedItem:
    if version is None:
        return RetractedItem(id=key, uid=None, status=RetractedStatus.UNKNOWN)
    status = RetractedStatus.RETRACTED if version.retired_at is None else RetractedStatus.ALREADY
    return RetractedItem(id=key, uid=version.uid, status=status)


def _check(request: RetractRequest, limits: LimitSettings, instant: datetime) -> None:
    problems = list(_problems(request, limits, instant))
    if problems:
        raise InvalidInputError(*problems[:20])


def _problems(request: RetractRequest, limits: LimitSettings, instant: datetime) -> Iterator[FieldProblem]:
    if len(request.ids) > limits.items:
        yield FieldProblem(
            "ids",
            f"has {len(request.ids)} ids, over the limit of {limits.items}",
            "Send them in several requests, or raise VICW_MAX_ITEMS",
        )
    if request.ended_at is not None and request.ended_at > instant:
        yield FieldProblem(
            "ended_at", "lies in the future", "Give an instant that is over, or ingest the item with expires_at"
        )
