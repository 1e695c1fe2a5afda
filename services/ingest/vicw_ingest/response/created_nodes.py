"""Nodes created for an item: passages, speaker, tags, people and extracted nodes, without its statements."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.wire.ingest import NodeRef

_FROM_ITEM = ("EVIDENCED_BY", "TAGGED", "ABOUT", "MENTIONS")
_TO_ITEM = "INITIATED"


def reference(node: Node) -> NodeRef:
    """Return the wire reference of a node."""
    return NodeRef(uid=node.uid, label=node.label, subtype=node.subtype, name=node.name)


async def created_nodes(transaction: GraphTransaction, items: Sequence[Node]) -> dict[str, list[Node]]:
    """Return the nodes created for each stored item, by the item's uid, passages first."""
    related: dict[str, list[str]] = {item.uid: [] for item in items}
    owner: dict[str, str] = {}
    for edge in await transaction.edges(list(related), [*_FROM_ITEM, _TO_ITEM]):
        if edge.type == _TO_ITEM and edge.target in related:
            related[edge.target].append(edge.source)
        elif edge.type != _TO_ITEM and edge.source in related:
            related[edge.source].append(edge.target)
            if edge.type == "EVIDENCED_BY":
                owner[edge.target] = edge.source
    for proof in await transaction.edges(list(owner), ["EVIDENCED_BY"]):
        if proof.source not in related:
            related[owner[proof.target]].append(proof.source)
    nodes = await transaction.nodes(list({uid for uids in related.values() for uid in uids}))
    shown = {uid: node for uid, node in nodes.items() if not node.is_statement}
    return {
        item: sorted((shown[uid] for uid in dict.fromkeys(uids) if uid in shown), key=_order)
        for item, uids in related.items()
    }


def _order(node: Node) -> tuple[bool, int, str]:
    return node.label is not Label.CHUNK, node.flow_step or 0, node.name
