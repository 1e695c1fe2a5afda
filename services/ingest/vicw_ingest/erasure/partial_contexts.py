"""Erasure of partially imported contexts: their nodes may be unconnected, so all nodes of the store are scanned."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from itertools import groupby

from vicw_shared.model import Label, Node
from vicw_shared.ports import Nodes, Store, scan_pages

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
