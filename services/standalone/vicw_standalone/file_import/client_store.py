"""A server as the store of an import, reached by its client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vicw_client import BadRequestError, TooLargeError, VicwClient
from vicw_ingest.file_import.port import ItemsRefusedError, StoredItem, TooMuchError
from vicw_shared.wire.ingest import IngestResponse, Item

_WRONG_ITEM = re.compile(r"items(?:\[(\d+)\]|\.(\d+))")
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
            if _is_too_much(error):
                raise TooMuchError(str(error)) from error
            raise ItemsRefusedError(str(error), _wrong_items(error, len(items))) from error

    def is_new(self, context: str) -> bool:
        """Return whether the context has no items."""
        return not self._client.items(context=context, limit=1).items

    def flow_items(self, context: str, flow: str) -> Iterator[StoredItem]:
        """Yield the live items of a flow."""
        cursor: str | None = None
        while True:
            page = self._client.items(context=context, flow=flow, limit=_PAGE, **({"cursor": cursor} if cursor else {}))
            yield from (StoredItem(one.id, one.name, one.source) for one in page.items)
            if (cursor := page.next) is None:
                return

    def retract(self, context: str, ids: Sequence[str]) -> None:
        """Retract items by their ids."""
        self._client.retract(context=context, ids=ids, wait=False)


def _is_too_much(error: BadRequestError) -> bool:
    """Return whether the whole request exceeds a limit, by its size or its number of items."""
    return isinstance(error, TooLargeError) or {fault.field for fault in error.problem.errors} == {"items"}


def _wrong_items(error: BadRequestError, count: int) -> dict[int, str]:
    """Return the reasons of the problem document by the item's index in the request."""
    wrong: dict[int, list[str]] = {}
    for fault in error.problem.errors:
        if (match := _WRONG_ITEM.match(fault.field)) and (n := int(match[1] or match[2])) < count:
            subfield = fault.field[match.end() :].lstrip(".")
            message = f"{fault.problem}. {fault.fix}"
            wrong.setdefault(n, []).append(f"{subfield}: {message}" if subfield else message)
    return {n: "; ".join(reasons) for n, reasons in sorted(wrong.items())}
