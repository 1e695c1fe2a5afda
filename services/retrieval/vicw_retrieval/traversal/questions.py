"""Traversals of the graph, one function per question: the work of ``POST /graph/…``."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.access.scope import is_named
from vicw_retrieval.access.visibility import MAX_READ
from vicw_retrieval.traversal.graph_query import GraphQuery
from vicw_retrieval.traversal.walk import Walk, when
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Label, Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.model.knowledge import FILE, PAGE, page_uid
from vicw_shared.ports import Direction, Flow, FlowEvents
from vicw_shared.uids import context_uid
from vicw_shared.wire.graph import (
    DEFAULT_EXCLUDED,
    FindRequest,
    FlowRequest,
    GraphAnswer,
    HistoryRequest,
    NodeQuestion,
    WalkRequest,
)

_WAYS = {"out": (Direction.OUT,), "in": (Direction.IN,), "both": (Direction.OUT, Direction.IN)}
_MEMORIES = (
    ("ABOUT", Direction.IN),
    ("MENTIONS", Direction.IN),
    ("INITIATED", Direction.OUT),
    ("STATED_BY", Direction.IN),
)
_REPLACED = (("SUPERSEDES", Direction.OUT), ("SUPERSEDES", Direction.IN))


async def find(request: FindRequest, inquiry: GraphQuery) -> GraphAnswer:
    """Return what a uid, an id or a name may mean; without any of them, the named entities of a context, by name.

    Raises InvalidInputError if neither a name nor a context is given.
    """
    if request.name is None and request.context is None:
        raise InvalidInputError(
            FieldProblem("name", "is missing, and so is `context`", "Give a name, or a context whose entities to list")
        )
    complete = True
    if request.name is None:
        nodes, complete = await inquiry.finder.page(request.subtype, request.limit)
    else:
        nodes = [node for node in await inquiry.finder.all(request.name) if request.subtype in {None, node.subtype}]
    walk = inquiry.walk((), hops=0, limit=request.limit)
    walk.add(nodes)
    walk.complete &= complete
    return await inquiry.answer(walk, [])


async def walk_from(request: WalkRequest, inquiry: GraphQuery) -> GraphAnswer:
    """Return everything within the hops asked for. Raises UnknownTypeError, or what ``StartFinder.one`` does."""
    inquiry.registry.require([*(request.types.include or ()), *(request.types.exclude or ())])
    included = request.types.include or tuple(edge_type.name for edge_type in inquiry.registry)
    excluded = request.types.exclude
    if excluded is None:
        excluded = tuple(set(DEFAULT_EXCLUDED) - set(request.types.include or ()))
    spreads = [(name, direction) for name in included if name not in excluded for direction in _WAYS[request.direction]]
    if not request.start and request.query is None and request.context is None:
        raise InvalidInputError(
            FieldProblem("start", "is empty, and no `context` is given", "Name where to begin, or a context")
        )
    starts = [await inquiry.finder.one(start, f"start[{at}]") for at, start in enumerate(request.start)]
    if request.query is not None:
        by_uid = {node.uid: node for node in (*starts, *await inquiry.finder.by_words(request.query))}
        starts = list(by_uid.values())
    starts += await _pages_of(inquiry, starts)
    walk = inquiry.walk(
        spreads,
        hops=request.hops,
        limit=request.limit,
        min_weight=request.min_weight,
        statements=request.statements,
    )
    begins = starts if starts or request.query is not None else await _all_of(inquiry, walk, request.types.include)
    await walk.run(begins)
    return await inquiry.answer(walk, starts)


async def _pages_of(inquiry: GraphQuery, starts: Sequence[Node]) -> list[Node]:
    """Return the page and file nodes whose texts these items are: they have the links, and the symbols."""
    items = [node for node in starts if node.content_hash]
    pages = [node for node in items if node.source_id and node.subtype in {PAGE, FILE}]
    uids = [page_uid(node.tenant, node.context, node.source_id or "") for node in pages]
    uids += await inquiry.finder.files_of(items)
    page_nodes = await inquiry.graph.nodes(inquiry.scope.tenant, uids) if uids else {}
    start_uids = {node.uid for node in starts}
    return await inquiry.finder.allowed(
        [node for node in page_nodes.values() if not node.retired_at and node.uid not in start_uids]
    )


async def _all_of(inquiry: GraphQuery, walk: Walk, counted_types: Sequence[str] | None = None) -> list[Node]:
    """Return the context's nodes that lead anywhere, newest first; ``counted_types``: see ``Walk.leading_nodes``."""
    (context,) = await inquiry.contexts()
    root, limit = context_uid(inquiry.scope.tenant, context), inquiry.settings.context_nodes
    inside = await inquiry.graph.expand(inquiry.scope.tenant, [root], [("BELONGS_TO", Direction.IN)], limit)
    seen = [n.node for n in await inquiry.visibility.visible(inside) if n.node.label is not Label.CHUNK]
    leading = await walk.leading_nodes(seen, counted_types or ())
    allowed = await inquiry.finder.allowed(leading)
    return sorted(allowed, key=lambda node: (-when(node).timestamp(), node.uid))


