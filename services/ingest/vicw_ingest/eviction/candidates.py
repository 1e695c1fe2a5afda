"""Eviction candidates: the items of lowest weight of each tenant over its limit."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched

from vicw_ingest.eviction.policy import EvictionPolicy, is_kept_item
from vicw_shared.model import Label, Node
from vicw_shared.ports import Direction, GraphAudit, GraphStore, Nodes, Scans, Store, Use, Uses, scan_pages

_LABELS = (Label.EVENT, Label.ENTITY, Label.CONCEPT)
_AT_ONCE = 200
_MOST = 1000


@dataclass(frozen=True, slots=True, order=True)
class WeighedItem:
    """An evictable item, ordered by weight, then by time."""

    weight: float
    at: datetime
    uid: str
    context: str


async def weakest(graph: Store, policy: EvictionPolicy, now: datetime, most: int) -> dict[str, list[WeighedItem]]:
    """Return up to ``most`` items of lowest weight of each tenant over its limit, lightest first.

    Fewer, if the remaining items may not be evicted.
    """
    over = {tenant: min(held - policy.items, most) for tenant, held in (await _held(graph.audit)).items()}
    over = {tenant: count for tenant, count in over.items() if count > 0}
    if not over:
        return {}
    held: Counter[str] = Counter()
    lightest: dict[str, list[WeighedItem]] = defaultdict(list)
    async for page in _pages(graph):
        held.update(node.tenant for node in page)
        for tenant, found in (await _weigh(graph, [n for n in page if n.tenant in over], policy, now)).items():
            lightest[tenant] = heapq.nsmallest(over[tenant], [*lightest[tenant], *await _free(graph, tenant, found)])
    # Another run may have erased some since: an item chosen by both goes once, and no other replaces it.
    return {tenant: found[: max(0, held[tenant] - policy.items)] for tenant, found in lightest.items()}


async def _held(graph: GraphAudit) -> Counter[str]:
    """Return the number of items of each tenant."""
    held: Counter[str] = Counter()
    async for page in _pages(graph):
        held.update(node.tenant for node in page)
    return held


async def _weigh(
    graph: Store, items: Sequence[Node], policy: EvictionPolicy, now: datetime
) -> dict[str, list[WeighedItem]]:
    found: dict[str, list[WeighedItem]] = defaultdict(list)
    uses = await _uses(graph.uses, items)
    for item in items:
        use = uses.get(item.uid)
        if not policy.stays(item, use, now):
            found[item.tenant].append(
                WeighedItem(policy.weight(item, use, now), item.timestamp or item.created_at, item.uid, item.context)
            )
    return found


async def _uses(graph: Uses, items: Sequence[Node]) -> dict[str, Use]:
    """Return the uses of these items, across tenants."""
    of: dict[str, list[str]] = defaultdict(list)
    for item in items:
        of[item.tenant].append(item.uid)
    return {uid: use for tenant, uids in of.items() for uid, use in (await graph.uses(tenant, uids)).items()}


async def _free(graph: GraphStore, tenant: str, weighed: Sequence[WeighedItem]) -> list[WeighedItem]:
    """Return the items that supersede nothing: without the correction, the superseded statement would be true again."""
    found: list[WeighedItem] = []
    for batch in batched(weighed, _AT_ONCE):
        correcting = await correcting_of(graph, tenant, [one.uid for one in batch])
        found += [one for one in batch if one.uid not in correcting]
    return found


async def correcting_of(graph: GraphStore, tenant: str, items: Sequence[str]) -> set[str]:
    """Return the items (uids) with a statement that supersedes another."""
    proofs = await graph.expand(tenant, list(items), [("EVIDENCED_BY", Direction.OUT)], _MOST)
    owners: dict[str, set[str]] = defaultdict(set)  # a duplicate shares its source's passages
    for proof in proofs:
        owners[proof.node.uid].add(proof.origin)
    told = await graph.expand(tenant, list(owners), [("EVIDENCED_BY", Direction.IN)], _MOST)
    tellers: dict[str, set[str]] = defaultdict(set)
    for one in told:
        if one.node.is_statement:
            tellers[one.node.uid] |= owners[one.origin]
    newer = await graph.expand(tenant, list(tellers), [("SUPERSEDES", Direction.OUT)], 1)
    return {owner for one in newer for owner in tellers[one.origin]}


async def _pages(graph: Scans) -> AsyncIterator[list[Node]]:
    """Yield the kept items of all tenants."""
    for label in _LABELS:
        async for page in scan_pages(graph, Nodes(label)):
            yield [node for node in page if is_kept_item(node)]
