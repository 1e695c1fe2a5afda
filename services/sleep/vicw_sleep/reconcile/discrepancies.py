"""Discrepancies between the vector store and the graph, a page at a time, that no pending work will repair."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from vicw_core.index.diff import Differences, compare
from vicw_shared.ports import GraphAudit, Outbox, Passages, PendingPoint, VectorStore

PAGE = 1000
"""Passages, or points, compared at once."""
AT_WORK_SECONDS = 5.0
"""How long a point may lack a passage: consolidation rests between its steps for at most four seconds."""


class DiscrepancyKind(Enum):
    """The defect of a passage's point."""

    NO_ENTRY = auto()
    """The passage is not indexed and not queued."""
    NO_POINT = auto()
    """The passage is marked indexed, but has no point."""
    OUTDATED = auto()
    """The point was made from another text."""
    STALE = auto()
    """The payload differs from the graph."""
    MISCOUNTED = auto()
    """The counted terms are not those of the text."""
    UNWANTED = auto()
    """There is a point, but the passage proves no item."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """The discrepancy of one passage; ``fields`` are the payload fields that differ, if there is a payload to
    compare.
    """

    kind: DiscrepancyKind
    fields: tuple[str, ...] = ()


async def compared(
    audit: GraphAudit, outbox: Outbox, vectors: VectorStore | None, *, after: str | None, limit: int = PAGE
) -> tuple[list[PendingPoint], dict[str, Discrepancy]]:
    """Return the page of passages after ``after``, and the discrepancies by passage uid.

    Without vectors (None), only passages without a queue entry, or with wrong terms, are discrepancies.

    A queued passage will be repaired, unless it is marked indexed and has no point: then its entry may be for its
    payload alone. A discrepancy is checked twice, since another process may be in the middle of a write.
    """
    page = await audit.scan(Passages(), after=after, limit=limit)
    discrepancies = await _find_discrepancies(audit, outbox, vectors, page) if page else {}
    if discrepancies:
        # A worker that was busy with a passage has finished by now, or its entry is queued.
        queued = await outbox.queued(sorted(discrepancies))
        page = await audit.scan(Passages(), after=after, limit=limit)
        suspects = discrepancies.keys() - (queued & unindexed(page))
        reread = await _find_discrepancies(audit, outbox, vectors, page)
        discrepancies = {uid: one for uid, one in reread.items() if uid in suspects}
    return page, discrepancies


async def _find_discrepancies(
    audit: GraphAudit, outbox: Outbox, vectors: VectorStore | None, page: Sequence[PendingPoint]
) -> dict[str, Discrepancy]:
    differences = await compare(page, vectors) if vectors is not None else Differences()
    waiting = unindexed(page)
    miscounted = await audit.wrong_terms(page)
    suspects = differences.ids | waiting | miscounted
    if not suspects:
        return {}
    # Read after the points: a worker removes an entry after it has written the point.
    queued = await outbox.queued(sorted(suspects))
    absent = {point.point_id for point in differences.absent} - waiting
    kinds = {
        **dict.fromkeys(miscounted, DiscrepancyKind.MISCOUNTED),
        **dict.fromkeys(differences.stale, DiscrepancyKind.STALE),
        **dict.fromkeys((point.point_id for point in differences.reworded), DiscrepancyKind.OUTDATED),
        **dict.fromkeys(differences.unwanted, DiscrepancyKind.UNWANTED),
        **dict.fromkeys(waiting, DiscrepancyKind.NO_ENTRY),
    }
    wrong = {uid: kind for uid, kind in kinds.items() if uid not in queued} | dict.fromkeys(
        absent, DiscrepancyKind.NO_POINT
    )
    return {uid: Discrepancy(kind, differences.fields.get(uid, ())) for uid, kind in wrong.items()}


def unindexed(page: Sequence[PendingPoint]) -> set[str]:
    """Return the passages that are not marked indexed."""
    return {point.point_id for point in page if point.chunk is not None and not point.chunk.indexed}


async def orphaned(
    audit: GraphAudit, vectors: VectorStore, *, after: str | None, limit: int = PAGE
) -> tuple[list[str], list[str]]:
    """Return the page of points after ``after``, and those of them that have no passage."""
    page = await vectors.ids(after=after, limit=limit)
    return page, sorted(set(page) - (await audit.point_states(page)).keys()) if page else []


async def wait_for_writers() -> None:
    """Wait until points that had no passage have one: consolidation writes a summary's points before its passages."""
    await asyncio.sleep(AT_WORK_SECONDS)


async def still_orphaned(audit: GraphAudit, vectors: VectorStore, points: Sequence[str]) -> list[str]:
    """Return which of these points still exist and still have no passage."""
    return sorted(await vectors.present(points) - (await audit.point_states(points)).keys())
