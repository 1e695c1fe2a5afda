"""Use case of counting what is stored."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, timedelta

from vicw_core.background import in_thread
from vicw_retrieval.items.service import viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.wire.stats import DayStats, QueueStats, StatsQuery, StoreStats


async def read_statistics(query: StatsQuery, tenant: str, ports: RetrievalPorts, *, of_disk: bool) -> StoreStats:
    """Return the counts of a tenant's items that the viewer may see. ``of_disk``: tell the size of the files, too.

    Without a viewer the writes that wait for the index are counted, too; they are not told apart by who may see them.
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
        queue=await _queue(tenant, ports) if everything else None,
        disk_bytes=await in_thread(ports.disk_bytes) if everything and of_disk and ports.disk_bytes else None,
    )


async def _queue(tenant: str, ports: RetrievalPorts) -> QueueStats | None:
    if ports.outbox is None:
        return None
    backlog = await ports.outbox.backlog(tenant)
    return QueueStats(waiting=backlog.waiting, failing=backlog.failing, dead=backlog.dead)
