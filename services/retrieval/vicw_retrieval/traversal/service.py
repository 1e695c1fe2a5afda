"""Use case behind every graph endpoint: limits, scope, the question, its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from vicw_retrieval.access.scope import scope_of_question
from vicw_retrieval.access.viewer_identity import with_viewer_identities
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.stages import Size, StageTimer, name_sizes, require_within_limits
from vicw_retrieval.traversal.graph_query import GraphQuery
from vicw_shared.clock import now
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.graph import GraphAnswer, GraphQuestion, WalkRequest

type Question[R: GraphQuestion] = Callable[[R, GraphQuery], Awaitable[GraphAnswer]]


async def ask[R: GraphQuestion](
    question: Question[R], request: R, tenant: str, ports: RetrievalPorts, *, ignore_validity: bool = False
) -> GraphAnswer:
    """Return the answer to a graph question; with ``ignore_validity``, what is past is visible, too.

    Raises InvalidInputError for a field over its limit, UnavailableError while the graph is down: no other store has
    edges.
    """
    require_within_limits(_sizes(request, ports.limits))
    timer = StageTimer()
    with timer.stage("graph"):
        scope = await with_viewer_identities(ports.graph, scope_of_question(request, tenant, now()))
        inquiry = GraphQuery(ports, scope, ignore_validity)
        answer = await question(request, inquiry)
    return answer.model_copy(update={"took_ms": timer.total()})


def _sizes(request: GraphQuestion, limits: LimitSettings) -> list[Size]:
    names = {"context": request.context}
    names |= {field: getattr(request, field, None) for field in ("node", "name", "subtype", "flow")}
    lists: dict[str, tuple[str, ...]] = {}
    sizes: list[Size] = [("limit", request.limit, limits.graph_nodes, "VICW_MAX_GRAPH_NODES", "nodes")]
    if isinstance(request, WalkRequest):
        if request.query is not None:
            sizes.append(("query", len(request.query), limits.query_chars, "VICW_MAX_QUERY_CHARS", "characters"))
        sizes.append(("hops", request.hops, limits.hops, "VICW_MAX_HOPS", "hops"))
        lists = {"start": request.start, "types.include": request.types.include or ()}
        lists["types.exclude"] = request.types.exclude or ()
    return [*sizes, *name_sizes(names, lists, request.viewer, limits)]
