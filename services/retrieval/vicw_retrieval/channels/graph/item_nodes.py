"""Further nodes of an item beside its own: its statements and events, and the node of its page.

Statements hold the causes of what an item says, page nodes hold the links of what it documents. Moving between these
nodes does not count as a hop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.dense import extracted_nodes
from vicw_retrieval.channels.graph.spread import SpreadContext, SpreadPath
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import is_knowledge, page_uid
from vicw_shared.ports import Direction, ItemRef

_STATEMENTS = 12
_MENTIONS = 20
_NODES_OF_AN_ITEM = 3


async def nodes_of_items(question: SpreadContext, items: Sequence[str], passages: Mapping[str, str]) -> dict[str, str]:
    """Return the further nodes of ``items``, each with its item. ``passages``: passage → item."""
    graph, tenant = question.graph, question.scope.tenant
    extracted = await extracted_nodes(graph, tenant, list(passages), _STATEMENTS)
    owners = {lead.uid: passages[lead.origin] for lead in extracted}
    nodes = await graph.nodes(tenant, items)
    pages = [node for node in nodes.values() if node.label is Label.ENTITY and node.source_id is not None]
    return owners | {page_uid(tenant, node.context, node.source_id or ""): node.uid for node in pages}


async def carry_to_items(
    question: SpreadContext, reached: Sequence[tuple[Node, SpreadPath]], limit: int
) -> list[tuple[Node, SpreadPath]]:
    """Return the items to which these nodes belong, visible and in scope, each by its best way.

    At most the ``limit`` best items are read, and three times as many nodes: an item may have several.
    """
    reached = [(node, reach) for node, reach in reached if _has_item(node)]
    reached = sorted(reached, key=lambda entry: (-entry[1].gain, entry[0].uid))[: _NODES_OF_AN_ITEM * limit]
    items = {node.uid: node.uid for node, _ in reached if node.content_hash is not None}
    statements = await items_of_statements(question, [node.uid for node, _ in reached if node.is_statement])
    items |= {statement: item.uid for statement, (item, _) in statements.items()}
    items |= await _pages_of(question, [node.uid for node, _ in reached if is_knowledge(node)])
    ways: dict[str, SpreadPath] = {}
    for node, reach in reached:
        item = items.get(node.uid)
        if item is not None and (item not in ways or reach.gain > ways[item].gain):
            ways[item] = reach
    best = sorted(ways, key=lambda uid: (-ways[uid].gain, uid))[:limit]
    nodes = await question.graph.nodes(question.scope.tenant, best)
    seen = await question.visibility.nodes(list(nodes.values()))
    return [(node, ways[node.uid]) for node in await filter_results(question.graph, question.scope, seen)]


def _has_item(node: Node) -> bool:
    return node.content_hash is not None or node.is_statement or is_knowledge(node)


async def items_of_statements(question: SpreadContext, statements: Sequence[str]) -> dict[str, tuple[ItemRef, str]]:
    """Return the item of each statement, and the passage that contains it."""
    graph, tenant = question.graph, question.scope.tenant
    proofs = (
        await graph.weighted_neighbours(tenant, statements, ("EVIDENCED_BY", Direction.OUT), 1) if statements else []
    )
    owners = await graph.owners(tenant, [lead.uid for lead in proofs]) if proofs else {}
    return {lead.origin: (owners[lead.uid], lead.uid) for lead in proofs if lead.uid in owners}


async def _pages_of(question: SpreadContext, pages: Sequence[str]) -> dict[str, str]:
    """Return the item of each page: the one whose text it is. Other items may mention the page, too."""
    graph, tenant = question.graph, question.scope.tenant
    mentions = await graph.weighted_neighbours(tenant, pages, ("MENTIONS", Direction.IN), _MENTIONS) if pages else []
    nodes = await graph.nodes(tenant, sorted({lead.uid for lead in mentions if lead.is_item})) if mentions else {}
    own = {page_uid(tenant, node.context, node.source_id): uid for uid, node in nodes.items() if node.source_id}
    return {page: own[page] for page in pages if page in own}
