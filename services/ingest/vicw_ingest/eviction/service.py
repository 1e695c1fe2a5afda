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

from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.transaction import ErasureTransaction
from vicw_ingest.eviction.policy import EvictionPolicy, WeighedItem, is_kept_item, lightest_items, superseding_items
from vicw_shared.model import Node
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome, Store, WorkQueue
from vicw_shared.uids import context_uid, make_uid

EVICT = "forget"
"""Task name of eviction in the log of the sleep cycle."""
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
        self, policy: EvictionPolicy, *, now: datetime, dry: bool = False, limit: int = 10_000
    ) -> EvictionReport:
        """Erase the lightest items of each tenant over its limit, at most ``limit`` per tenant.

        ``dry`` only reports what a run would erase. Raises the engines' errors; items erased until then stay erased.
        """
        done = EvictionReport()
        chosen = await lightest_items(self.graph, policy, now, limit)
        for tenant, items in chosen.items():
            if dry:
                for batch in batched(items, self.batch):
                    self._count(await self.graph.nodes(tenant, [item.uid for item in batch]), batch, done)
            else:
                await self._erase(tenant, items, policy, now, done)
        done.more = not dry and done.erased > 0 and any(len(items) == limit for items in chosen.values())
        return done

    async def _erase(
        self, tenant: str, items: Sequence[WeighedItem], policy: EvictionPolicy, now: datetime, done: EvictionReport
    ) -> None:
        by_context: dict[str, list[WeighedItem]] = defaultdict(list)
        for item in items:
            by_context[item.context].append(item)
        erased: list[Node] = []
        try:
            for context, in_context in by_context.items():
                erased_items = 0
                for batch in batched(in_context, self.batch):
                    nodes, count = await self._erase_batch(tenant, context, batch, erased_items, policy, now, done)
                    erased += nodes
                    erased_items += count
        finally:
            await self.eraser.sweep(tenant, erased)
            await self.queue.wake()

    async def _erase_batch(
        self,
        tenant: str,
        context: str,
        batch: Sequence[WeighedItem],
        already_erased: int,
        policy: EvictionPolicy,
        now: datetime,
        done: EvictionReport,
    ) -> tuple[list[Node], int]:
        """Erase items of a context. Return all erased nodes and the number of items.

        ``already_erased`` is the number of items that this run has erased in the context before.
        """
        evicted: dict[str, Node] = {}

        async def work(transaction: GraphTransaction) -> list[Node]:
            evicted.clear()
            items = await transaction.nodes([one.uid for one in batch])
            uses = await self.graph.uses.uses(tenant, list(items))
            superseding = await superseding_items(self.graph, tenant, list(items))
            for uid, item in items.items():
                if (
                    is_kept_item(item)
                    and uid not in superseding
                    and not policy.reason_to_keep(item, uses.get(uid), now)
                ):
                    evicted[uid] = item
            if not evicted:
                return []
            erasing = ErasureTransaction(transaction, self.eraser.registry, now, tenant, context)
            erased = await erasing.erase([uid for item in evicted.values() for uid in item.items])
            await transaction.log_step(_step(tenant, context, already_erased + _items(evicted), now))
            return erased

        erased = await self.graph.write(tenant, context, work)
        self._count(evicted, batch, done)
        ERASED.inc(_items(evicted))
        return erased, _items(evicted)

    def _count(self, items: Mapping[str, Node], weighed: Sequence[WeighedItem], done: EvictionReport) -> None:
        for item in weighed:
            if item.uid in items:
                done.erased += len(items[item.uid].items)
                self.on_evicted(items[item.uid], item.weight)


def _items(nodes: Mapping[str, Node]) -> int:
    return sum(len(node.items) for node in nodes.values())


def _step(tenant: str, context: str, items: int, now: datetime) -> MaintenanceStep:
    """Return the log entry of a run: the number of evicted items of a context, without any of their text."""
    root = context_uid(tenant, context)
    return MaintenanceStep(
        id=make_uid(EVICT, root, now.isoformat()),
        tenant=tenant,
        context=context,
        task=EVICT,
        outcome=Outcome.DONE,
        at=now,
        subject=root,
        details={"items": items},
    )
