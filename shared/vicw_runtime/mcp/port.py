"""What the tools of agents need of a memory, for one caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from vicw_runtime.http import Caller
from vicw_shared.wire.graph import GraphAnswer, GraphQuestion
from vicw_shared.wire.ingest import IngestRequest, IngestResponse
from vicw_shared.wire.items import ContextPage, ContextsQuery, ItemDetails, ItemPage, ItemsQuery
from vicw_shared.wire.retract import RetractRequest, RetractResponse
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse


class MemoryReader(Protocol):
    """Reads one tenant's memory. Every method raises what its use case does: InvalidInputError, UnavailableError, …"""

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResponse:
        """Answer a question."""
        ...

    async def graph(self, request: GraphQuestion) -> GraphAnswer:
        """Answer a walk, or a question about a node, its history or a flow, by the kind of the request."""
        ...

    async def item(self, address: str, context: str | None) -> ItemDetails:
        """Return an item by its uid, or with a context by its caller's id. Raises MissingRecordError."""
        ...

    async def items(self, query: ItemsQuery) -> ItemPage:
        """Return a page of items."""
        ...

    async def contexts(self, query: ContextsQuery) -> ContextPage:
        """Return a page of contexts that hold something."""
        ...

    async def has_context(self, context: str) -> bool:
        """Return whether anything was ever stored in a context."""
        ...


class MemoryWriter(Protocol):
    """Writes to one tenant's memory, with the errors of the use cases."""

    async def ingest(self, request: IngestRequest) -> IngestResponse:
        """Store items."""
        ...

    async def retract(self, request: RetractRequest) -> RetractResponse:
        """Take items back."""
        ...


@dataclass(frozen=True, slots=True)
class McpPorts:
    """Opens a memory for a caller. ``writer`` also gets the request's ``Authorization`` header, None without one."""

    reader: Callable[[Caller], MemoryReader]
    writer: Callable[[Caller, str | None], MemoryWriter]
