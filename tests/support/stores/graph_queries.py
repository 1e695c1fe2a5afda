"""Questions to a graph of any engine, asked in plain words."""

from __future__ import annotations

from typing import Any, cast

from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_retrieval.traversal import questions
from vicw_retrieval.traversal.service import ask
from vicw_shared.ports import GraphStore
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.graph import (
    FindRequest,
    FlowRequest,
    GraphAnswer,
    GraphQuestion,
    HistoryRequest,
    NodeQuestion,
    WalkRequest,
)

_ASKED: dict[str, tuple[Any, type[GraphQuestion]]] = {
    "find": (questions.find, FindRequest),
    "walk": (questions.walk_from, WalkRequest),
    "about": (questions.about, NodeQuestion),
    "person": (questions.person, NodeQuestion),
    "users": (questions.users, NodeQuestion),
    "merges": (questions.merges, NodeQuestion),
    "history": (questions.history, HistoryRequest),
    "flow": (questions.flow_in_order, FlowRequest),
}


class GraphClient:
    """Asks one tenant's graph. ``settings`` are those of the read path."""

    def __init__(self, graph: GraphStore, tenant: str = "t", **settings: Any) -> None:
        nobody = cast(Any, None)  # no question about the graph needs vectors
        read = RetrievalSettings(**settings)
        self._ports = RetrievalPorts(graph, nobody, nobody, "", LimitSettings(), read, CircuitBreaker())
        self._tenant = tenant

    async def ask(self, name: str, /, **fields: Any) -> GraphAnswer:
        question, model = _ASKED[name]
        request = model.model_validate(fields)
        return await ask(question, request, self._tenant, self._ports, ignore_validity=name == "history")

    async def names(self, name: str, /, **fields: Any) -> list[str]:
        """Return the names of the answer's nodes, in order."""
        return [node.name for node in (await self.ask(name, **fields)).nodes]


def edges_as_text(answer: GraphAnswer) -> list[str]:
    """Return the edges of an answer as ``a TYPE b``, sorted."""
    names = {node.uid: node.name for node in answer.nodes}
    return sorted(f"{names[edge.source]} {edge.type} {names[edge.target]}" for edge in answer.edges)
