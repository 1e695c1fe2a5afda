"""Pages of items in an order, on SQLite: a range of one index each, whatever its place."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import batched
from math import isqrt, sqrt

from vicw_core.filters.order import contexts_of, listing_place, range_order, single_context
from vicw_shared.clock import MICROSECONDS, from_us, to_us
from vicw_shared.model import Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import NameMatch, Scope
from vicw_shared.ports.item_filter import ItemCondition, edge_names
from vicw_shared.ports.item_list import (
    ListingPlace,
    ListingQuery,
    PassingEstimate,
)
from vicw_stores.conditions import listing_conditions
from vicw_stores.sqlite.full_text import scope_clause
from vicw_stores.sqlite.item_filter import KEYS, Clause, clause_of, term_clauses
from vicw_stores.sqlite.item_totals import stored_at_least
from vicw_stores.sqlite.names import KINDS
from vicw_stores.sqlite.rows import columns_of, marks, node_of, pack, unpack

_KEY = {
    ItemOrder.TOLD: KEYS["told"],
    ItemOrder.HAPPENED: KEYS["happened"],
    ItemOrder.ARRIVAL: KEYS["created_at"],
    ItemOrder.IMPORTANCE: KEYS["importance"],
}
_TIE = "ifnull(arrival, 0)"
_DAY = 24 * 60 * 60 * MICROSECONDS


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
    if (few := _few(connection, query, limit, live)) is not None:
        return _items_among(connection, query, limit, live, few)
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


def _few(connection: sqlite3.Connection, query: ListingQuery, limit: int, live: int) -> Clause | None:
    """Return a query for the few items (``node``) that something rare which the condition requires leaves; else None.

    To look up so many at random must take less time than to go through an order until enough pass.
    """
    ways = list(_ways(query.scope.tenant, query.condition, live=bool(live)))
    if not ways:
        return None
    most = isqrt(limit * stored_at_least(connection, query.scope.tenant, live=bool(live)) // _LOOK_UP)
    counted = [(_count(connection, way, most + 1), way) for way in ways]
    least = min(counted, key=lambda one: one[0])
    return least[1] if least[0] <= most else None


def _items_among(connection: sqlite3.Connection, query: ListingQuery, limit: int, live: int, few: Clause) -> list[Node]:
    """Return the first items among a few, which are all looked up and sorted."""
    chosen, of_chosen = few
    scoped, scope_values = scope_clause(listing_conditions(query.scope, retired=query.retired))
    wanted, wanted_values = clause_of(query.condition)
    place = f"{_KEY[query.order]}, {_TIE}, i.uid"
    behind, after = "1", tuple[object, ...]()
    if query.after is not None:
        behind = f"({place}) {'<' if query.descending else '>'} (?, ?, ?)"
        after = (query.after.key, query.after.arrival, pack(query.after.uid))
    order = ", ".join(f"{part} {'DESC' if query.descending else 'ASC'}" for part in (_KEY[query.order], _TIE, "i.uid"))
    rows = connection.execute(
        f"SELECT {columns_of('i')} FROM (SELECT DISTINCT node FROM ({chosen})) h "  # noqa: S608
        f"CROSS JOIN node i ON i.pk = h.node WHERE {_ITEM} AND (i.retired_at IS NULL) = ? AND {behind} "
        f"AND ({scoped}) AND ({wanted}) ORDER BY {order} LIMIT ?",
        (*of_chosen, query.scope.tenant, live, *after, *scope_values, *wanted_values, limit),
    )
    return list(map(node_of, rows))


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


_LOOK_UP = 3
"""How many times as long an item takes that is looked up, than one that is passed by in an order."""
_BATCH = 500
_PLACES = json.dumps([number * 0.6180339887498949 % 1 for number in range(1, 65)])
"""Places in a file, spread evenly, in no step that numbers of items may have, too."""
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

    Few of many are found by the rarest of the terms of metadata, the tags and the users that it requires; without such
    a one, by going through the items of the contexts that it names, or of the tenant, of a range that it requires.
    """
    wanted, values = clause_of(condition)
    item = _ITEM + " AND +i.retired_at IS NULL" * live
    if among is not None:
        found: list[str] = []
        for batch in batched(dict.fromkeys(among), _BATCH):
            sql = f"SELECT i.uid FROM node i WHERE i.uid IN ({marks(len(batch))}) AND {item} AND ({wanted})"  # noqa: S608
            found += _uids(connection, sql, (*map(pack, batch), tenant, *values))
        return found[:limit]
    counted = [(_count(connection, way, 4 * limit), way) for way in _ways(tenant, condition, live=live)]
    least = min(counted, key=lambda one: one[0], default=None)
    if least is not None and least[0] < 4 * limit:
        way, of_way = least[1]
        items = f"(SELECT DISTINCT node FROM ({way})) h"  # noqa: S608
        sql = f"SELECT i.uid FROM {items} CROSS JOIN node i ON i.pk = h.node WHERE {item} AND ({wanted}) LIMIT ?"  # noqa: S608
        return _uids(connection, sql, (*of_way, tenant, *values, limit))
    contexts = min(contexts_of(condition), key=len, default=None)
    index = f"node_listed_{range_order(condition)}" + ("_in" if contexts is not None else "")
    within = f" AND i.context IN ({marks(len(contexts))})" if contexts is not None else ""
    sql = (
        f"SELECT i.uid FROM node i INDEXED BY {index} WHERE {_ITEM} "  # noqa: S608
        f"AND (i.retired_at IS NULL) IN ({'1' if live else '0, 1'}){within} AND ({wanted}) LIMIT ?"
    )
    return _uids(connection, sql, (tenant, *(contexts or ()), *values, limit))


