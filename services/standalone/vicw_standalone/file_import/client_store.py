"""A server as the store of an import, reached by its client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vicw_client import BadRequestError, TooLargeError, VicwClient
from vicw_ingest.file_import.port import FlowItem, ItemsRefusedError, TooMuchError
from vicw_ingest.file_import.refusals import is_about_number, wrong_items
from vicw_shared.wire.ingest import IngestResponse, Item

_REFUSED = {400, 413, 422}
_PAGE = 500


class ClientStore:
    """Sends an import's items to a server. Raises VicwClientError for what stops the import."""

    def __init__(self, client: VicwClient, *, wait: bool) -> None:
        """With ``wait``, a request is answered once its items are found."""
        self._client = client
        self._wait = wait

    def put(self, context: str, domain: str | None, items: Sequence[Item], key: str) -> IngestResponse:
        """Store items; see `ItemStore.put`."""
        key = key + "-w" * self._wait
        try:
            return self._client.ingest(
                context=context, domain=domain, wait=self._wait, items=list(items), idempotency_key=key
            )
        except BadRequestError as error:
            if error.problem.status not in _REFUSED:
                raise
            if isinstance(error, TooLargeError) or is_about_number(error.problem.errors):
                raise TooMuchError(str(error)) from error
            raise ItemsRefusedError(str(error), wrong_items(error.problem.errors, len(items))) from error

    def is_new(self, context: str) -> bool:
        """Return whether the context has no items."""
        return not self._client.items(context=context, limit=1).items

    def flow_items(self, context: str, flow: str) -> Iterator[FlowItem]:
        """Yield the live items of a flow."""
        cursor: str | None = None
        while True:
            page = self._client.items(context=context, flow=flow, limit=_PAGE, cursor=cursor)
            yield from (FlowItem(one.id, one.name, one.source) for one in page.items)
            if (cursor := page.next) is None:
                return

    def retract(self, context: str, ids: Sequence[str]) -> None:
        """Retract items by their ids."""
        self._client.retract(context=context, ids=ids, wait=False)
