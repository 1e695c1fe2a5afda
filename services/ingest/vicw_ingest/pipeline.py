"""Write pipeline: the use case behind ``POST /ingest``.

check → deduplicate → extract → plan → commit → index → answer

Each stage gets what the ones before returned; patches are merged into the stored items before the first (``patch/``).
Plan (``plan/service.py``) and commit (``commit.py``) run in one transaction under the context's lock
(``GraphStore.write``), which queues the passages in the outbox.

Index is not done here. ``Indexer.run`` (``index/service.py``) is a loop that the wiring starts in the background: in
``vicw serve`` for all entries, in an ingest service for those that its own requests wait for, while a worker
(``index/tasks.py``) takes all others. A request wakes it, and waits.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog
from prometheus_client import Counter

from vicw_core.changes import ChangeKind, record_change
from vicw_core.language.times.date_order import shown_order
from vicw_ingest.check.service import check, check_fields
from vicw_ingest.commit import Committed, ReceiptKeys, commit
from vicw_ingest.dedup.detector import find_duplicates, without_duplicates
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.jobs import ErasureJobs
from vicw_ingest.extraction import extractor
from vicw_ingest.extraction.item_text import domain_of, text_of
from vicw_ingest.index.backpressure import Backpressure
from vicw_ingest.index.service import Indexer
from vicw_ingest.knowledge.pages import KnowledgePage, with_import_links
from vicw_ingest.llm_queue.requests import ExtractionBackend, finish_extractions, items_to_extract
from vicw_ingest.patch.bases import ChangedMeanwhileError, Merged
from vicw_ingest.patch.merge import merge_items
from vicw_ingest.plan.drafts import PassageCutter
from vicw_ingest.plan.service import PlanInput, PlanRules, plan_write
from vicw_ingest.response.wishes import with_wishes
from vicw_ingest.secrets.request_scan import Masked
from vicw_ingest.telemetry import ingesting
from vicw_shared.clock import now
from vicw_shared.errors import RetryableError, StateConflictError
from vicw_shared.model import EdgeRegistry
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.ports import (
    Extractor,
    GraphStore,
    GraphTransaction,
    Outbox,
    PendingExtractions,
    Store,
    StoreRecord,
    WorkQueue,
)
from vicw_shared.settings import IngestSettings, LimitSettings
from vicw_shared.settings.concerns import DAY_FIRST
from vicw_shared.uids import context_uid
from vicw_shared.wire.ingest import Extract, IngestRequest, IngestResponse, ItemStatus

_log = structlog.get_logger()
ITEMS = Counter("vicw_ingest_items_total", "Items accepted, by outcome", ["status"])
_MERGES = 5
"""How often a patch is merged anew because another request has changed its item meanwhile."""
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
    erasures: ErasureJobs
    model: ExtractionBackend | None = None

    @property
    def plan_rules(self) -> PlanRules:
        """The rules of planning."""
        pause = timedelta(minutes=self.settings.session_minutes)
        return PlanRules(self.registry, pause, self.settings.hub_edges)

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
        erasure_queue: WorkQueue | None = None,
        model: ExtractionBackend | None = None,
    ) -> IngestPorts:
        """Return the ports over one graph. Without a ``queue``, requests wake the indexer directly.

        ``erasure_queue`` wakes who works off erasures; without one they are only recorded.
        """
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
            erasures=ErasureJobs(Eraser(graph, indexer.indexes, registry), erasure_queue or indexer),
            model=model,
        )


@dataclass(frozen=True, slots=True)
class Extracted:
    """Extractions by rules, and the pages with the imports that are in their code, by item index."""

    texts: Mapping[int, TextExtraction]
    pages: Mapping[int, KnowledgePage]


async def ingest(
    request: IngestRequest,
    tenant: str,
    ports: IngestPorts,
    *,
    idempotency_key: str | None = None,
    expected: Sequence[int] | None = None,
    key: str | None = None,
) -> tuple[IngestResponse, bool]:
    """Store a request's items. Return their outcome and whether /retrieve already finds them all.

    ``expected``: versions that the stored item may have that the only item of the request is merged into; None: any.
    ``key``: the id of the caller's key, for the record of changes.
    Everything is durable when this returns. Secrets are masked before any use of the request, including its
    fingerprint: not even the hash of a secret is stored. Raises InvalidInputError, VersionMismatchError,
    StateConflictError, OverloadedError or StorageFullError (nothing was stored), or UnavailableError.
    """
    with ingesting("admit"):
        request, masked = check_fields(request, ports.limits, ports.settings.secrets)
        await ports.pressure.require_room(tenant)
        ports.indexer.indexes.require_embedders()
    job = None if request.wait else str(uuid.uuid4())
    fingerprint = hashlib.sha256(request.model_dump_json().encode()).hexdigest()
    receipts = ReceiptKeys(fingerprint, now(), ports.settings.receipt_hours, idempotency_key, job)
    for _ in range(_MERGES):
        merged = await merge_items(request, tenant, ports.graph, receipts.now, expected)
        try:
            return await store_whole_items(merged, masked, tenant, receipts, ports, key)
        except ChangedMeanwhileError:
            continue
    raise StateConflictError("Other requests keep changing the same items: send the patch again")


async def store_whole_items(
    merged: Merged, masked: Masked, tenant: str, receipts: ReceiptKeys, ports: IngestPorts, key: str | None
) -> tuple[IngestResponse, bool]:
    """Store the items of a request that has no patches any more, as ``ingest`` does.

    Raises ChangedMeanwhileError if a stored item is not any more as it was when it was merged.
    """
    request = merged.request
    with ingesting("check"):
        if merged.bases:  # what patches made of the stored items was not in the request
            request, _ = check_fields(request, ports.limits, ports.settings.secrets)
        checked = await check(request, ports.limits, has_model=ports.model is not None)
    request = checked.request
    with ingesting("deduplicate"):
        found = await find_duplicates(request, tenant, ports.graph, ports.settings.duplicate_chars, now())
        duplicates = {n: one for n, one in found.items() if merged.bases.get(n) is None}  # a patch keeps its own text
    with ingesting("extract"):
        new_texts = without_duplicates(request, duplicates)
        domain = await _domain(new_texts, tenant, ports.graph)
        extracted = await _extract(new_texts, tenant, domain, checked.pages, ports)
        cutter = PassageCutter(ports.settings.chunk_chars)
        await asyncio.to_thread(cutter.cut_ahead, new_texts, domain)
    receipts = replace(receipts, now=now())
    merged = replace(merged, request=request)
    given = PlanInput(tenant, merged, receipts.now, extracted.texts, extracted.pages, duplicates, cutter)
    pending = items_to_extract(request) if ports.model is not None else frozenset[int]()

    async def plan_and_commit(transaction: GraphTransaction) -> Committed:
        if (replayed := await receipts.replayed(transaction)) is not None:
            return replayed
        plan = await plan_write(given, ports.plan_rules, transaction)
        committed = await commit(plan, receipts, transaction, ports.registry, masked=masked, pending=pending)
        updated = [n for n, item in enumerate(committed.response.items) if item.status is ItemStatus.UPDATED]
        patched = sum(request.items[n].merge for n in updated)
        for kind, count in ((ChangeKind.PATCH, patched), (ChangeKind.UPDATE, len(updated) - patched)):
            if count:
                await record_change(transaction, tenant, kind, count, key=key, at=receipts.now)
        return committed

    with ingesting("commit"):
        committed = await ports.graph.write(tenant, request.context, plan_and_commit)
    await ports.indexer.discard(committed.obsolete_points)
    for item in committed.response.items:
        ITEMS.labels(item.status.value).inc()
    response, is_findable = await _index(committed, request, tenant, receipts, ports)
    return await with_wishes(response, tenant, ports.graph), is_findable


async def _domain(request: IngestRequest, tenant: str, graph: GraphStore) -> str:
    """Return the request's domain, read without the context's lock (``domain_of``)."""
    uid = context_uid(tenant, request.context)
    root = (await graph.nodes(tenant, [uid])).get(uid) if request.domain is None else None
    return domain_of(request, root)


async def _extract(
    request: IngestRequest, tenant: str, domain: str, pages: Mapping[int, KnowledgePage], ports: IngestPorts
) -> Extracted:
    """Extract by rules from the items that the request's ``extract`` mode selects."""
    if request.extract not in _BY_RULES:
        return Extracted({}, pages)
    selected = [
        n
        for n, item in enumerate(request.items)
        if request.extract in {Extract.RULES, Extract.LLM} or item.extraction is None
    ]
    instant = now()
    set_order, dated = DAY_FIRST.get(ports.settings.date_order), [request.items[n].text for n in selected]
    day_first = await shown_order(ports.graph, tenant, dated, set_order, instant.year)
    sources = [text_of(request.items[n], domain, instant, day_first) for n in selected]
    texts = dict(zip(selected, await extractor.extract(sources, ports.extractor), strict=True))
    linked = {n: with_import_links(page, texts[n]) for n, page in pages.items() if n in texts}
    return Extracted(
        {**texts, **{n: text for n, (_, text) in linked.items()}},
        {**pages, **{n: page for n, (page, _) in linked.items()}},
    )


