"""Giving up an import that broke off, whose export may be lost: what it has brought is erased, and its mark with it."""

from __future__ import annotations

from vicw_ingest.erasing.choosing import Chosen
from vicw_sleep.archive.marks import Graph, give_up, homes_of_half, read_mark


async def choose_half(graph: Graph) -> list[Chosen]:
    """Choose what an import has brought that broke off, tenant by tenant: none of it was in the store before.

    Raises NotFoundError where none broke off, ConflictError where nobody knows its contexts.
    """
    return [Chosen(tenant, scattered=tuple(names)) for tenant, names in (await homes_of_half(graph)).items()]


async def settle_half(graph: Graph) -> None:
    """Note that no import is under way any more, once no context is left that one has brought which is given up."""
    mark = await read_mark(graph)
    if mark is None or not mark.given_up:
        return
    homes = await homes_of_half(graph)
    for tenant, names in homes.items():
        if not {root.context for root in await graph.contexts(tenant)}.isdisjoint(names):
            return
    await give_up(graph, next(iter(homes)))
