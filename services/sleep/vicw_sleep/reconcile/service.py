"""Reconcile the vector store with the graph.

After a crash, points may be missing, orphaned, or older than the graph: a volume was restored, power was lost, a worker
wrote after its claim had expired. Payloads are compared, too, since they decide what a search may see.

A run has a limited size and runs beside all other work: a discrepancy is checked twice, since another process may be
writing. A point is written after its passage, except the points of a summary that consolidation is about to store. The
reconciler waits for these, and the later of the two detects and repairs a point that was removed all the same.
"""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from prometheus_client import Counter

from vicw_shared.ports import GraphAudit, Outbox, PendingKind, PendingPoint, VectorStore
from vicw_sleep.reconcile.discrepancies import (
    PAGE,
    Discrepancy,
    DiscrepancyKind,
    compared,
    orphaned,
    still_orphaned,
    unindexed,
    wait_for_writers,
)
from vicw_sleep.reconcile.model import ReconcileBookmark, ReconcileReport, ReconcileSide

_MISSING = {DiscrepancyKind.NO_POINT, DiscrepancyKind.NO_ENTRY}
_WITHOUT_EMBEDDING = {DiscrepancyKind.STALE, DiscrepancyKind.MISCOUNTED}
type _Kind = tuple[str | None, str]
"""A tenant, if it is known, and a kind of discrepancy as ``ReconcileReport`` counts them."""
MISSING = Counter("vicw_reconcile_missing_total", "Passages whose point was missing, queued again")
STALE = Counter("vicw_reconcile_stale_total", "Points that differed from the graph and were queued again")
ORPHANED = Counter("vicw_reconcile_orphaned_total", "Points without a passage, removed")


async def reconcile(
    outbox: Outbox,
    audit: GraphAudit,
    vectors: VectorStore,
    *,
    start: ReconcileBookmark | None = None,
    pages: int | None = None,
    dry: bool = False,
    alone: bool = False,
    page_size: int = PAGE,
) -> ReconcileReport:
    """Queue passages whose point is missing or differs from the graph; remove points that have no passage.

    Counts of terms that are not those of their passages are made anew.

    At most ``pages`` of ``page_size`` are compared. Idempotent and safe to run concurrently. ``dry``: only count.
    ``alone``: no other process uses the stores, so do not wait for one.
    """
    bookmark: ReconcileBookmark | None = start or ReconcileBookmark()
    rebuilt: datetime | None = None
    found: Count[_Kind] = Count()
    while bookmark is not None and (pages is None or pages > 0):
        if bookmark.side is ReconcileSide.PASSAGES:
            of_page, bookmark = await _requeue_differing(outbox, audit, vectors, bookmark, page_size, dry=dry)
        else:
            rebuilt = bookmark.lost_at
            of_page, bookmark = await _drop_orphans(outbox, audit, vectors, bookmark, page_size, dry=dry, alone=alone)
        found += of_page
        pages = pages - 1 if pages is not None else None
    report = _report(found, bookmark, rebuilt if bookmark is None else None)
    if not dry:
        MISSING.inc(report.missing)
        STALE.inc(report.stale)
        ORPHANED.inc(report.orphaned)
    return report


def _report(found: Count[_Kind], bookmark: ReconcileBookmark | None, rebuilt: datetime | None) -> ReconcileReport:
    total: Count[str] = Count()
    tenants: dict[str, Count[str]] = {}
    for (tenant, kind), count in found.items():
        total[kind] += count
        if tenant is not None:
            tenants.setdefault(tenant, Count())[kind] += count
    return ReconcileReport(total["missing"], total["stale"], total["orphaned"], bookmark, rebuilt, tenants)


async def _tenants(
    vectors: VectorStore, points: Collection[str], page: Iterable[PendingPoint] = ()
) -> dict[str, str | None]:
    """Return the tenants of points: those of their passages on the ``page``, else of the points themselves."""
    tenants: dict[str, str | None] = dict.fromkeys(points)
    tenants |= {one.point_id: one.chunk.tenant for one in page if one.chunk is not None and one.point_id in tenants}
    if unknown := [point for point, tenant in tenants.items() if tenant is None]:
        payloads = await vectors.payloads(unknown)
        tenants |= {point: str(fields["tenant"]) for point, fields in payloads.items() if "tenant" in fields}
    return tenants


async def _requeue_differing(
    outbox: Outbox, audit: GraphAudit, vectors: VectorStore, bookmark: ReconcileBookmark, page_size: int, *, dry: bool
) -> tuple[Count[_Kind], ReconcileBookmark]:
    page, discrepancies = await compared(audit, outbox, vectors, after=bookmark.after, limit=page_size)
    if not page:
        if not dry:
            for scope in await audit.wrong_counts():
                await outbox.recount(scope)
        return Count(), replace(bookmark, side=ReconcileSide.POINTS, after=None)
    payloads = sorted(uid for uid, one in discrepancies.items() if one.kind in _WITHOUT_EMBEDDING)
    if not dry and (points := sorted(discrepancies.keys() - set(payloads))):
        await outbox.requeue(points)
    if not dry and payloads:
        await outbox.requeue(payloads, PendingKind.PAYLOAD)
    bookmark = replace(bookmark, after=page[-1].point_id)
    if bookmark.lost_at is not None and await _lacks_points(outbox, page, discrepancies, bookmark.lost_at):
        bookmark = replace(bookmark, lost_at=None)
    tenants = await _tenants(vectors, discrepancies, page)
    kinds = {uid: "missing" if one.kind in _MISSING else "stale" for uid, one in discrepancies.items()}
    return Count((tenants[uid], kind) for uid, kind in kinds.items()), bookmark


async def _lacks_points(
    outbox: Outbox, page: Sequence[PendingPoint], discrepancies: Mapping[str, Discrepancy], lost_at: datetime
) -> bool:
    """Return whether a passage from before ``lost_at`` still lacks its point; failed ones do not count.

    Later passages wait as usual.
    """
    if any(one.kind in _MISSING for one in discrepancies.values()):
        return True
    before = {point.point_id for point in page if point.chunk is not None and point.chunk.created_at <= lost_at}
    waiting = before & unindexed(page)
    return bool(waiting and await outbox.queued(sorted(waiting), failing=False))


async def _drop_orphans(
    outbox: Outbox,
    audit: GraphAudit,
    vectors: VectorStore,
    bookmark: ReconcileBookmark,
    page_size: int,
    *,
    dry: bool,
    alone: bool,
) -> tuple[Count[_Kind], ReconcileBookmark | None]:
    page, orphans = await orphaned(audit, vectors, after=bookmark.after, limit=page_size)
    if not page:
        return Count(), None
    if orphans and not alone:
        await wait_for_writers()
        orphans = await still_orphaned(audit, vectors, orphans)
    stored: Collection[str] = ()
    tenants = await _tenants(vectors, orphans)
    if orphans and not dry:
        await vectors.delete(orphans)
        stored = await audit.point_states(orphans)
        if stored:  # stored in the meantime
            await outbox.requeue(sorted(stored))
    return Count((tenants[uid], "orphaned") for uid in orphans if uid not in stored), replace(bookmark, after=page[-1])
