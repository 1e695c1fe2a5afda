"""What agents read: the use cases of the read path, for one tenant."""

from __future__ import annotations

from vicw_retrieval.items.contexts import list_contexts
from vicw_retrieval.items.service import list_items, read_item
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.traversal import questions
from vicw_retrieval.traversal.service import ask
from vicw_shared.uids import context_uid
from vicw_shared.wire.graph import FlowRequest, GraphAnswer, GraphQuestion, HistoryRequest, NodeQuestion, WalkRequest
from vicw_shared.wire.items import ContextPage, ContextsQuery, ItemDetails, ItemPage, ItemsQuery, ViewerQuery
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse


class RetrievalReader:
    """Reads a tenant's memory over open ports, with the errors of the use cases."""

    def __init__(self, ports: RetrievalPorts, tenant: str) -> None:
        self._ports = ports
        self._tenant = tenant

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResponse:
        """Answer a question; background work yields to it."""
        with self._ports.throttle.foreground_request():
            return await retrieve(request, self._tenant, self._ports)

    async def graph(self, request: GraphQuestion) -> GraphAnswer:
        """Answer a walk, or a question about a node, its history or a flow."""
        match request:
            case WalkRequest():
                return await ask(questions.walk_from, request, self._tenant, self._ports)
            case HistoryRequest():
                return await ask(questions.history, request, self._tenant, self._ports, ignore_validity=True)
            case FlowRequest():
                return await ask(questions.flow_in_order, request, self._tenant, self._ports)
            case NodeQuestion():
                return await ask(questions.about, request, self._tenant, self._ports)
        raise TypeError(f"no question of an agent: {type(request).__name__}")

    async def item(self, address: str, context: str | None) -> ItemDetails:
        """Return an item by its uid, or with a context by its caller's id. Raises MissingRecordError."""
        return await read_item(address, ViewerQuery(), self._tenant, self._ports, context=context)

    async def items(self, query: ItemsQuery) -> ItemPage:
        """Return a page of items."""
        return await list_items(query, self._tenant, self._ports)

    async def contexts(self, query: ContextsQuery) -> ContextPage:
        """Return a page of contexts that hold something."""
        return await list_contexts(query, self._tenant, self._ports)

    async def has_context(self, context: str) -> bool:
        """Return whether anything was ever stored in a context."""
        uid = context_uid(self._tenant, context)
        return uid in await self._ports.graph.nodes(self._tenant, [uid])
