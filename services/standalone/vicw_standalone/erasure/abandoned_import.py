"""Giving up an import that broke off, whose export may be lost: what it has brought is erased, and its mark with it."""

from __future__ import annotations

from vicw_ingest.erasure.selection import ErasureSelection
from vicw_shared.ports import Store
from vicw_sleep.archive.import_marker import put_mark, read_half, read_mark


async def choose_half(graph: Store) -> list[ErasureSelection]:
    """Choose what an import has brought that broke off, tenant by tenant: none of it was in the store before.

    Each of its contexts that has anything is there: contexts come first. Raises as ``read_half`` does.
    """
    tenants = (await read_half(graph.archive)).tenants
    return [ErasureSelection(one, partial=tuple(root.context for root in await graph.contexts(one))) for one in tenants]


async def settle_half(graph: Store) -> None:
    """Note that no import is under way any more, once nothing is left of one that is given up."""
    mark = await read_mark(graph.archive)
    if mark is not None and mark.given_up and not any([await graph.contexts(tenant) for tenant in mark.tenants]):
        await put_mark(graph, mark.tenants[0], None)
