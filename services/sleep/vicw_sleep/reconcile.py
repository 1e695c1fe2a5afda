"""Bring the vector store to agreement with the graph after a crash (design: "Sleep cycle", reconcile)."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_shared.model import Label
from vicw_shared.ports import GraphAudit, Outbox, VectorStore

_PAGE = 5000


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What was found: passages whose point was missing (queued again), points without a passage (removed)."""

    missing: int
    orphaned: int


async def reconcile(outbox: Outbox, audit: GraphAudit, vectors: VectorStore) -> Reconciled:
    """Queue every indexed passage that has no point, remove every point that has no passage.

    Idempotent. Run it while nothing else writes: a point written between the two listings would look orphaned.
    """
    points = await point_ids(vectors)
    missing: list[str] = []
    after: str | None = None
    while page := await audit.page(Label.CHUNK, after=after, limit=_PAGE):
        after = page[-1].uid
        for chunk in page:
            if chunk.uid in points:
                points.discard(chunk.uid)
            elif chunk.indexed:
                missing.append(chunk.uid)
    if missing:
        await outbox.requeue(missing)
    orphans = sorted(points)
    for start in range(0, len(orphans), _PAGE):
        await vectors.delete(orphans[start : start + _PAGE])
    return Reconciled(len(missing), len(orphans))


async def point_ids(vectors: VectorStore) -> set[str]:
    """Return the ids of all points."""
    found: set[str] = set()
    after: str | None = None
    while page := await vectors.ids(after=after, limit=_PAGE):
        found.update(page)
        after = page[-1]
    return found
