"""Pages of items in an order, on SQLite: a range of one index each, whatever its place."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import batched

from vicw_core.filters.order import contexts_of, listing_place, range_order, single_context
from vicw_shared.clock import MICROSECONDS, from_us, to_us
from vicw_shared.model import Label, Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import Scope
from vicw_shared.ports.item_filter import ItemCondition
from vicw_shared.ports.item_list import ContextPart, ListingPlace, ListingQuery, SpeakerPart
from vicw_stores.conditions import listing_conditions
from vicw_stores.sqlite.full_text import scope_clause
from vicw_stores.sqlite.item_filter import KEYS, Clause, clause_of, term_clauses
from vicw_stores.sqlite.rows import columns_of, marks, node_of, pack, unpack

_KEY = {
    ItemOrder.TOLD: KEYS["told"],
    ItemOrder.HAPPENED: KEYS["happened"],
    ItemOrder.ARRIVAL: KEYS["created_at"],
    ItemOrder.IMPORTANCE: KEYS["importance"],
}
_TIE = "ifnull(arrival, 0)"
_DAY = 24 * 60 * 60 * MICROSECONDS
_PROOF = (
    "(SELECT {} FROM edge e JOIN node k ON k.pk = e.target WHERE e.source = i.pk AND e.type = 'EVIDENCED_BY' "
    "AND k.label = 'Chunk')"
)

_USER = (
    "(SELECT min(t.name) FROM edge g JOIN node t ON t.pk = g.target WHERE g.source = i.pk AND g.type = 'STATED_BY' "
    "AND fold(t.subtype) = 'user')"
)


def list_items(connection: sqlite3.Connection, query: ListingQuery, limit: int) -> list[Node]:
    """Return the first ``limit`` items of a query."""
    items: list[Node] = []
    if query.scope.contexts == ():
        return items  # SQLite finds no way through an index to nothing
    for live in (1, 0) if query.retired else (1,):
        items += _items(connection, query, limit, live)
    items.sort(key=lambda item: listing_place(query.order, item), reverse=query.descending)
    return items[:limit]


def _items(connection: sqlite3.Connection, query: ListingQuery, limit: int, live: int) -> list[Node]:
    """Return the first items that are live, or that are not."""
    context = single_context(query)
    scoped, scope_values = scope_clause(listing_conditions(query.scope, retired=query.retired))
    wanted, wanted_values = clause_of(query.condition)
    index = f"node_listed_{query.order}" + ("_in" if context is not None else "")
    within = " AND i.context = ?" if context is not None else ""
    way = "DESC" if query.descending else "ASC"
    key = _KEY[query.order]
    found: list[Node] = []
    for behind, place, order in _behind(key, query.after, descending=query.descending):
        sql = (
            f"SELECT {columns_of('i')} FROM node i INDEXED BY {index} "  # noqa: S608
            "WHERE i.content_hash IS NOT NULL AND i.label <> 'Chunk' AND i.tenant = ? "
            f"AND (i.retired_at IS NULL) = ?{within} AND {behind} AND ({scoped}) AND ({wanted}) "
            f"ORDER BY {', '.join(f'{part} {way}' for part in order)} LIMIT ?"
        )
        values = (query.scope.tenant, live, *((context,) if context is not None else ()), *place)
        rows = connection.execute(sql, (*values, *scope_values, *wanted_values, limit - len(found)))
        found += map(node_of, rows)
        if len(found) == limit:
            break
    return found


def _behind(
    key: str, after: ListingPlace | None, *, descending: bool
) -> Iterator[tuple[str, tuple[object, ...], list[str]]]:
    """Yield conditions that hold for the items behind a place, in their order, each a range of the index.

    Each comes with its values, and with what its items are still to be ordered by: SQLite sorts them if that names what
    is the same for all.
    """
    order = [key, _TIE, "i.uid"]
    if after is None:
        yield "1", (), order
        return
    beyond = "<" if descending else ">"
    tie = f"{key} = ? AND {_TIE}"
    yield f"{tie} = ? AND i.uid {beyond} ?", (after.key, after.arrival, pack(after.uid)), order[2:]
    yield f"{tie} {beyond} ?", (after.key, after.arrival), order[1:]
    yield f"{key} {beyond} ?", (after.key,), order


_BATCH = 500
_ITEM = "i.content_hash IS NOT NULL AND i.label <> 'Chunk' AND i.tenant = ?"


def read_passing_items(
    connection: sqlite3.Connection,
    tenant: str,
    condition: ItemCondition,
    limit: int,
    among: Sequence[str] | None,
    *,
    live: bool = False,
) -> list[str]:
    """Return the uids of at most ``limit`` items for which a condition holds, of ``live`` ones alone or all.

    Few of many are found by the rarest of the terms of metadata that it requires; without such a term, by going through
    the items of the contexts that it names, or of the tenant, of a range that it requires.
    """
    wanted, values = clause_of(condition)
    item = _ITEM + " AND +i.retired_at IS NULL" * live
    if among is not None:
        found: list[str] = []
        for batch in batched(dict.fromkeys(among), _BATCH):
            sql = f"SELECT i.uid FROM node i WHERE i.uid IN ({marks(len(batch))}) AND {item} AND ({wanted})"  # noqa: S608
            found += _uids(connection, sql, (*map(pack, batch), tenant, *values))
        return found[:limit]
    counted = [(_count(connection, term, 4 * limit), term) for term in term_clauses(condition)]
    least = min(counted, key=lambda one: one[0], default=None)
    if least is not None and least[0] < 4 * limit:
        held, terms = least[1]
        items = f"(SELECT DISTINCT m.node FROM metadata_term m INDEXED BY metadata_term_node WHERE {held}) h"  # noqa: S608
        sql = f"SELECT i.uid FROM {items} CROSS JOIN node i ON i.pk = h.node WHERE {item} AND ({wanted}) LIMIT ?"  # noqa: S608
        return _uids(connection, sql, (*terms, tenant, *values, limit))
    contexts = min(contexts_of(condition), key=len, default=None)
    index = f"node_listed_{range_order(condition)}" + ("_in" if contexts is not None else "")
    within = f" AND i.context IN ({marks(len(contexts))})" if contexts is not None else ""
    sql = (
        f"SELECT i.uid FROM node i INDEXED BY {index} WHERE {_ITEM} "  # noqa: S608
        f"AND (i.retired_at IS NULL) IN ({'1' if live else '0, 1'}){within} AND ({wanted}) LIMIT ?"
    )
    return _uids(connection, sql, (tenant, *(contexts or ()), *values, limit))


def _count(connection: sqlite3.Connection, term: Clause, most: int) -> int:
    """Return how many rows a condition on terms holds for, as far as ``most``."""
    sql = f"SELECT count(*) FROM (SELECT 1 FROM metadata_term m WHERE {term[0]} LIMIT ?)"  # noqa: S608
    (count,) = connection.execute(sql, (*term[1], most)).fetchone()
    return int(count)


def _uids(connection: sqlite3.Connection, sql: str, values: Sequence[object]) -> list[str]:
    return [unpack(uid) for (uid,) in connection.execute(sql, values)]


def read_context_parts(connection: sqlite3.Connection, scope: Scope, *, retired: bool) -> list[ContextPart]:
    """Return the counts of the live items in a scope, or of the retired ones."""
    scoped, values = scope_clause(listing_conditions(scope, retired=retired))
    rows = connection.execute(
        f"SELECT i.context, i.domain, i.label, count(*), min({KEYS['told']}), max({KEYS['told']}), "  # noqa: S608
        f"sum({_PROOF.format('count(*)')}), sum({_PROOF.format('ifnull(sum(length(k.text)), 0)')}), "
        f"sum({_PROOF.format('ifnull(sum(k.indexed), 0)')}) FROM node i "
        "WHERE i.content_hash IS NOT NULL AND i.label <> 'Chunk' AND i.tenant = ? AND (i.retired_at IS NULL) = ? "
        f"AND ({scoped}) GROUP BY i.context, i.domain, i.label ORDER BY i.context, i.domain, i.label",
        (scope.tenant, not retired, *values),
    )
    return [
        ContextPart(context, domain, Label(label), items, from_us(first), from_us(last), *proof)
        for context, domain, label, items, first, last, *proof in rows
    ]


def read_speaker_parts(connection: sqlite3.Connection, scope: Scope) -> list[SpeakerPart]:
    """Return the counts of the live items in a scope by user and speaker."""
    scoped, values = scope_clause(listing_conditions(scope, retired=False))
    rows = connection.execute(
        f"SELECT {_USER} AS stated_by, i.speaker, i.context, count(*), min({KEYS['told']}), max({KEYS['told']}) "  # noqa: S608
        "FROM node i WHERE i.content_hash IS NOT NULL AND i.label <> 'Chunk' AND i.tenant = ? "
        f"AND (i.retired_at IS NULL) = 1 AND ({scoped}) AND (stated_by IS NOT NULL OR i.speaker IS NOT NULL) "
        "GROUP BY stated_by, i.speaker, i.context",
        (scope.tenant, *values),
    )
    return [
        SpeakerPart(user, speaker, context, items, from_us(first), from_us(last))
        for user, speaker, context, items, first, last in rows
    ]


def read_arrivals(connection: sqlite3.Connection, scope: Scope, since: datetime) -> dict[date, int]:
    """Return how many of the live items in a scope were stored on each day since then."""
    scoped, values = scope_clause(listing_conditions(scope, retired=False))
    rows = connection.execute(
        f"SELECT i.created_at / {_DAY} AS day, count(*) FROM node i "  # noqa: S608
        "WHERE i.content_hash IS NOT NULL AND i.label <> 'Chunk' AND i.tenant = ? AND (i.retired_at IS NULL) = 1 "
        f"AND i.created_at >= ? AND ({scoped}) GROUP BY day ORDER BY day",
        (scope.tenant, to_us(since), *values),
    )
    return {from_us(day * _DAY).date(): items for day, items in rows}
