"""What ledgers say of what was erased: an item that is consolidated may have had an edge to it, or told of one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import batched

from vicw_shared.consolidation.ledger import LedgerEntry
from vicw_shared.model import Edge, Node
from vicw_shared.model.core5 import LEDGER
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.ports import GraphTransaction, Store

_READ = 500
_WRITTEN = 25


async def drop_dangling_edges(graph: Store, tenant: str, gone: Collection[str]) -> None:
    """Take edges to nodes that are gone out of the ledgers of a tenant: they lead nowhere, and would not come back.

    Not every such ledger is beside what went: of an item that has expired the graph has no more what it told of others.
    Raises what the engine raises; run again, it goes on.
    """
    for root in await graph.contexts(tenant):
        stale: list[str] = []
        async with graph.archive.snapshot() as snapshot:
            for batch in batched(await snapshot.members(root), _READ):
                stale += [
                    node.uid for node in _without_dangling_edges((await snapshot.nodes(root, batch)).values(), gone)
                ]
        for batch in batched(stale, _WRITTEN):

            async def work(transaction: GraphTransaction, uids: Sequence[str] = batch) -> None:
                await transaction.put_nodes(_without_dangling_edges((await transaction.nodes(uids)).values(), gone))

            await graph.write(tenant, root.context, work)


def _without_dangling_edges(nodes: Collection[Node], gone: Collection[str]) -> list[Node]:
    """Return those of these nodes whose ledger has such an edge, without it."""
    found: list[Node] = []
    for node in nodes:
        if LEDGER not in node.metadata:
            continue
        entry = LedgerEntry.load(str(node.metadata[LEDGER]))
        kept = tuple(edge for edge in entry.edges if not _is_of(edge, gone))
        if len(kept) < len(entry.edges):
            dumped = replace(entry, edges=kept).dump()
            found.append(replace(node, metadata={**node.metadata, LEDGER: dumped}))
    return found


def _is_of(edge: Edge, gone: Collection[str]) -> bool:
    return edge.source in gone or edge.target in gone or edge.properties.get(TOLD_BY) in gone
