"""Operations ``jobs/list``, ``jobs/show`` and ``jobs/replay``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from vicw_core.changes import ChangeKind
from vicw_ingest.response.job_status import job_status
from vicw_runtime.operations import NoItem, Opening, Operation, Report, Stores
from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.ingest import JobStatus

MAX_ENTRIES = 10_000
_LLM = Field(False, description="Items that wait for the language model, instead of passages")


class FailuresRequest(Message):
    """List entries that failed, most tries first."""

    model_config = example({"tenant": "default", "limit": 50})

    tenant: Id | None = Field(None, description="Only this tenant; null: all")
    limit: Annotated[int, Field(strict=True, ge=1)] | None = Field(50, description="Maximum number; null: all")
    llm: StrictBool = _LLM


class FailedEntry(Message):
    """An ``entry`` that failed ``tries`` times, the first time at ``since``. A ``dead`` one is not retried.

    ``item`` is its item's uid, ``id`` the caller's id of the item.
    """

    model_config = example(
        {
            "entry": story.BETRAYAL_PASSAGE,
            "id": story.BETRAYAL,
            "tenant": "default",
            "context": story.NOVEL,
            "item": story.BETRAYAL_UID,
            "tries": 9,
            "error": "the embedding server answered 500",
            "since": story.STORED_AT,
            "dead": True,
        }
    )

    entry: str
    id: str | None
    tenant: str
    context: str
    item: str
    tries: StrictInt
    error: str
    since: datetime
    dead: StrictBool


class FailuresResult(Message):
    """Counts of the entries that wait, of those that failed at least once, and of dead ones."""

    model_config = example({"waiting": 1, "failing": 1, "dead": 1})

    waiting: StrictInt
    failing: StrictInt
    dead: StrictInt


class JobRequest(Message):
    """Return the progress and the failures of a job."""

    model_config = example({"job": story.JOB, "tenant": "default"})

    job: Id = Field(description="Its id, from the answer of POST /ingest")
    tenant: Id


class ReplayRequest(Message):
    """Retry entries at once, as if they had never failed: those named, or all, of one tenant or of all."""

    model_config = example({"entries": [story.BETRAYAL_PASSAGE], "tenant": "default"})

    entries: Annotated[tuple[UUID, ...], Field(max_length=MAX_ENTRIES)] | None = Field(None, description="null: all")
    tenant: Id | None = Field(None, description="Only entries of this tenant; null: of all")
    llm: StrictBool = _LLM


class ReplayResult(Message):
    """Number of entries that are due again."""

    model_config = example({"due": 1})

    due: StrictInt


async def run_list(stores: Stores, request: FailuresRequest, report: Report[FailedEntry]) -> FailuresResult:
    """Report the failed entries as items."""
    queue = stores.graph.pending_extractions if request.llm else stores.graph.outbox
    for failure in await queue.failures(request.tenant, request.limit or sys.maxsize):
        fields = asdict(failure)
        report.item(FailedEntry(entry=fields.pop("point_id"), id=fields.pop("source_id"), **fields))
    backlog = await queue.backlog(request.tenant)
    return FailuresResult(waiting=backlog.waiting, failing=backlog.failing, dead=backlog.dead)


async def run_show(stores: Stores, request: JobRequest, report: Report[NoItem]) -> JobStatus:
    """Return a job. Raises MissingRecordError for one that the tenant does not have."""
    graph = stores.graph
    return await job_status(request.job, request.tenant, graph, graph.record, graph.outbox, graph.pending_extractions)


async def run_replay(stores: Stores, request: ReplayRequest, report: Report[NoItem]) -> ReplayResult:
    """Make entries due and wake who works on them."""
    queue, workers = (
        (stores.graph.pending_extractions, stores.extraction_queue)
        if request.llm
        else (stores.graph.outbox, stores.queue)
    )
    entries = sorted(map(str, request.entries)) if request.entries is not None else None
    due = await queue.replay(entries, tenant=request.tenant)
    if due:
        await workers.wake()
    return ReplayResult(due=due)


LIST_FAILURES = Operation(
    name="jobs/list",
    summary="List what could not be indexed or extracted",
    request=FailuresRequest,
    result=FailuresResult,
    item=FailedEntry,
    run=run_list,
    opening=Opening.STORES,
    owner_only=True,
)
SHOW_JOB = Operation(
    name="jobs/show",
    summary="Get a job of any tenant",
    request=JobRequest,
    result=JobStatus,
    item=NoItem,
    run=run_show,
    opening=Opening.STORES,
    owner_only=True,
)
REPLAY = Operation(
    name="jobs/replay",
    summary="Retry what could not be indexed or extracted",
    request=ReplayRequest,
    result=ReplayResult,
    item=NoItem,
    run=run_replay,
    opening=Opening.STORES,
    change=lambda request: ChangeKind.REPLAY,
)
OPERATIONS = (LIST_FAILURES, SHOW_JOB, REPLAY)
