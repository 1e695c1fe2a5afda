"""Giving up an import that broke off, whose export may be lost: what it has brought is erased, and its mark with it."""

from __future__ import annotations

from typing import Protocol

from vicw_ingest.erasing.choosing import Chosen
from vicw_shared.errors import ConflictError, NotFoundError
from vicw_shared.ports import GraphArchive, GraphStore
from vicw_sleep.archive.marks import give_up, homes_of_half


class Graph(GraphStore, GraphArchive, Protocol):
    """What is asked for the import, and told that it is over."""


async def choose_half(graph: Graph) -> list[Chosen]:
    """Choose what an import has brought that broke off, tenant by tenant: none of it was in the store before.

    Raises NotFoundError where none broke off, ConflictError where nobody knows its contexts.
    """
    return [Chosen(tenant, scattered=tuple(names)) for tenant, names in (await homes_of_half(graph)).items()]


async def settle_half(graph: Graph) -> None:
    """Note that no import is under way any more, once no context is left that one has brought which broke off."""
    try:
        homes = await homes_of_half(graph)
    except (NotFoundError, ConflictError):
        return
    for tenant, names in homes.items():
        if not {root.context for root in await graph.contexts(tenant)}.isdisjoint(names):
            return
    await give_up(graph, next(iter(homes)))
