"""Bring the vector store to agreement with the graph after a crash (design: "Sleep cycle", reconcile).

In pieces, so that a run is as long as it is told to be, and beside everything else: a point is written after its
passage is, and what is found wanting is looked at once more, for somebody may be at work on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from prometheus_client import Counter

from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphAudit, Outbox, VectorStore

_PAGE = 1000
MISSING = Counter("vicw_reconcile_missing_total", "Passages whose point was missing, and that were queued again")
ORPHANED = Counter("vicw_reconcile_orphaned_total", "Points without a passage, which were removed")


class Side(StrEnum):
    """Which listing is being compared with the other store."""

    PASSAGES = "passages"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class Place:
    """How far a comparison is: ``after`` this passage or point; None: at the start."""

    side: Side = Side.PASSAGES
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What was found: passages whose point was missing (queued again), points without a passage (removed).

    ``next`` is where to go on; None: all is compared.
    """

    missing: int
    orphaned: int
    next: Place | None


async def reconcile(
    outbox: Outbox, audit: GraphAudit, vectors: VectorStore, *, start: Place | None = None, pages: int | None = None
) -> Reconciled:
    """Queue passages that have no point, remove points that have no passage; at most ``pages`` of a thousand.

    Idempotent; any number may run at once.
    """
    place: Place | None = start or Place()
    missing = orphaned = 0
    while place is not None and (pages is None or pages > 0):
        if place.side is Side.PASSAGES:
            found, place = await _requeue_missing(outbox, audit, vectors, place)
            missing += found
        else:
            found, place = await _drop_orphans(audit, vectors, place)
            orphaned += found
        pages = pages - 1 if pages is not None else None
    MISSING.inc(missing)
    ORPHANED.inc(orphaned)
    return Reconciled(missing, orphaned, place)


async def _requeue_missing(
    outbox: Outbox, audit: GraphAudit, vectors: VectorStore, place: Place
) -> tuple[int, Place | None]:
    page = await audit.page(Label.CHUNK, after=place.after, limit=_PAGE)
    if not page:
        return 0, Place(Side.POINTS)
    missing = await _missing(outbox, vectors, page)
    if missing:
        # Whoever was at work on one meanwhile has settled it by now, or has an entry for it.
        queued = await outbox.queued(sorted(missing))
        again = await audit.page(Label.CHUNK, after=place.after, limit=_PAGE)
        missing &= await _missing(outbox, vectors, again)
        missing -= queued.intersection(chunk.uid for chunk in again if not chunk.indexed)
    if missing:
        await outbox.requeue(sorted(missing))
    return len(missing), Place(Side.PASSAGES, page[-1].uid)


async def _missing(outbox: Outbox, vectors: VectorStore, chunks: Sequence[Node]) -> set[str]:
    """Return the passages that lack a point and will not get one.

    What is queued gets one unless it is marked indexed: then only its payload is to be renewed.
    """
    uids = [chunk.uid for chunk in chunks]
    queued, present = await outbox.queued(uids), await vectors.present(uids)
    return {chunk.uid for chunk in chunks if chunk.uid not in (present if chunk.indexed else queued)}


async def _drop_orphans(audit: GraphAudit, vectors: VectorStore, place: Place) -> tuple[int, Place | None]:
    page = await vectors.ids(after=place.after, limit=_PAGE)
    if not page:
        return 0, None
    orphans = sorted(set(page) - await audit.known(page))
    if orphans:
        await vectors.delete(orphans)
    return len(orphans), Place(Side.POINTS, page[-1])


async def point_ids(vectors: VectorStore) -> set[str]:
    """Return the ids of all points."""
    found: set[str] = set()
    after: str | None = None
    while page := await vectors.ids(after=after, limit=_PAGE):
        found.update(page)
        after = page[-1]
    return found
