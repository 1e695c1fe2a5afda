"""Eviction service: choose the lightest items of each tenant over its limit → erase them → log their number.

The erasing transaction checks each item again under its context's lock, so that changes since the choice count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched

from prometheus_client import Counter as Counted

from vicw_ingest.erasure.service import Eraser
from vicw_ingest.erasure.transaction import ErasureTransaction
from vicw_ingest.eviction.candidates import WeighedItem, correcting_of, weakest
from vicw_ingest.eviction.policy import EvictionPolicy, is_kept_item
from vicw_shared.model import Node
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome, Store, WorkQueue
from vicw_shared.uids import context_uid, make_uid

FORGET = "forget"
"""Task name of eviction in the log of the sleep cycle."""
"""Items that one transaction erases."""
ERASED = Counted("vicw_eviction_erased_total", "Items that were evicted for lack of space")

type OnEvicted = Callable[[Node, float], None]
"""Receives each evicted item and its weight."""


@dataclass(slots=True)
class EvictionReport:
    """Result of a run: number of items ``erased``, and whether there is ``more`` to do now."""

    erased: int = 0
    more: bool = False

    def add(self, other: EvictionReport) -> None:
        """Add the result of the following run."""
        self.erased += other.erased
        self.more = other.more


@dataclass(frozen=True, slots=True)
class Eviction:
    """Evict items of tenants over their limit. Any number may run at once."""

    graph: Store
    eraser: Eraser
    queue: WorkQueue
    on_evicted: OnEvicted = field(default=lambda item, weight: None)
    batch: int = 25
    """Items that one transaction erases."""

    async def run(
        self, policy: EvictionPolicy, *, now: datetime, dry: bool = False, most: int = 10_000
    ) -> EvictionReport:
        """Erase the lightest items of each tenant over its limit, at most ``most`` per tenant.

        ``dry`` only reports what a run would erase. Raises the engines' errors; items erased until then stay erased.
        """
        done = EvictionReport()
        chosen = await weakest(self.graph, policy, now, most)
        for tenant, found in chosen.items():
            if dry:
                for batch in batched(found, self.batch):
                    self._count(await self.graph.nodes(tenant, [one.uid for one in batch]), batch, done)
            else:
                await self._erase(tenant, found, policy, now, done)
        done.more = not dry and done.erased > 0 and any(len(found) == most for found in chosen.values())
        return done

    async def _erase(
        self, tenant: str, found: Sequence[WeighedItem], policy: EvictionPolicy, now: datetime, done: EvictionReport
    ) -> None:
        of_context: dict[str, list[WeighedItem]] = defaultdict(list)
        for one in found:
            of_context[one.context].append(one)
        gone: list[Node] = []
        try:
            for context, some in of_context.items():
                went = 0
                for batch in batched(some, self.batch):
                    nodes, count = await self._erase_batch(tenant, context, batch, went, policy, now, done)
                    gone += nodes
                    went += count
        finally:
            await self.eraser.sweep(tenant, gone)
            await self.queue.wake()

    async def _erase_batch(
        self,
        tenant: str,
        context: str,
        batch: Sequence[WeighedItem],
        before: int,
        policy: EvictionPolicy,
        now: datetime,
        done: EvictionReport,
    ) -> tuple[list[Node], int]:
        """Erase items of a context. Return all erased nodes and the number of items.

        ``before`` is the number of items that this run has already erased in the context.
        """
        going: dict[str, Node] = {}

        async def work(transaction: GraphTransaction) -> list[Node]:
            going.clear()
            items = await transaction.nodes([one.uid for one in batch])
            uses = await self.graph.uses.uses(tenant, list(items))
            correcting = await correcting_of(self.graph, tenant, list(items))
            for uid, item in items.items():
                if is_kept_item(item) and uid not in correcting and not policy.stays(item, uses.get(uid), now):
                    going[uid] = item
            if not going:
                return []
            erasing = ErasureTransaction(transaction, self.eraser.registry, now, tenant, context)
            gone = await erasing.erase([uid for item in going.values() for uid in item.items])
            await transaction.log_step(_step(tenant, context, before + _items(going), now))
            return gone

        gone = await self.graph.write(tenant, context, work)
        self._count(going, batch, done)
        ERASED.inc(_items(going))
        return gone, _items(going)

    def _count(self, items: Mapping[str, Node], weighed: Sequence[WeighedItem], done: EvictionReport) -> None:
        for one in weighed:
            if one.uid in items:
                done.erased += len(items[one.uid].items)
                self.on_evicted(items[one.uid], one.weight)


def _items(nodes: Mapping[str, Node]) -> int:
    return sum(len(node.items) for node in nodes.values())


def _step(tenant: str, context: str, items: int, now: datetime) -> MaintenanceStep:
    """Return the log entry of a run: the number of evicted items of a context, without any of their text."""
    root = context_uid(tenant, context)
    return MaintenanceStep(
        id=make_uid(FORGET, root, now.isoformat()),
        tenant=tenant,
        context=context,
        task=FORGET,
        outcome=Outcome.DONE,
        at=now,
        subject=root,
        details={"items": items},
    )
