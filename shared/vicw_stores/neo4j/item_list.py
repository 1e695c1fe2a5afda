"""Pages of items in an order, on Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from vicw_core.filters.metadata_terms import presence_term, value_term
from vicw_core.filters.order import contexts_of, listing_place, range_order, single_context
from vicw_shared.clock import MICROSECONDS, from_us, to_us
from vicw_shared.model import Label, Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.model.names import TermKind
from vicw_shared.ports import Scope
from vicw_shared.ports.item_filter import METADATA, Between, ItemCondition, OneOf, Present, edge_names, required_in
from vicw_shared.ports.item_list import ContextPart, ListingQuery, SpeakerPart
from vicw_stores.conditions import listing_conditions
from vicw_stores.neo4j.cypher import item_list as cypher
from vicw_stores.neo4j.cypher.item_filter import Bindings, condition_of
from vicw_stores.neo4j.cypher.text import scope_condition
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.keys import VALUE_FIELDS, field_word, index_text, listed, metadata_word, term_key
from vicw_stores.neo4j.rows import gathered, nodes_in

_DAY = 24 * 60 * 60 * MICROSECONDS
_SPARE = 2
"""Up to how many times as many items as are wanted are looked at one by one, before all are gone through."""
_MOST = 20_000


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
        found += nodes_in(gathered(await run(statement, **values | {"limit": limit - len(found)})))
        if len(found) >= limit:
            break
    return found


async def read_passing_items(
    run: RunStatement,
    tenant: str,
    condition: ItemCondition,
    limit: int,
    among: Sequence[str] | None,
    *,
    live: bool = False,
) -> list[str]:
    """Return the uids of at most ``limit`` items for which a condition holds, of ``live`` ones alone or all.

    Few of many are found by values, tags or users that it requires; else it goes through the items of the contexts that
    the condition names, or of the tenant, of a range that it requires.
    """
    if among is None and (words := required_words(tenant, condition)):
        (row,) = await run(cypher.WITH_VALUES, words=words, most=min(_SPARE * limit, _MOST))
        among = row["uids"]
    if among is None and live:
        among = await _with_edges(run, tenant, condition, min(_SPARE * limit, _MOST))
    values = Bindings(
        tenant=tenant, either=[listed(tenant, live=one) for one in ((True,) if live else (True, False))], limit=limit
    )
    contexts = min(contexts_of(condition), key=len, default=None)
    if among is not None:
        values["among"] = list(among)
    elif contexts is not None:
        values["of_contexts"] = list(map(index_text, contexts))
    wanted = f"i.tenant = $tenant{' AND i.retired_at IS NULL' * live} AND ({condition_of(condition, values)})"
    order = range_order(condition) if among is None else ItemOrder.ARRIVAL
    statement = cypher.passing(wanted, order, among=among is not None, of_contexts=contexts is not None)
    return [row["uid"] for row in await run(statement, **values)]


async def _with_edges(run: RunStatement, tenant: str, condition: ItemCondition, most: int) -> list[str] | None:
    """Return the items with a tag or user that is required, of the first of these that fewer than ``most`` have.

    None without such a one. The index of names has live nodes alone, and what tags or has said a live item is live.
    """
    for edge_type, names in edge_names(condition):
        terms = [term_key(tenant, name, TermKind.NAME) for name in names]
        (row,) = await run(cypher.WITH_EDGE[edge_type], terms=terms, most=most)
        if row["uids"] is not None:
            return list(row["uids"])
    return None


def required_words(tenant: str, condition: ItemCondition) -> str:
    """Return a query for all items that have the values which a condition requires, and others; "" if it requires none.

    Of a range of metadata it asks for the key alone.
    """
    wanted: list[str] = []
    for one in required_in(condition):
        words: list[str] = []
        if isinstance(one, OneOf) and one.field in VALUE_FIELDS:
            words = [field_word(tenant, one.field, str(value)) for value in one.values]
        elif isinstance(one, OneOf | Between | Present) and one.field.startswith(METADATA):
            key = one.field.removeprefix(METADATA)
            terms = [value_term(key, value) for value in one.values] if isinstance(one, OneOf) else [presence_term(key)]
            words = [metadata_word(tenant, term) for term in terms]
        if words:
            wanted.append(f"+({' '.join(words)})")
    return " ".join(wanted)


async def read_context_parts(run: RunStatement, scope: Scope, *, retired: bool) -> list[ContextPart]:
    """Return the counts of the live items in a scope, or of the retired ones."""
    values = Bindings(tenant=scope.tenant, listed=listed(scope.tenant, live=not retired))
    scoped = scope_condition(listing_conditions(scope, retired=retired), values)
    records = await run(cypher.context_parts(f"i.tenant = $tenant AND ({scoped})"), **values)
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
        for row in gathered(records)
    ]


async def read_speaker_parts(run: RunStatement, scope: Scope) -> list[SpeakerPart]:
    """Return the counts of the live items in a scope by user and speaker."""
    values = Bindings(tenant=scope.tenant, listed=listed(scope.tenant, live=True))
    scoped = scope_condition(listing_conditions(scope, retired=False), values)
    records = await run(cypher.speaker_parts(f"i.tenant = $tenant AND ({scoped})"), **values)
    return [
        SpeakerPart(
            row["user"], row["speaker"], row["context"], row["items"], from_us(row["first"]), from_us(row["last"])
        )
        for row in gathered(records)
    ]


async def read_arrivals(run: RunStatement, scope: Scope, since: datetime) -> dict[date, int]:
    """Return how many of the live items in a scope were stored on each day since then."""
    values = Bindings(tenant=scope.tenant, listed=listed(scope.tenant, live=True), since=to_us(since), day=_DAY)
    scoped = scope_condition(listing_conditions(scope, retired=False), values)
    rows = await run(cypher.arrivals(f"i.tenant = $tenant AND ({scoped})"), **values)
    return {from_us(row["day"] * _DAY).date(): row["items"] for row in rows}
