"""Write pipeline: the use cases behind the endpoints.

check → commit (one graph transaction, see ``commit.py``) → index (see ``index/indexer.py``) → answer
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections import Counter as Counts
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog
from prometheus_client import Counter

from vicw_ingest.commit import Command, commit, ingesting, put_response_receipt
from vicw_ingest.dedup.detector import find_duplicates
from vicw_ingest.dedup.model import without_duplicates
from vicw_ingest.extraction import extractor
from vicw_ingest.index.backpressure import Backpressure
from vicw_ingest.index.indexer import Indexer
from vicw_ingest.knowledge.pages import KnowledgePage, parse_pages, with_import_links
from vicw_ingest.llm_queue.requests import ExtractionBackend, finish_extractions, items_to_extract, with_states
from vicw_ingest.plan.drafts import infer_domain, source_of
from vicw_ingest.plan.limits import check_limits
from vicw_ingest.secrets.request_scan import mask_secrets
from vicw_shared.clock import now
from vicw_shared.domains import canonical
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError, RetryableError
from vicw_shared.model import EdgeRegistry
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.ports import Extractor, GraphStore, Outbox, PendingExtractions, Store, StoreRecord, WorkQueue
from vicw_shared.settings import IngestSettings, LimitSettings
from vicw_shared.uids import context_uid
from vicw_shared.wire.ingest import Extract, ExtractionState, IngestRequest, IngestResponse, JobStatus, PassageFailure

_log = structlog.get_logger()
ITEMS = Counter("vicw_ingest_items_total", "Items accepted, by outcome", ["status"])
_MAX_FAILURES = 100
_BY_RULES = frozenset({Extract.RULES, Extract.AUTO, Extract.LLM})


@dataclass(frozen=True, slots=True)
class IngestPorts:
    """Dependencies of the write path.

    ``extractor`` is None if none is installed, ``model`` without a configured language model.
    """

    graph: GraphStore
    record: StoreRecord
    outbox: Outbox
    pending_extractions: PendingExtractions
    indexer: Indexer
    queue: WorkQueue
    pressure: Backpressure
    registry: EdgeRegistry
    limits: LimitSettings
    settings: IngestSettings
    extractor: Extractor | None
    model: ExtractionBackend | None = None

    @classmethod
    def of(
        cls,
        graph: Store,
        indexer: Indexer,
        registry: EdgeRegistry,
        limits: LimitSettings,
        settings: IngestSettings,
        *,
        extractor: Extractor | None,
        queue: WorkQueue | None = None,
        model: ExtractionBackend | None = None,
    ) -> IngestPorts:
        """Return the ports over one graph. Without a ``queue``, requests wake the indexer directly."""
        return cls(
            graph=graph,
            record=graph.record,
            outbox=graph.outbox,
            pending_extractions=graph.pending_extractions,
            indexer=indexer,
            queue=queue or indexer,
            pressure=Backpressure.of(graph.outbox, settings),
            registry=registry,
            limits=limits,
            settings=settings,
            extractor=extractor,
            model=model,
        )


async def ingest(
    request: IngestRequest, tenant: str, ports: IngestPorts, *, idempotency_key: str | None = None
) -> tuple[IngestResponse, bool]:
    """Store a request's items. Return their outcome and whether /retrieve already finds them all.

    Everything is durable when this returns. Secrets are masked before any use of the request, including its
    fingerprint: not even the hash of a secret is stored. Raises InvalidInputError, StateConflictError, OverloadedError
    or StorageFullError (nothing was stored), or UnavailableError.
    """
    with ingesting("check"):
        check_limits(request, ports.limits)
        request, masked = mask_secrets(request, ports.settings.secrets)
        request, pages = await _pages(request, ports.limits)
        _check_extraction(request, ports.model is not None)
        await ports.pressure.require_room(tenant)
        ports.indexer.indexes.require_embedders()
    with ingesting("deduplicate"):
        duplicates = await find_duplicates(request, tenant, ports.graph, ports.settings.duplicate_chars, now())
    with ingesting("extract"):
        extractions = await _extract(without_duplicates(request, duplicates), tenant, ports)
        pages = {n: with_import_links(page, extractions.get(n)) for n, page in pages.items()}
    command = Command(
        tenant=tenant,
        request=request,
        now=now(),
        chunk_chars=ports.settings.chunk_chars,
        registry=ports.registry,
        fingerprint=hashlib.sha256(request.model_dump_json().encode()).hexdigest(),
        receipt_key=f"key:{idempotency_key}" if idempotency_key is not None else None,
        job=None if request.wait else str(uuid.uuid4()),
        receipt_hours=ports.settings.receipt_hours,
        extractions=extractions,
        pending=items_to_extract(request) if ports.model is not None else frozenset(),
        hub_edges=ports.settings.hub_edges,
        session_pause=timedelta(minutes=ports.settings.session_minutes),
        masked=masked,
        pages=pages,
        duplicates=duplicates,
    )
    with ingesting("commit"):
        done = await ports.graph.write(tenant, request.context, lambda transaction: commit(command, transaction))
    await ports.indexer.discard(done.obsolete_points)
    for item in done.response.items:
        ITEMS.labels(item.status.value).inc()
    model = ports.model
    waited_for = model if request.wait and request.extract is Extract.LLM else None
    if command.pending and model is not None and waited_for is None:
        await _wake(model.queue)
    if not request.wait:
        await _wake(ports.queue)
        return done.response, False
    response = done.response
    try:
        with ingesting("wait"):
            is_findable, response = await asyncio.gather(
                ports.indexer.index_and_wait(tenant, done.touched, ports.settings.wait_seconds),
                finish_extractions(response, tenant, waited_for, ports.settings.wait_seconds),
            )
        if is_findable:
            return response, True
    except RetryableError as error:  # the items are stored: an error would make the caller send them again
        _log.warning("waiting ended early; the items are durable", error=error.detail)
    await _wake(ports.queue)
    return await _convert_to_job(response, command, ports), False


async def _pages(request: IngestRequest, limits: LimitSettings) -> tuple[IngestRequest, dict[int, KnowledgePage]]:
    """Parse knowledge pages in a thread, so that other requests go on: a long page takes a second."""
    if not any(item.page is not None for item in request.items):
        return request, {}
    return await asyncio.to_thread(parse_pages, request, limits)


async def _extract(request: IngestRequest, tenant: str, ports: IngestPorts) -> Mapping[int, TextExtraction]:
    """Return the rule-based extractions by item index, for the items that the request's ``extract`` mode selects."""
    if request.extract not in _BY_RULES:
        return {}
    selected = [
        n
        for n, item in enumerate(request.items)
        if request.extract in {Extract.RULES, Extract.LLM} or item.extraction is None
    ]
    domain = canonical(request.domain) if request.domain is not None else None
    if domain is None:
        uid = context_uid(tenant, request.context)
        root = (await ports.graph.nodes(tenant, [uid])).get(uid)
        domain = root.domain if root is not None else infer_domain(request)
    instant = now()
    sources = [source_of(request.items[n], domain, instant) for n in selected]
    return dict(zip(selected, await extractor.extract(sources, ports.extractor), strict=True))


