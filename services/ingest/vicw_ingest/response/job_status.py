"""Status of a job: what of a request whose response did not wait is still to be done."""

from __future__ import annotations

from collections import Counter

from vicw_ingest.llm_queue.requests import with_states
from vicw_ingest.response.wishes import with_wishes
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import GraphStore, Outbox, PendingExtractions, StoreRecord
from vicw_shared.wire.ingest import ExtractionState, IngestResponse, JobStatus, PassageFailure

_MAX_FAILURES = 100


async def job_status(
    job: str,
    tenant: str,
    graph: GraphStore,
    record: StoreRecord,
    outbox: Outbox,
    pending_extractions: PendingExtractions,
) -> JobStatus:
    """Return the progress of a job. Raises MissingRecordError for a job that this tenant does not have."""
    receipt = await record.receipt(tenant, f"job:{job}")
    if receipt is None:
        raise MissingRecordError(f"There is no job {job!r}")
    result = await with_states(IngestResponse.model_validate(receipt.body), tenant, pending_extractions)
    states = Counter(item.extraction for item in result.items)
    items = [item.uid for item in result.items]
    backlog = await outbox.count_unindexed(tenant, items)
    failures = await outbox.failures(tenant, _MAX_FAILURES, items=items) if backlog.waiting or backlog.dead else []
    ids = {item.uid: item.id for item in result.items}
    return JobStatus(
        job=job,
        status="running" if backlog.waiting else "failed" if backlog.dead else "done",
        # Left out while the job runs: it may be large, and clients poll.
        result=None if backlog.waiting else await with_wishes(result, tenant, graph),
        created_at=receipt.created_at,
        items=len(result.items),
        passages_waiting=backlog.waiting,
        passages_failed=backlog.dead,
        extractions_waiting=states[ExtractionState.PENDING],
        extractions_failed=states[ExtractionState.FAILED],
        failures=tuple(
            PassageFailure(
                id=ids.get(f.item),
                uid=f.item,
                passage=f.point_id,
                tries=f.tries,
                error=f.error,
                since=f.since,
                dead=f.dead,
            )
            for f in failures
        ),
    )