async def about(request: NodeQuestion, inquiry: GraphQuery) -> GraphAnswer:
    """Return a person and the memories about the person or its users, newest first; for a user, its person's."""
    start, starts = await _person_and_users(request, inquiry)
    walk = inquiry.walk([("ABOUT", Direction.IN)], hops=1, limit=request.limit, fanout=request.limit)
    await walk.run(starts)
    return await inquiry.answer(walk, [start], order=_newest_first)


async def person(request: NodeQuestion, inquiry: GraphQuery) -> GraphAnswer:
    """Return a user and the person that the user is, with all nodes merged with these."""
    return await _identity(request, inquiry, Direction.OUT)


async def users(request: NodeQuestion, inquiry: GraphQuery) -> GraphAnswer:
    """Return a person and the users that are this person."""
    return await _identity(request, inquiry, Direction.IN)


async def merges(request: NodeQuestion, inquiry: GraphQuery) -> GraphAnswer:
    """Return the chain of merges of a node, and all nodes that were merged into its members."""
    start = await inquiry.finder.one(request.node, "node")
    walk = inquiry.walk([("MERGED_INTO", Direction.OUT)], hops=0, limit=request.limit)
    await walk.run([start])
    return await inquiry.answer(walk, [start])


async def history(request: HistoryRequest, inquiry: GraphQuery) -> GraphAnswer:
    """Return what replaced what, newest first: of an item, of its text's statements, or of an entity's memories.

    Without a node: for a whole context. What is not believed any more is included; invisible and expired nodes are not.
    Raises InvalidInputError if neither is given.
    """
    if request.node is None:
        if request.context is None:
            raise InvalidInputError(
                FieldProblem(
                    "node", "is missing, and so is `context`", "Name a node, or the context whose history to see"
                )
            )
        walk = inquiry.walk(_REPLACED, hops=0, limit=request.limit, statements=True)
        await walk.run(await _all_of(inquiry, walk))
        return await inquiry.answer(walk, [], order=_newest_first)
    start = await inquiry.finder.one(request.node, "node")
    starts, around = [start], None
    if is_named(start):
        around = inquiry.walk(_MEMORIES, hops=1, limit=inquiry.limits.graph_nodes, fanout=MAX_READ, statements=True)
        await around.run([start])
        bearing = inquiry.walk(_REPLACED, hops=0, limit=len(around.nodes) or 1, statements=True)
        starts += await bearing.leading_nodes([node for uid, node in around.nodes.items() if uid != start.uid])
    walk = inquiry.walk(_REPLACED, hops=request.limit, limit=request.limit, fanout=MAX_READ, statements=True)
    if around is not None:
        walk.adopt(around)
    await walk.run(starts)
    return await inquiry.answer(walk, [start], order=_newest_first)


async def flow_in_order(request: FlowRequest, inquiry: GraphQuery) -> GraphAnswer:
    """Return one flow in the order of its NEXT chain.

    Raises InvalidInputError for an unknown flow, or if several contexts have it.
    """
    by_context = {
        context: items for context in await inquiry.contexts() if (items := await _items(request, inquiry, context))
    }
    if not by_context:
        raise InvalidInputError(FieldProblem("flow", "is not known", "Name the `flow_id` that its items have"))
    if len(by_context) > 1:
        names = ", ".join(map(repr, by_context))
        raise InvalidInputError(FieldProblem("context", "is missing, and several have this flow", f"Name one: {names}"))
    (items,) = by_context.values()
    walk = inquiry.walk([("NEXT", Direction.OUT)], hops=0, limit=request.limit)
    await walk.run(items)
    return await inquiry.answer(walk, [])


async def _items(request: FlowRequest, inquiry: GraphQuery, context: str) -> list[Node]:
    """Return the first visible items of a flow, one more than asked for if there are more."""
    flow, looked_at = Flow(inquiry.scope.tenant, context, request.flow), request.limit + 1
    while True:
        items = await inquiry.graph.scan(FlowEvents(flow), limit=looked_at)
        seen = await inquiry.visibility.nodes(items)
        max_read = max(MAX_READ, request.limit + 1)
        if len(seen) > request.limit or len(items) < looked_at or looked_at >= max_read:
            return seen[: request.limit + 1]
        looked_at = min(looked_at * 8, max_read)


async def _identity(request: NodeQuestion, inquiry: GraphQuery, direction: Direction) -> GraphAnswer:
    start = await inquiry.finder.one(request.node, "node")
    walk = inquiry.walk([(IS_PERSON, direction)], hops=1, limit=request.limit)
    await walk.run([start])
    return await inquiry.answer(walk, [start])


async def _person_and_users(request: NodeQuestion, inquiry: GraphQuery) -> tuple[Node, list[Node]]:
    """Return the node that is meant, and with it the person, if it is a user, and that person's users."""
    start = await inquiry.finder.one(request.node, "node")
    nodes = [start]
    for direction in (Direction.OUT, Direction.IN):
        same = inquiry.walk([(IS_PERSON, direction)], hops=1, limit=request.limit)
        await same.run(nodes)
        nodes = list(same.nodes.values())
    return start, nodes


def _newest_first(walk: Walk) -> list[Node]:
    named = [node for node in walk.nodes.values() if is_named(node)]
    memories = [node for node in walk.nodes.values() if not is_named(node)]
    return [*named, *sorted(memories, key=lambda node: (-when(node).timestamp(), -node.version, node.uid))]
