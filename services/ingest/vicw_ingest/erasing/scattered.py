"""Contexts that came in part: their nodes may hang on nothing, so every node of the store is asked whose it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from itertools import groupby
from typing import Protocol

from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphAudit, GraphStore

_PAGE = 500

type Drop = Callable[[str, Sequence[str]], Awaitable[Sequence[Node]]]
"""Removes nodes (uids) of a context, and returns them."""


class Graph(GraphStore, GraphAudit, Protocol):
    """What is gone through, and what counters are removed from."""


async def drop_scattered(
    graph: Graph, tenant: str, contexts: Collection[str], drop: Drop, stands: Callable[[], Awaitable[bool]]
) -> AsyncIterator[Sequence[Node]]:
    """Have all nodes of these contexts (names) of a tenant dropped, batch by batch; yield those that went.

    The contexts themselves go last: one that is there may have something left. Once the erasure does not stand any
    more, another has come to its end, and what is there has come since.
    """
    for label in sorted(Label, key=lambda label: label is Label.CONTEXT) if contexts else ():
        after: str | None = None
        while await stands() and (page := await graph.page(label, after=after, limit=_PAGE)):
            after = page[-1].uid
            going = [node for node in page if node.tenant == tenant and node.context in contexts]
            for context, nodes in groupby(sorted(going, key=lambda node: node.context), lambda node: node.context):
                yield await drop(context, [node.uid for node in nodes])
    for context in sorted(contexts) if await stands() else ():
        await graph.write(tenant, context, lambda transaction: transaction.drop_counters([], arrivals=True))
