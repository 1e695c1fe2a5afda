"""An interrupted import that is given up: what it has stored is erased."""

from __future__ import annotations

from vicw_core.archive.import_marker import put_mark, read_half, read_mark
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_shared.ports import Store


async def choose_imported(graph: Store) -> list[ErasureSelection]:
    """Select everything that an interrupted import stored, per tenant: the tenants were empty before it.

    An import stores contexts first, so no imported node lacks its context. Raises as ``read_half`` does.
    """
    tenants = (await read_half(graph.archive)).tenants
    return [
        ErasureSelection(tenant, partial=tuple(root.context for root in await graph.contexts(tenant)))
        for tenant in tenants
    ]


async def settle_abandoned(graph: Store) -> None:
    """Remove the marker of an abandoned import once all of its contexts are erased."""
    mark = await read_mark(graph.archive)
    if mark is not None and mark.given_up and not any([await graph.contexts(tenant) for tenant in mark.tenants]):
        await put_mark(graph, mark.tenants[0], None)
