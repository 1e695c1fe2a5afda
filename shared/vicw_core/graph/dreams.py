"""Data that dreams add, and its removal: with the item, on undo, or on wipe.

A dream adds edges created by DREAM, each between an item and another node, and the tags that these edges need. None of
them outlives the item: a retired or consolidated item has no such edges, and a new dream covers its successor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from vicw_core.graph.edge_factory import DREAM
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import GraphTransaction

RELATED_TO = "RELATED_TO"
MADE = (AUTO_TAGGED, RELATED_TO)
"""Types of all edges that dreams have added; RELATED_TO edges, between two items, come from older programs."""
MAKER = "made_by"
"""Metadata key of a tag that a dream created."""


def is_dreamt(node: Node) -> bool:
    """Return whether a node is a tag that a dream created."""
    return node.metadata.get(MAKER) == DREAM


def dream_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges that a dream created."""
    return [edge for edge in edges if edge.created_by == DREAM]


async def drop_dream_edges(transaction: GraphTransaction, dreamt: Sequence[Edge], now: datetime) -> None:
    """Drop edges that a dream created, and release their tags."""
    if dreamt:
        await transaction.drop_edges(dreamt)
        await release_tags(transaction, {edge.target for edge in dreamt if edge.type == AUTO_TAGGED}, now)


async def release_tags(transaction: GraphTransaction, tags: Iterable[str], now: datetime) -> None:
    """Drop unused tags that a dream created; retire other unused tags.

    A tag that was merged or renamed counts as a caller's, even if a dream created it.
    """
    isolated = await transaction.isolated(sorted(set(tags)))
    nodes = [node for node in (await transaction.nodes(sorted(isolated))).values() if not node.aliases]
    degrees = await transaction.degrees([node.uid for node in nodes])
    unused = {node.uid for node in nodes if is_dreamt(node) and not degrees.get(node.uid)}
    await transaction.drop_nodes(sorted(unused))
    live = [node for node in nodes if node.uid not in unused and node.retired_at is None]
    await transaction.put_nodes([replace(node, retired_at=now) for node in live])
