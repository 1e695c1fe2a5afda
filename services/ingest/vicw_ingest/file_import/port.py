"""What an import needs of the store that it fills: a server, or the use cases of this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vicw_shared.wire.ingest import IngestResponse, Item


class TooMuchError(Exception):
    """The items are too many, or too large, for one request."""


class ItemsRefusedError(Exception):
    """The store refuses items. ``reasons`` are by the item's index; empty: it does not say which."""

    def __init__(self, detail: str, reasons: Mapping[int, str]) -> None:
        super().__init__(detail)
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class FlowItem:
    """An item of the store: its id and source as the caller gave them, and its name."""

    id: str | None
    name: str
    source: str | None


class ItemStore(Protocol):
    """Stores items and lists those of a flow. Blocks; several threads may call it."""

    def put(self, context: str, domain: str | None, items: Sequence[Item], key: str) -> IngestResponse:
        """Store items; the same ``key`` makes it safe to do so twice.

        Raises ItemsRefusedError or TooMuchError, of which nothing was stored, or what stops the import.
        """
        ...

    def is_new(self, context: str) -> bool:
        """Return whether the context has no items."""
        ...

    def flow_items(self, context: str, flow: str) -> Iterator[FlowItem]:
        """Yield the live items of a flow."""
        ...

    def retract(self, context: str, ids: Sequence[str]) -> None:
        """Retract items by their ids."""
        ...
