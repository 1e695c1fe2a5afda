"""Which tenants a store has."""

from __future__ import annotations

from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import Store

_LISTED = 20


async def require_tenant(graph: Store, tenant: str) -> tuple[str, ...]:
    """Return the names of a tenant's contexts. Raises MissingRecordError if nothing of it is stored or being erased.

    After an interrupted erasure a tenant may have nothing left but the erasure's notes.
    """
    contexts = tuple(root.name for root in await graph.contexts(tenant))
    if not contexts and all(note.tenant != tenant for note in await graph.erasures.erasures()):
        async with graph.archive.snapshot() as snapshot:
            known = sorted({root.tenant for root in await snapshot.roots()})
        listed = ", ".join(map(repr, known[:_LISTED])) or "none"
        raise MissingRecordError(f"Nothing of tenant {tenant!r} is stored; there is {listed}")
    return contexts
