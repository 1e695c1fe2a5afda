"""Pages of items in an order, on SQLite: a range of one index each, whatever its place."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import batched

from vicw_core.filters.order import contexts_of, listing_place, range_order, single_context
from vicw_shared.clock import MICROSECONDS, from_us, to_us
from vicw_shared.model import Label, Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import NameMatch, Scope
from vicw_shared.ports.item_filter import ItemCondition, edge_names
from vicw_shared.ports.item_list import (
    ContextPart,
    ListingPlace,
    ListingQuery,
    NamePage,
    PassingEstimate,
    SpeakerPage,
    SpeakerPart,
)
from vicw_stores.conditions import listing_conditions
from vicw_stores.sqlite.full_text import scope_clause
from vicw_stores.sqlite.item_filter import KEYS, Clause, clause_of, term_clauses
from vicw_stores.sqlite.item_totals import Wanted, context_totals, speaker_totals
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


def read_passing_estimate(connection: sqlite3.Connection, tenant: str, condition: ItemCondition) -> PassingEstimate:
    """Return about how many items pass, by some of the file's items that are the tenant's."""
    wanted, values = clause_of(condition)
    (items,) = connection.execute(
        "SELECT ifnull(sum(items), 0) FROM context_total WHERE tenant = ?", (tenant,)
    ).fetchone()
    (seen, passing) = connection.execute(
        # The next item behind each of these places. Their keys follow their arrival, so these are of all times.
        f"SELECT count(*), ifnull(sum({wanted}), 0) FROM json_each(?) p "  # noqa: S608
        "CROSS JOIN (SELECT max(node) AS last FROM counted_item) m CROSS JOIN node i ON i.pk = "
        "(SELECT min(c.node) FROM counted_item c WHERE c.node >= CAST(p.value * m.last AS INTEGER)) WHERE i.tenant = ?",
        (*values, _PLACES, tenant),
    ).fetchone()
    share = passing / seen if seen else 0.0
    return PassingEstimate(round(items * share), share)


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


def read_context_parts(
    connection: sqlite3.Connection, scope: Scope, *, retired: bool, page: NamePage | None = None
) -> list[ContextPart]:
    """Return the counts of the live items in a scope, or of the retired ones, of a page of contexts or of all."""
    wanted = Wanted()
    if page is not None:
        within = _behind_name("context", page.prefix, page.after)
        totals, values = context_totals(scope, retired=retired, wanted=within)
        wanted = _one_of("context", _names(connection, "context", (totals, values), page.limit))
    totals, values = context_totals(scope, retired=retired, wanted=wanted)
    rows = connection.execute(
        "SELECT context, domain, label, sum(items), min(first), max(last), sum(passages), sum(chars), sum(indexed) "  # noqa: S608
        f"FROM ({totals}) GROUP BY context, domain, label ORDER BY context, domain, label",
        values,
    )
    return [
        ContextPart(context, domain, Label(label), items, from_us(first), from_us(last), *proofs)
        for context, domain, label, items, first, last, *proofs in rows
    ]


def read_speaker_parts(
    connection: sqlite3.Connection, scope: Scope, page: SpeakerPage | None = None
) -> list[SpeakerPart]:
    """Return the counts of the live items in a scope by user and speaker, of a page of users or of all."""
    if page is None:
        return _speaker_parts(connection, scope, Wanted())
    parts: list[SpeakerPart] = []
    left = page.limit
    for nameless, column in ((False, "user"), (True, "speaker")):
        if left <= 0 or (page.after is not None and page.after[0] > nameless):
            continue
        after = page.after[1] if page.after is not None and page.after[0] == nameless else None
        only = " AND {0}.user IS NULL" * nameless
        within = _behind_name(column, page.prefix, after, only)
        names = _names(connection, column, speaker_totals(scope, within), left)
        parts += _speaker_parts(connection, scope, _one_of(column, names, only))
        left -= len(names)
    return parts


def _speaker_parts(connection: sqlite3.Connection, scope: Scope, wanted: Wanted) -> list[SpeakerPart]:
    totals, values = speaker_totals(scope, wanted)
    rows = connection.execute(
        "SELECT user, speaker, context, sum(items), min(first), max(last) "  # noqa: S608
        f"FROM ({totals}) GROUP BY user, speaker, context",
        values,
    )
    return [
        SpeakerPart(user, speaker, context, items, from_us(first), from_us(last))
        for user, speaker, context, items, first, last in rows
    ]


def _behind_name(column: str, prefix: str, after: str | None, only: str = "") -> Wanted:
    """Return the condition for totals whose name is ``after`` another, or there is none, and has a prefix."""
    least = max(prefix, after or "")
    begins = f"{{0}}.{column} >= ?{f' AND {{0}}.{column} > ?' * (after is not None)}"
    of_prefix = f" AND substr({{0}}.{column}, 1, ?) = ?" * bool(prefix)
    values = (least, *((after,) if after is not None else ()), *((len(prefix), prefix) if prefix else ()))
    return Wanted(f"{begins}{of_prefix}{only}", values)


def _one_of(column: str, names: Sequence[str], only: str = "") -> Wanted:
    """Return the condition for totals of these names."""
    return Wanted(f"{{0}}.{column} IN ({marks(len(names))}){only}", tuple(names))


def _names(connection: sqlite3.Connection, column: str, totals: Clause, limit: int) -> list[str]:
    """Return the first names of some totals."""
    sql = f"SELECT {column} FROM ({totals[0]}) GROUP BY {column} ORDER BY {column} LIMIT ?"  # noqa: S608
    return [name for (name,) in connection.execute(sql, (*totals[1], limit))]


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
