"""Pages of items in an order, on Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from vicw_core.filters.order import contexts_of, listing_place, single_context
from vicw_shared.clock import MICROSECONDS, from_us, to_us
from vicw_shared.model import Label, Node
from vicw_shared.ports import Scope
from vicw_shared.ports.item_filter import ItemCondition
from vicw_shared.ports.item_list import ContextPart, ListingQuery, SpeakerPart
from vicw_stores.conditions import listing_conditions
from vicw_stores.neo4j.cypher import item_list as cypher
from vicw_stores.neo4j.cypher.item_filter import Bindings, condition_of
from vicw_stores.neo4j.cypher.text import scope_condition
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.keys import index_text, listed
from vicw_stores.neo4j.rows import nodes_in

_DAY = 24 * 60 * 60 * MICROSECONDS


async def list_items(run: RunStatement, query: ListingQuery, limit: int) -> list[Node]:
    """Return the first ``limit`` items of a query."""
    items: list[Node] = []
    for live in (True, False) if query.retired else (True,):
        items += await _items(run, query, limit, live=live)
    items.sort(key=lambda item: listing_place(query.order, item), reverse=query.descending)
    return items[:limit]


async def _items(run: RunStatement, query: ListingQuery, limit: int, *, live: bool) -> list[Node]:
    """Return the first items that are live, or that are not."""
    tenant, context = query.scope.tenant, single_context(query)
    values = Bindings(tenant=tenant, listed=listed(tenant, live=live), limit=limit)
    if context is not None:
        values |= {"context": context, "listed_in": index_text(context)}
    if query.after is not None:
        values |= dict(zip((cypher.KEY[query.order], *cypher.TIE), query.after, strict=True))
    scoped = scope_condition(listing_conditions(query.scope, retired=query.retired), values)
    condition = f"i.tenant = $tenant AND ({scoped}) AND ({condition_of(query.condition, values)})"
    found: list[Node] = []
    # Behind a place: first the items of its key and arrival, then those of its key, then the rest.
    for fixed in (2, 1, 0) if query.after is not None else (0,):
        statement = cypher.page(
            query.order,
            fixed,
            condition,
            of_context=context is not None,
            started=query.after is not None,
            descending=query.descending,
        )
        found += nodes_in(await run(statement, **values | {"limit": limit - len(found)}))
        if len(found) >= limit:
            break
    return found


async def read_passing_items(
    run: RunStatement, tenant: str, condition: ItemCondition, limit: int, among: Sequence[str] | None
) -> list[str]:
    """Return the uids of at most ``limit`` items for which a condition holds.

    It goes through the items of the one context that the condition names, or of the tenant.
    """
    every = [listed(tenant, live=live) for live in (True, False)]
    values = Bindings(tenant=tenant, listed=every, limit=limit)
    contexts = min(contexts_of(condition), key=len, default=None)
    if among is not None:
        values["among"] = list(among)
    elif contexts is not None:
        values["listed_in"] = list(map(index_text, contexts))
    wanted = f"i.tenant = $tenant AND ({condition_of(condition, values)})"
    statement = cypher.passing(wanted, among=among is not None, of_contexts=contexts is not None)
    return [row["uid"] for row in await run(statement, **values)]


async def read_context_parts(run: RunStatement, scope: Scope, *, retired: bool) -> list[ContextPart]:
    """Return the counts of the live items in a scope, or of the retired ones."""
    values = Bindings(tenant=scope.tenant, listed=listed(scope.tenant, live=not retired))
    scoped = scope_condition(listing_conditions(scope, retired=retired), values)
    rows = await run(cypher.context_parts(f"i.tenant = $tenant AND ({scoped})"), **values)
    return [
        ContextPart(
            row["context"],
            row["domain"],
            Label(row["label"]),
            row["items"],
            from_us(row["first"]),
            from_us(row["last"]),
            row["passages"],
            row["chars"],
            row["indexed"],
        )
        for row in rows
    ]


async def read_speaker_parts(run: RunStatement, scope: Scope) -> list[SpeakerPart]:
    """Return the counts of the live items in a scope by user and speaker."""
    values = Bindings(tenant=scope.tenant, listed=listed(scope.tenant, live=True))
    scoped = scope_condition(listing_conditions(scope, retired=False), values)
    rows = await run(cypher.speaker_parts(f"i.tenant = $tenant AND ({scoped})"), **values)
    return [
        SpeakerPart(
            row["user"], row["speaker"], row["context"], row["items"], from_us(row["first"]), from_us(row["last"])
        )
        for row in rows
    ]


async def read_arrivals(run: RunStatement, scope: Scope, since: datetime) -> dict[date, int]:
    """Return how many of the live items in a scope were stored on each day since then."""
    values = Bindings(tenant=scope.tenant, listed=listed(scope.tenant, live=True), since=to_us(since), day=_DAY)
    scoped = scope_condition(listing_conditions(scope, retired=False), values)
    rows = await run(cypher.arrivals(f"i.tenant = $tenant AND ({scoped})"), **values)
    return {from_us(row["day"] * _DAY).date(): row["items"] for row in rows}
