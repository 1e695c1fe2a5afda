"""Model extraction of a request: which items a language model extracts, and the state of their extraction."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_ingest.llm_queue.service import PendingExtractor
from vicw_shared.ports import PendingExtractions, WorkQueue
from vicw_shared.wire.ingest import Extract, ExtractionState, IngestedItem, IngestRequest, IngestResponse


@dataclass(frozen=True, slots=True)
class ExtractionBackend:
    """The extractor, and the queue to wake for items that no request waits for."""

    extractor: PendingExtractor
    queue: WorkQueue


def items_to_extract(request: IngestRequest) -> frozenset[int]:
    """Return the indexes of the items for a language model, if one is configured."""
    if request.extract is Extract.LLM:
        return frozenset(range(len(request.items)))
    if request.extract is Extract.AUTO:
        return frozenset(index for index, item in enumerate(request.items) if item.extraction is None)
    return frozenset()


async def finish_extractions(
    response: IngestResponse, tenant: str, model: ExtractionBackend, timeout_seconds: float
) -> IngestResponse:
    """Extract the pending items while a request waits. Return the response with their new states."""
    pending = _pending(response)
    if not pending:
        return response
    await model.extractor.extract_and_wait(tenant, pending, timeout_seconds)
    response = await with_states(response, tenant, model.extractor.graph.pending_extractions)
    if _pending(response):
        await model.queue.wake()
    return response


async def with_states(response: IngestResponse, tenant: str, pending_extractions: PendingExtractions) -> IngestResponse:
    """Return the response with the current state of its pending extractions."""
    pending = _pending(response)
    if not pending:
        return response
    queued = await pending_extractions.of(tenant, pending)

    def state(item: IngestedItem) -> IngestedItem:
        if item.extraction is not ExtractionState.PENDING or (item.uid in queued and not queued[item.uid].dead):
            return item
        state_now = ExtractionState.FAILED if item.uid in queued else ExtractionState.DONE
        return item.model_copy(update={"extraction": state_now})

    return response.model_copy(update={"items": tuple(map(state, response.items))})


def _pending(response: IngestResponse) -> list[str]:
    return [item.uid for item in response.items if item.extraction is ExtractionState.PENDING]
