"""Contexts that came in part: their nodes may hang on nothing, so every node of the store is asked whose it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from itertools import groupby

from vicw_shared.model import Label, Node
from vicw_shared.ports import Nodes, Store, scan_pages

_PAGE = 500

type Drop = Callable[[str, Sequence[str]], Awaitable[Sequence[Node]]]
"""Removes nodes (uids) of a context, and returns them."""


async def drop_scattered(
    graph: Store, tenant: str, contexts: Collection[str], drop: Drop, stands: Callable[[], Awaitable[bool]]
) -> AsyncIterator[Sequence[Node]]:
    """Have all nodes of these contexts (names) of a tenant dropped, batch by batch; yield those that went.

    The contexts themselves go last: one that is there may have something left. Once the erasure does not stand any
    more, another has come to its end, and what is there has come since.
    """
    for label in sorted(Label, key=lambda label: label is Label.CONTEXT) if contexts else ():
        async for page in scan_pages(graph, Nodes(label), limit=_PAGE):
            if not await stands():
                break
            going = [node for node in page if node.tenant == tenant and node.context in contexts]
            for context, nodes in groupby(sorted(going, key=lambda node: node.context), lambda node: node.context):
                yield await drop(context, [node.uid for node in nodes])
    for context in sorted(contexts) if await stands() else ():
        await graph.write(tenant, context, lambda transaction: transaction.drop_counters([], arrivals=True))
