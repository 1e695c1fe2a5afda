"""The tenants that have something stored."""

from __future__ import annotations

from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Label
from vicw_shared.ports import GraphStore, Nodes, Scans, scan_pages

_MOST_NAMED = 20


async def tenants_of(graph: Scans) -> list[str]:
    """Return the tenants that have a context, sorted."""
    return sorted({root.tenant async for page in scan_pages(graph, Nodes(Label.CONTEXT)) for root in page})


async def require_tenant(graph: GraphStore, tenant: str | None) -> None:
    """Raise InvalidInputError for a tenant without a context, with the names of those that have one.

    None are all. Only the operator may be told of the others: call it for no one else.
    """
    if tenant is None or await graph.contexts(tenant):
        return
    known = await tenants_of(graph)
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    fix = f"There are: {', '.join(known[:_MOST_NAMED])}{more}" if known else "No tenant has: ingest something first"
    raise InvalidInputError(FieldProblem("tenant", f"is {tenant!r}, which has nothing stored", fix))
