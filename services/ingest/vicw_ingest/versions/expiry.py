"""Items whose ``expires_at`` has passed leave the present, with all that rests on them alone (docs/decisions/0019).

Answers leave out what has expired from that instant on, whoever has come this far. What this adds is that nothing
timeless stands when they are gone: names that only they told of, edges between things that live on, gaps in chains.
The transaction that retires an item logs it, without a word of the item: so what is gone can be told.
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
from vicw_shared.chains import Chains
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.ports import GraphStore, GraphTransaction, MaintenanceStep, Outcome, WorkQueue
from vicw_shared.uids import make_uid

EXPIRE = "expire"
"""The task by which the log of the sleep cycle knows what was retired since its time was over."""
_log = structlog.get_logger()
EXPIRED = Counter("vicw_ingest_expired_total", "Items that were retired since their time was over")
_AT_ONCE = 100
"""Items that one look finds, and one transaction retires at most."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Retires what has expired. Any number of these may be at work: what one has retired the others do not find."""

    graph: GraphStore
    registry: EdgeRegistry
    queue: WorkQueue
    """Woken when passages have to follow."""

    async def run(self, every_seconds: float) -> NoReturn:
        """Look again and again, for ever."""
        while True:
            await self.look()
            await asyncio.sleep(every_seconds)

    async def look(self, *, seconds: float = float("inf")) -> None:
        """Do what ``drain`` does; what goes wrong is logged, and is for the next look."""
        try:
            await self.drain(seconds=seconds)
        except VicwError as error:
            _log.warning("what has expired could not be retired; the next look tries again", error=error.detail)

    async def drain(self, *, seconds: float = float("inf")) -> int:
        """Retire whatever has expired by now, or begin nothing more after so many ``seconds``; return how many items.

        Raises StorageFullError or UnavailableError; what was retired until then stays so.
        """
        instant, until, count = now(), time.monotonic() + seconds, 0
        while time.monotonic() < until and (found := await self.graph.expired(instant, limit=_AT_ONCE)):
            retired = 0
            for (tenant, context), items in _by_context(found).items():
                retired += await self._retire(tenant, context, items, instant)
            EXPIRED.inc(retired)
            count += retired
            if not retired:
                break  # somebody else is at it
        if count:
            _log.info("retired what has expired", items=count)
            await self.queue.wake()
        return count

    async def _retire(self, tenant: str, context: str, uids: Sequence[str], instant: datetime) -> int:
        async def work(transaction: GraphTransaction) -> int:
            found = (await transaction.nodes(uids)).values()
            over = [node for node in found if node.retired_at is None and _is_over(node, instant)]
            retirement = Retirement(transaction, self.registry, instant, Chains(transaction, self.registry, instant))
            retired = await retirement.retire(over, {node.uid: node.expires_at for node in over})
            await remove_pages(transaction, self.registry, instant, over)
            await retirement.release(retired, context)
            await Supersession(transaction, self.registry, instant).apply(retired.beside)
            for node in over:
                await transaction.log_step(_step(node, instant))
            return len(over)

        return await self.graph.write(tenant, context, work)


def _is_over(node: Node, instant: datetime) -> bool:
    return node.expires_at is not None and node.expires_at <= instant


def _step(item: Node, instant: datetime) -> MaintenanceStep:
    """Return what is logged of an item, or of a Macro-Event: of that the flow, by which an erasure finds its step."""
    end = item.expires_at.isoformat() if item.expires_at is not None else ""
    told: dict[str, object] = {"flow": item.flow_id, "sources": len(item.items)} if item.is_macro else {}
    return MaintenanceStep(
        id=make_uid(EXPIRE, item.uid, end),
        tenant=item.tenant,
        context=item.context,
        task=EXPIRE,
        outcome=Outcome.DONE,
        at=instant,
        subject=item.uid,
        details={"item": item.source_id, "expired": end, **told},
    )


def _by_context(items: Sequence[Node]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for item in items:
        found.setdefault((item.tenant, item.context), []).append(item.uid)
    return found
