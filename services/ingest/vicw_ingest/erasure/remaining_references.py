"""Traces of erased items in nodes that stay: references in ledgers, and contexts that were erased in part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from itertools import batched, groupby

from vicw_core.consolidation.ledger import LedgerEntry
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.core5 import LEDGER
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import GraphTransaction, Nodes, Store, scan_pages

_READ_BATCH = 500
_WRITE_BATCH = 25


async def drop_dangling_edges(graph: Store, tenant: str, erased: Collection[str]) -> None:
    """Remove edges to erased nodes from all ledgers of a tenant: a restore could not bring them back.

    All ledgers are read, because not every such ledger is adjacent to an erased node: after an item expired, the graph
    no longer holds the edges that it stated between others. Raises the engine's errors; a new run continues.
    """
    for root in await graph.contexts(tenant):
        stale: list[str] = []
        async with graph.archive.snapshot() as snapshot:
            for batch in batched(await snapshot.members(root), _READ_BATCH):
                stale += [
                    node.uid for node in _without_dangling_edges((await snapshot.nodes(root, batch)).values(), erased)
                ]
        for batch in batched(stale, _WRITE_BATCH):

            async def work(transaction: GraphTransaction, uids: Sequence[str] = batch) -> None:
                await transaction.put_nodes(_without_dangling_edges((await transaction.nodes(uids)).values(), erased))

            await graph.write(tenant, root.context, work)


def _without_dangling_edges(nodes: Collection[Node], erased: Collection[str]) -> list[Node]:
    """Return the nodes whose ledger has such an edge, without the edge."""
    changed: list[Node] = []
    for node in nodes:
        if LEDGER not in node.metadata:
            continue
        entry = LedgerEntry.load(str(node.metadata[LEDGER]))
        edges = tuple(edge for edge in entry.edges if not _is_of(edge, erased))
        if len(edges) < len(entry.edges):
            dumped = replace(entry, edges=edges).dump()
            changed.append(replace(node, metadata={**node.metadata, LEDGER: dumped}))
    return changed


def _is_of(edge: Edge, erased: Collection[str]) -> bool:
    return edge.source in erased or edge.target in erased or edge.properties.get(SOURCE_ITEM) in erased


_PAGE = 500

type Drop = Callable[[str, Sequence[str]], Awaitable[Sequence[Node]]]
"""Removes nodes (uids) of a context, and returns them."""


async def drop_partial_contexts(
    graph: Store, tenant: str, contexts: Collection[str], drop: Drop, is_pending: Callable[[], Awaitable[bool]]
) -> AsyncIterator[Sequence[Node]]:
    """Drop all nodes of these contexts (names) of a tenant in batches, and yield the dropped nodes.

    The Context nodes go last, because an existing one may have nodes left. It stops once ``is_pending`` returns False:
    another process has then finished the erasure, and existing nodes were stored since.
    """
    for label in sorted(Label, key=lambda label: label is Label.CONTEXT) if contexts else ():
        async for page in scan_pages(graph, Nodes(label), limit=_PAGE):
            if not await is_pending():
                break
            members = [node for node in page if node.tenant == tenant and node.context in contexts]
            for context, nodes in groupby(sorted(members, key=lambda node: node.context), lambda node: node.context):
                yield await drop(context, [node.uid for node in nodes])
    for context in sorted(contexts) if await is_pending() else ():
        await graph.write(tenant, context, lambda transaction: transaction.drop_counters([], arrivals=True))
