"""Operation ``sleep/reconcile``."""

from __future__ import annotations

from pydantic import Field

from vicw_core.changes import ChangeKind
from vicw_runtime.operations import Memory, NoItem, Operation, Report
from vicw_runtime.upkeep.drift import of_stored, record_drift
from vicw_shared.clock import now
from vicw_shared.errors import UnavailableError
from vicw_shared.model import Label
from vicw_shared.wire.base import Message, StrictBool, StrictInt, example
from vicw_sleep.reconcile.discrepancies import PAGE
from vicw_sleep.reconcile.model import ReconcileBookmark
from vicw_sleep.reconcile.service import reconcile


class ReconcileRequest(Message):
    """Compare the vector store with the graph, and repair the vector store."""

    model_config = example({"dry_run": True})

    dry_run: StrictBool = Field(False, description="Only count what would be repaired")


class ReconcileResult(Message):
    """Points ``missing`` or ``stale`` are indexed again, points without a passage (``orphaned``) are removed.

    Without ``vectors`` there is nothing to compare.
    """

    model_config = example({"vectors": True, "missing": 0, "stale": 1, "orphaned": 0})

    vectors: StrictBool
    missing: StrictInt = 0
    stale: StrictInt = 0
    orphaned: StrictInt = 0


async def run(memory: Memory, request: ReconcileRequest, report: Report[NoItem]) -> ReconcileResult:
    """Compare page by page. Raises UnavailableError while this process cannot open the index in use."""
    index = memory.indexes.read_index
    vectors = await memory.open_vectors()
    if vectors is None:
        return ReconcileResult(vectors=False)
    if index.model != memory.indexes.models.used:
        raise UnavailableError("embedding", memory.indexes.behind or "the model in use has just changed")
    graph, total = memory.graph, await memory.graph.audit.count(Label.CHUNK)
    missing = stale = orphaned = pages = 0
    began = now()
    bookmark: ReconcileBookmark | None = ReconcileBookmark()
    side = None
    while bookmark is not None:
        pages, side = (pages + 1 if bookmark.side is side else 1), bookmark.side
        page = await reconcile(
            graph.outbox, graph.audit, vectors, start=bookmark, pages=1, dry=request.dry_run, alone=memory.alone
        )
        missing, stale, orphaned = missing + page.missing, stale + page.stale, orphaned + page.orphaned
        if not request.dry_run:
            await record_drift(graph.log, page.counts, await of_stored(graph, page.tenants), began=began)
        bookmark = page.next
        report.progress(side, min(pages * PAGE, total), total)
    if missing + stale and not request.dry_run:
        await memory.queue.wake()
    return ReconcileResult(vectors=True, missing=missing, stale=stale, orphaned=orphaned)


RECONCILE = Operation(
    name="sleep/reconcile",
    summary="Compare the vector store with the graph, and repair it",
    request=ReconcileRequest,
    result=ReconcileResult,
    item=NoItem,
    run=run,
    change=lambda request: None if request.dry_run else ChangeKind.RUN,
)
