"""Expiry: retire items after their ``expires_at``, with everything that rests on them alone (docs/decisions/0019).

Answers leave out expired items from that instant on, even before this job runs. The job also removes what has no end
in time: names mentioned only by expired items, edges between live nodes, and gaps in chains.
The transaction that retires an item logs it, without any of the item's text.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

import structlog
from prometheus_client import Counter

from vicw_ingest.knowledge.page_graph import remove_pages
from vicw_ingest.versions.retirement import Retirement
from vicw_ingest.versions.supersession import Supersession
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.ports import GraphStore, GraphTransaction, MaintenanceStep, Outcome, WorkQueue
from vicw_shared.uids import make_uid

EXPIRE = "expire"
"""Task name of expiry in the log of the sleep cycle."""
_log = structlog.get_logger()
EXPIRED = Counter("vicw_ingest_expired_total", "Items retired after they expired")
_BATCH = 100
"""Maximum number of items per query and per transaction."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Retire expired items. Any number may run at once: items that one has retired are not found by the others."""

    graph: GraphStore
    registry: EdgeRegistry
    queue: WorkQueue
    """Woken when points must be updated."""

    async def run(self, every_seconds: float) -> NoReturn:
        """Retire expired items every ``every_seconds``, forever."""
        while True:
            await self.run_once()
            await asyncio.sleep(every_seconds)

    async def run_once(self, *, seconds: float = float("inf")) -> None:
        """Run ``drain``. Errors are logged, and the next run tries again."""
        try:
            await self.drain(seconds=seconds)
        except VicwError as error:
            _log.warning("expired items could not be retired; retried at the next run", error=error.detail)

    async def drain(self, *, seconds: float = float("inf")) -> int:
        """Retire all items expired by now and return their number. Starts no new batch after ``seconds``.

        Raises StorageFullError or UnavailableError; items retired until then stay retired.
        """
        instant, until, count = now(), time.monotonic() + seconds, 0
        while time.monotonic() < until and (expired := await self.graph.expired(instant, limit=_BATCH)):
            retired = 0
            for (tenant, context), items in _by_context(expired).items():
                retired += await self._retire(tenant, context, items, instant)
            EXPIRED.inc(retired)
            count += retired
            if not retired:
                break  # another process is retiring them
        if count:
            _log.info("expired items retired", items=count)
            await self.queue.wake()
        return count

    async def _retire(self, tenant: str, context: str, uids: Sequence[str], instant: datetime) -> int:
        async def work(transaction: GraphTransaction) -> int:
            nodes = (await transaction.nodes(uids)).values()
            expired = [node for node in nodes if node.retired_at is None and _is_expired(node, instant)]
            retirement = Retirement(transaction, self.registry, instant)
            retired = await retirement.retire(expired, {node.uid: node.expires_at for node in expired})
            await remove_pages(transaction, self.registry, instant, expired)
            await retirement.retire_unsupported(retired, context)
            await Supersession(transaction, self.registry, instant).apply(retired.neighbours)
            for node in expired:
                await transaction.log_step(_step(node, instant))
            return len(expired)

        return await self.graph.write(tenant, context, work)


def _is_expired(node: Node, instant: datetime) -> bool:
    return node.expires_at is not None and node.expires_at <= instant


def _step(item: Node, instant: datetime) -> MaintenanceStep:
    """Return the log entry of an item. A Macro-Event's entry names the flow, by which an erasure finds the entry."""
    end = item.expires_at.isoformat() if item.expires_at is not None else ""
    macro_details: dict[str, object] = {"flow": item.flow_id, "sources": len(item.items)} if item.is_macro else {}
    return MaintenanceStep(
        id=make_uid(EXPIRE, item.uid, end),
        tenant=item.tenant,
        context=item.context,
        task=EXPIRE,
        outcome=Outcome.DONE,
        at=instant,
        subject=item.uid,
        details={"item": item.source_id, "expired": end, **macro_details},
    )


def _by_context(items: Sequence[Node]) -> dict[tuple[str, str], list[str]]:
    uids: dict[tuple[str, str], list[str]] = {}
    for item in items:
        uids.setdefault((item.tenant, item.context), []).append(item.uid)
    return uids
