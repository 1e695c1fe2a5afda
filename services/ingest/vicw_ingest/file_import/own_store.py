"""The store of this process as that of an import: its use cases, called from the thread that imports."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from vicw_core.filters.order import listing_place
from vicw_ingest.file_import.port import FlowItem, ItemsRefusedError, TooMuchError
from vicw_ingest.file_import.refusals import is_about_number, wrong_items
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_ingest.versions.retraction import retract
from vicw_readers.records import faults_of
from vicw_shared.clock import now
from vicw_shared.errors import InvalidInputError, LimitExceededError, RetryableError, StorageFullError
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import ListingQuery, Scope
from vicw_shared.ports.item_filter import OneOf
from vicw_shared.ports.item_list import ListingPlace
from vicw_shared.uids import context_uid
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, Item
from vicw_shared.wire.retract import RetractRequest

_PAGE = 500
_TRIES = 60
_LONGEST_PAUSE_SECONDS = 10.0


class StopRequestedError(Exception):
    """The import is to stop."""


@dataclass(frozen=True, slots=True)
class OwnStore:
    """Stores a tenant's items by the use cases, on the loop that has the ports; ``key`` is the caller's.

    Whatever is full or down is tried again for some minutes. Raises VicwError for what stops the import,
    StopRequestedError once ``stop`` is set.
    """

    ports: IngestPorts
    tenant: str
    key: str | None
    loop: asyncio.AbstractEventLoop
    stop: threading.Event

    def put(self, context: str, domain: str | None, items: Sequence[Item], key: str) -> IngestResponse:
        """Store items; see `ItemStore.put`. Each has an id, so no ``key`` is needed to send it twice."""
        try:
            request = IngestRequest(context=context, domain=domain, wait=False, items=tuple(items))
            response, _ = self._do(lambda: ingest(request, self.tenant, self.ports, key=self.key))
        except ValidationError as error:  # of the context or domain: the items are valid
            raise ItemsRefusedError(faults_of(error), {}) from error
        except LimitExceededError as error:
            raise TooMuchError(error.detail) from error
        except InvalidInputError as error:
            if is_about_number(error.problems):
                raise TooMuchError(error.detail) from error
            raise ItemsRefusedError(error.detail, wrong_items(error.problems, len(items))) from error
        return response.model_copy(update={"job": None})  # of many requests, none is worth a look

    def is_new(self, context: str) -> bool:
        """Return whether the context is not there yet."""
        uid = context_uid(self.tenant, context)
        return uid not in self._do(lambda: self.ports.graph.nodes(self.tenant, [uid]))

    def flow_items(self, context: str, flow: str) -> Iterator[FlowItem]:
        """Yield the live items of a flow."""
        scope = Scope(tenant=self.tenant, now=now(), contexts=(context,))
        after: ListingPlace | None = None
        while True:
            query = ListingQuery(scope=scope, condition=OneOf("flow_id", (flow,)), after=after)
            page = self._do(lambda query=query: self.ports.graph.list_items(query, _PAGE))  # type: ignore[misc]
            yield from (FlowItem(node.source_id, node.name, node.source) for node in page)
            if len(page) < _PAGE:
                return
            after = listing_place(ItemOrder.TOLD, page[-1])

    def retract(self, context: str, ids: Sequence[str]) -> None:
        """Retract items by their ids."""
        request = RetractRequest(context=context, ids=tuple(ids), wait=False)
        self._do(lambda: retract(request, self.tenant, self.ports, key=self.key))

    def _do[T](self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        for tries in range(_TRIES):
            if self.stop.is_set():
                raise StopRequestedError
            try:
                return asyncio.run_coroutine_threadsafe(work(), self.loop).result()
            except StorageFullError:
                raise
            except RetryableError as error:
                if tries == _TRIES - 1:
                    raise
                self.stop.wait(min(max(error.retry_after_seconds, 2**tries / 4), _LONGEST_PAUSE_SECONDS))
        raise AssertionError("the last try returns or raises")