async def _wake(queue: WorkQueue) -> None:
    with ingesting("wake"):
        await queue.wake()


async def job_status(
    job: str, tenant: str, record: StoreRecord, outbox: Outbox, pending_extractions: PendingExtractions
) -> JobStatus:
    """Return the progress of a job. Raises MissingRecordError for a job that this tenant does not have."""
    receipt = await record.receipt(tenant, f"job:{job}")
    if receipt is None:
        raise MissingRecordError(f"There is no job {job!r}")
    result = await with_states(IngestResponse.model_validate(receipt.body), tenant, pending_extractions)
    states = Counts(item.extraction for item in result.items)
    items = [item.uid for item in result.items]
    backlog = await outbox.count_unindexed(tenant, items)
    failures = await outbox.failures(tenant, _MAX_FAILURES, items=items) if backlog.waiting or backlog.dead else []
    ids = {item.uid: item.id for item in result.items}
    return JobStatus(
        job=job,
        status="running" if backlog.waiting else "failed" if backlog.dead else "done",
        # Left out while the job runs: it may be large, and clients poll.
        result=None if backlog.waiting else result,
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


async def _convert_to_job(response: IngestResponse, command: Command, ports: IngestPorts) -> IngestResponse:
    """Turn a wait that took too long into a job: the items are durable, the vectors follow.

    A failure to record the job is logged and not raised, because the items are durable without the record.
    """
    command = replace(command, job=str(uuid.uuid4()), receipt_key=None)
    with_job = response.model_copy(update={"job": command.job})
    try:
        await ports.graph.write(
            command.tenant,
            command.request.context,
            lambda transaction: put_response_receipt(command, transaction, with_job),
        )
    except RetryableError as error:
        _log.warning("a job could not be recorded; its items are durable", error=str(error))
        return response
    return with_job


def _check_extraction(request: IngestRequest, has_model: bool) -> None:
    """Raise InvalidInputError for an unavailable extraction mode, or for extractions that contradict the mode."""
    if request.extract is Extract.LLM and not has_model:
        raise InvalidInputError(
            FieldProblem(
                "extract",
                'is "llm", and there is no language model here',
                "Use auto, caller, rules or none, or have VICW_LLM_URL set",
            )
        )
    if request.extract is Extract.NONE:
        given = [index for index, item in enumerate(request.items) if item.extraction]
        if given:
            raise InvalidInputError(
                FieldProblem(
                    f"items[{given[0]}].extraction",
                    'is given although extract is "none"',
                    'Remove it, or use extract "caller"',
                )
            )
