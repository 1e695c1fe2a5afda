"""What the sleep cycle made up of memories, and how it goes again: with the memory, when it is undone, or wiped.

All of it is edges that DREAM has made, each between an item and something else, and the tags that it needed for them.
None of it outlives the item: a retired or consolidated item has no such edges, and its successor is dreamt of anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from vicw_shared.edge_factory import DREAM
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import GraphTransaction

RELATED_TO = "RELATED_TO"
MADE = (AUTO_TAGGED, RELATED_TO)
"""The types of all edges that a dream makes. Links between items are of older programs."""
MAKER = "made_by"
"""The metadata of a tag that a dream made, and that nobody had before."""


def is_dreamt(node: Node) -> bool:
    """Tell whether a node is a tag that a dream made."""
    return node.metadata.get(MAKER) == DREAM


def by_dreams(edges: Iterable[Edge]) -> list[Edge]:
    """Return those of these edges that a dream made."""
    return [edge for edge in edges if edge.created_by == DREAM]


async def forget(transaction: GraphTransaction, dreamt: Sequence[Edge], now: datetime) -> None:
    """Drop edges that a dream made, and the tags that nothing has any more."""
    if dreamt:
        await transaction.drop_edges(dreamt)
        await release_tags(transaction, {edge.target for edge in dreamt if edge.type == AUTO_TAGGED}, now)


async def release_tags(transaction: GraphTransaction, tags: Iterable[str], now: datetime) -> None:
    """Drop those of these tags that a dream made and nothing has; one that somebody gave is retired, as ever.

    One that was merged or renamed is somebody's, whoever made it.
    """
    alone = await transaction.isolated(sorted(set(tags)))
    nodes = [node for node in (await transaction.nodes(sorted(alone))).values() if not node.aliases]
    degrees = await transaction.degrees([node.uid for node in nodes])
    bare = {node.uid for node in nodes if is_dreamt(node) and not degrees.get(node.uid)}
    await transaction.drop_nodes(sorted(bare))
    live = [node for node in nodes if node.uid not in bare and node.retired_at is None]
    await transaction.put_nodes([replace(node, retired_at=now) for node in live])
