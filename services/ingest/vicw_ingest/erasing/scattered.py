"""Contexts that came in part: their nodes may hang on nothing, so every node of the store is asked whose it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from itertools import groupby
from typing import Protocol

from vicw_ingest.erasing.noting import note_of
from vicw_shared.model import Label, Node
from vicw_shared.ports import ErasureNote, GraphAudit, GraphStore, GraphTransaction

_PAGE = 500


class Graph(GraphStore, GraphAudit, Protocol):
    """What is gone through, and what nodes are removed from."""


async def drop_scattered(
    graph: Graph, first: ErasureNote, contexts: Collection[str], key: int, stands: Callable[[], Awaitable[bool]]
) -> AsyncIterator[Sequence[Node]]:
    """Remove all nodes of these contexts (names) of the tenant whose erasure it is, each batch with its note.

    The contexts themselves go last: one that is there may have something left. Once the erasure does not stand any
    more, another has come to its end, and what is there has come since.
    """
    for label in sorted(Label, key=lambda label: label is Label.CONTEXT) if contexts else ():
        after: str | None = None
        while await stands() and (page := await graph.page(label, after=after, limit=_PAGE)):
            after = page[-1].uid
            going = [node for node in page if node.tenant == first.tenant and node.context in contexts]
            for context, nodes in groupby(sorted(going, key=lambda node: node.context), lambda node: node.context):
                yield await _drop(graph, first, context, list(nodes), key)
    for context in sorted(contexts) if await stands() else ():
        await graph.write(first.tenant, context, lambda transaction: transaction.drop_counters([], arrivals=True))


async def _drop(graph: Graph, first: ErasureNote, context: str, nodes: Sequence[Node], key: int) -> list[Node]:
    async def work(transaction: GraphTransaction) -> list[Node]:
        gone = list((await transaction.nodes([node.uid for node in nodes])).values())
        await transaction.drop_counters(sorted({node.flow_id for node in gone if node.flow_id is not None}))
        await transaction.drop_nodes([node.uid for node in gone])
        if gone:
            await transaction.note_erasure(note_of(first, gone, key))
        return gone

    return await graph.write(first.tenant, context, work)