async def _index(
    committed: Committed, request: IngestRequest, tenant: str, receipts: ReceiptKeys, ports: IngestPorts
) -> tuple[IngestResponse, bool]:
    """Wake the indexer, and wait for it and for the language model as the request says.

    A request that waits wakes the loop of this process, inside ``wait_until_indexed``. One that does not, or whose wait
    is over, wakes the queue: the same loop in ``vicw serve``, else the workers. What still runs when the wait is over
    is a job: the items are durable, the vectors follow.
    """
    model, response = ports.model, committed.response
    waited_for = model if request.wait and request.extract is Extract.LLM else None
    if model is not None and waited_for is None and items_to_extract(request):
        await _wake(model.queue)
    if not request.wait:
        await _wake(ports.queue)
        return response, False
    seconds = ports.settings.wait_seconds
    indexed = ports.indexer.wait_until_indexed(tenant, committed.touched, seconds)
    try:
        with ingesting("wait"):
            if waited_for is None:
                is_findable = await indexed
            else:
                finished = finish_extractions(response, tenant, waited_for, seconds)
                is_findable, response = await asyncio.gather(indexed, finished)
        if is_findable:
            return response, True
    except RetryableError as error:  # the items are stored: an error would make the caller send them again
        _log.warning("waiting ended early; the items are durable", error=error.detail)
    await _wake(ports.queue)
    return await _convert_to_job(response, request, tenant, receipts, ports), False


async def _wake(queue: WorkQueue) -> None:
    with ingesting("wake"):
        await queue.wake()


async def _convert_to_job(
    response: IngestResponse, request: IngestRequest, tenant: str, receipts: ReceiptKeys, ports: IngestPorts
) -> IngestResponse:
    """Record a wait that took too long as a job: its receipt, in a second transaction.

    A failure to record it is logged and not raised, because the items are durable without the record.
    """
    of_job = replace(receipts, key=None, job=str(uuid.uuid4()))
    with_job = response.model_copy(update={"job": of_job.job})
    try:
        await ports.graph.write(tenant, request.context, lambda transaction: of_job.put(transaction, with_job))
    except RetryableError as error:
        _log.warning("a job could not be recorded; its items are durable", error=str(error))
        return response
    return with_job
