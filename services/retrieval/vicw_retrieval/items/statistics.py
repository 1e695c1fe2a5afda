"""Use case of counting what is stored."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, timedelta
from typing import Any

from vicw_core.background import in_thread
from vicw_retrieval.items.service import viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.clock import now
from vicw_shared.model.receipts import IMPORT_DEAD_AFTER, IMPORT_KEY, RUNNING_IMPORT
from vicw_shared.ports import Backlog, Store
from vicw_shared.wire.stats import DayStats, QueueStats, StatsQuery, StoreStats

_MOST_IMPORTS = 1000
"""More of a tenant's imports of the last minute are not counted."""


async def read_statistics(query: StatsQuery, tenant: str, ports: RetrievalPorts, *, of_disk: bool) -> StoreStats:
    """Return the counts of a tenant's items that the viewer may see. ``of_disk``: tell the size of the files, too.

    Without a viewer the work that waits or runs is counted, too; it is not told apart by who may see what it is about.
    Raises UnavailableError while the graph is down.
    """
    scope = await viewer_scope(query, tenant, ports, None)
    parts = await ports.graph.context_parts(scope)
    retired = await ports.graph.context_parts(scope, retired=True)
    today = scope.now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = await ports.graph.arrivals_by_day(scope, today - timedelta(days=query.days - 1))
    labels: Counter[str] = Counter()
    domains: Counter[str] = Counter()
    for part in parts:
        labels[part.label.value] += part.items
        domains[part.domain] += part.items
    passages, indexed = sum(part.passages for part in parts), sum(part.indexed for part in parts)
    everything = scope.audience is None
    return StoreStats(
        items=labels.total(),
        retired=sum(part.items for part in retired),
        contexts=len({part.context for part in parts}),
        labels=dict(labels),
        domains=dict(domains),
        passages=passages,
        chars=sum(part.chars for part in parts),
        vectors=indexed if ports.words is None else 0,
        waiting=passages - indexed,
        days=tuple(DayStats(day=day, items=items) for day, items in days.items()),
        **(await _unfinished(tenant, ports.unfinished) if everything and ports.unfinished is not None else {}),
        disk_bytes=await in_thread(ports.disk_bytes) if everything and of_disk and ports.disk_bytes else None,
    )


async def _unfinished(tenant: str, store: Store) -> dict[str, Any]:
    """Return the fields of what is not done yet. An import that died tells of itself for a moment longer."""
    since = now() - IMPORT_DEAD_AFTER
    imports = await store.record.recent_receipts(tenant, IMPORT_KEY, since, limit=_MOST_IMPORTS)
    return {
        "queue": _counts(await store.outbox.backlog(tenant)),
        "extraction_queue": _counts(await store.pending_extractions.backlog(tenant)),
        "erasures": await store.erasures.pending(tenant),
        "imports": sum(one.body["status"] in RUNNING_IMPORT for one in imports),
    }


def _counts(backlog: Backlog) -> QueueStats:
    return QueueStats(waiting=backlog.waiting, failing=backlog.failing, dead=backlog.dead)
