"""Eviction policy: weights of items, reasons to keep them, and the lowest weights of a tenant over its limit."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import batched

from vicw_core.graph.decay import last_used_or_created, weight
from vicw_shared.model import Label, Node
from vicw_shared.model.supersession import decides
from vicw_shared.ports import Direction, GraphAudit, GraphStore, Nodes, Scans, Store, Use, Uses, scan_pages
from vicw_shared.settings import EvictionSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionPolicy:
    """Policy for tenants with more than ``items`` items. Weights halve in each ``half_life`` of disuse.

    Items stored or shown within ``protected_for``, and protected items, stay.
    """

    items: int
    half_life: timedelta = timedelta(days=90)
    protected_for: timedelta = timedelta(days=30)

    @classmethod
    def of(cls, settings: EvictionSettings) -> EvictionPolicy:
        """Return the policy of the settings."""
        return cls(items=settings.items, half_life=settings.half_life, protected_for=settings.protected_for)

    def weight(self, item: Node, use: Use | None, now: datetime) -> float:
        """Return the weight of an item, in [0, 1]. The lowest go first."""
        return weight(item, use, now, self.half_life)

    def reason_to_keep(self, item: Node, use: Use | None, now: datetime) -> str:
        """Return the reason why an item may not be evicted, or "" if it may."""
        if item.protected:
            return "it is protected"
        if now - last_used_or_created(item, use) < self.protected_for:
            return "it was stored or shown recently"
        return ""


def is_kept_item(node: Node) -> bool:
    """Return whether a node counts as an item: live, and a caller's item or a Macro-Event."""
    return node.content_hash is not None and node.retired_at is None


_LABELS = (Label.EVENT, Label.ENTITY, Label.CONCEPT)
_BATCH = 200
_MAX_NEIGHBOURS = 1000


@dataclass(frozen=True, slots=True, order=True)
class WeighedItem:
    """An evictable item, ordered by weight, then by time."""

    weight: float
    at: datetime
    uid: str
    context: str


async def lightest_items(
    graph: Store, policy: EvictionPolicy, now: datetime, limit: int
) -> dict[str, list[WeighedItem]]:
    """Return up to ``limit`` items of lowest weight of each tenant over its limit, lightest first.

    Fewer, if the remaining items may not be evicted.
    """
    over = {tenant: min(counts - policy.items, limit) for tenant, counts in (await _item_counts(graph.audit)).items()}
    over = {tenant: count for tenant, count in over.items() if count > 0}
    if not over:
        return {}
    counts: Counter[str] = Counter()
    lightest: dict[str, list[WeighedItem]] = defaultdict(list)
    async for page in _pages(graph):
        counts.update(node.tenant for node in page)
        for tenant, weighed in (await _weigh(graph, [n for n in page if n.tenant in over], policy, now)).items():
            lightest[tenant] = heapq.nsmallest(
                over[tenant], [*lightest[tenant], *await _evictable(graph, tenant, weighed)]
            )
    # Another run may have erased some since: an item chosen by both is erased once, and no other replaces it.
    return {tenant: weighed[: max(0, counts[tenant] - policy.items)] for tenant, weighed in lightest.items()}


async def _item_counts(graph: GraphAudit) -> Counter[str]:
    """Return the number of items of each tenant."""
    counts: Counter[str] = Counter()
    async for page in _pages(graph):
        counts.update(node.tenant for node in page)
    return counts


async def _weigh(
    graph: Store, items: Sequence[Node], policy: EvictionPolicy, now: datetime
) -> dict[str, list[WeighedItem]]:
    weighed: dict[str, list[WeighedItem]] = defaultdict(list)
    uses = await _uses(graph.uses, items)
    for item in items:
        use = uses.get(item.uid)
        if not policy.reason_to_keep(item, use, now):
            weighed[item.tenant].append(
                WeighedItem(policy.weight(item, use, now), item.timestamp or item.created_at, item.uid, item.context)
            )
    return weighed


async def _uses(graph: Uses, items: Sequence[Node]) -> dict[str, Use]:
    """Return the uses of these items, across tenants."""
    by_tenant: dict[str, list[str]] = defaultdict(list)
    for item in items:
        by_tenant[item.tenant].append(item.uid)
    return {uid: use for tenant, uids in by_tenant.items() for uid, use in (await graph.uses(tenant, uids)).items()}


async def _evictable(graph: GraphStore, tenant: str, weighed: Sequence[WeighedItem]) -> list[WeighedItem]:
    """Return the items that supersede nothing: without the correction, the superseded statement would be true again."""
    evictable: list[WeighedItem] = []
    for batch in batched(weighed, _BATCH):
        superseding = await superseding_items(graph, tenant, [item.uid for item in batch])
        evictable += [item for item in batch if item.uid not in superseding]
    return evictable


async def superseding_items(graph: GraphStore, tenant: str, items: Sequence[str]) -> set[str]:
    """Return the items (uids) with a statement that decides that another is past."""
    proofs = await graph.expand(tenant, list(items), [("EVIDENCED_BY", Direction.OUT)], _MAX_NEIGHBOURS)
    owners: dict[str, set[str]] = defaultdict(set)  # a duplicate shares its source's passages
    for proof in proofs:
        owners[proof.node.uid].add(proof.origin)
    evidenced = await graph.expand(tenant, list(owners), [("EVIDENCED_BY", Direction.IN)], _MAX_NEIGHBOURS)
    owners_by_statement: dict[str, set[str]] = defaultdict(set)
    for neighbour in evidenced:
        if neighbour.node.is_statement:
            owners_by_statement[neighbour.node.uid] |= owners[neighbour.origin]
    newer = await graph.expand(tenant, list(owners_by_statement), [("SUPERSEDES", Direction.OUT)], _MAX_NEIGHBOURS)
    deciding = [neighbour for neighbour in newer if decides(neighbour.edge)]
    return {owner for neighbour in deciding for owner in owners_by_statement[neighbour.origin]}


async def _pages(graph: Scans) -> AsyncIterator[list[Node]]:
    """Yield the kept items of all tenants."""
    for label in _LABELS:
        async for page in scan_pages(graph, Nodes(label)):
            yield [node for node in page if is_kept_item(node)]