def read_passing_estimate(
    connection: sqlite3.Connection, tenant: str, condition: ItemCondition, *, live: bool = False
) -> PassingEstimate:
    """Return how many items pass at least, by some of the file's items that are the tenant's."""
    wanted, values = clause_of(condition)
    items = sum(stored_at_least(connection, tenant, live=one) for one in {True, live})
    (seen, passing) = connection.execute(
        # The next item behind each of these places. Their keys follow their arrival, so these are of all times.
        f"SELECT count(*), ifnull(sum({wanted}), 0) FROM json_each(?) p "  # noqa: S608
        "CROSS JOIN (SELECT max(node) AS last FROM counted_item) m CROSS JOIN node i ON i.pk = "
        "(SELECT min(c.node) FROM counted_item c WHERE c.node >= CAST(p.value * m.last AS INTEGER)) WHERE i.tenant = ? "
        "AND (i.retired_at IS NULL OR NOT ?)",
        (*values, _PLACES, tenant, live),
    ).fetchone()
    if not seen:
        return PassingEstimate(0, 0.0)
    sure = max(0.0, passing - 2 * sqrt(passing))  # a few may be a lucky sample of a store where hardly any pass
    return PassingEstimate(int(items * sure / seen), passing / seen)


def _ways(tenant: str, condition: ItemCondition, *, live: bool) -> Iterator[Clause]:
    """Yield queries for keys (``node``) that all items which pass are among, each by something that is required.

    The index of names has live nodes alone, and what tags a live item, or has said it, is live.
    """
    for held, terms in term_clauses(condition):
        yield f"SELECT m.node FROM metadata_term m INDEXED BY metadata_term_node WHERE {held}", terms  # noqa: S608
    for edge_type, names in edge_names(condition) if live else ():
        kinds = KINDS[NameMatch.NAME]
        yield (
            "SELECT g.source AS node FROM term w CROSS JOIN edge g ON g.target = w.node AND g.type = ? "  # noqa: S608
            f"WHERE w.tenant = ? AND w.kind IN ({marks(len(kinds))}) AND w.text IN ({marks(len(names))})",
            (edge_type, tenant, *kinds, *names),
        )


def _count(connection: sqlite3.Connection, way: Clause, most: int) -> int:
    """Return how many rows a query has, as far as ``most``."""
    (count,) = connection.execute(f"SELECT count(*) FROM ({way[0]} LIMIT ?)", (*way[1], most)).fetchone()  # noqa: S608
    return int(count)


def _uids(connection: sqlite3.Connection, sql: str, values: Sequence[object]) -> list[str]:
    return [unpack(uid) for (uid,) in connection.execute(sql, values)]


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
