"""Counts of items that are kept as items change, so that reading them takes no longer with more items.

The schema's triggers note each item that changes (``uncounted_item``), and the end of a transaction counts these anew:
what an item counts for (``counted_item``) is taken off the totals of its group and added to those of its new one. Items
that differ in who may see them are in different groups. A passage that is indexed is added by a trigger: its item may
have thousands of others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from vicw_shared.clock import from_us, to_ms
from vicw_shared.model import Label
from vicw_shared.ports import ContextPart, NameMatch, NamePage, Scope, SpeakerPage, SpeakerPart
from vicw_shared.uids import is_uid
from vicw_stores.conditions import listing_conditions, total_conditions
from vicw_stores.sqlite.full_text import scope_clause
from vicw_stores.sqlite.item_filter import Clause
from vicw_stores.sqlite.names import KINDS
from vicw_stores.sqlite.rows import marks, pack

PART = 10_000
"""Notes of changed items that are worked off together."""
_USER_OF = (
    "(SELECT min(t.name) FROM edge g CROSS JOIN node t ON t.pk = g.target WHERE g.source = i.pk "
    "AND g.type = 'STATED_BY' AND (t.subtype = 'user' OR fold(t.subtype) = 'user'))"
)
_PROOFS = (
    "edge e CROSS JOIN node k ON k.pk = e.target AND k.label = 'Chunk' "
    "WHERE e.source = i.pk AND e.type = 'EVIDENCED_BY'"
)
_CHANGED = "temp.changed_item u CROSS JOIN counted_item c ON c.node = u.node"
_TOTALS = {"context_total": ("items", "passages", "chars", "indexed"), "speaker_total": ("items",)}


def _move(total: str, sign: str) -> str:
    """Return the statement that adds what changed items count for to their totals, or takes it off."""
    sums = _TOTALS[total]
    changes = ", ".join(f"{name} = {total}.{name} {sign} s.{name}" for name in sums)
    summed = ", ".join("count(*) AS items" if name == "items" else f"sum(c.{name}) AS {name}" for name in sums)
    moved = f"SELECT c.{total} AS id, {summed} FROM {_CHANGED} GROUP BY 1"  # noqa: S608
    return f"UPDATE {total} SET {changes} FROM ({moved}) s WHERE s.id = {total}.id"  # noqa: S608


def _touch(total: str) -> str:
    """Return the statement that notes the totals of changed items."""
    chosen = f"SELECT '{total}', c.{total} FROM {_CHANGED} WHERE c.{total} IS NOT NULL"  # noqa: S608
    return f"INSERT OR IGNORE INTO temp.touched_total {chosen}"


def _settle(total: str) -> tuple[str, str]:
    """Return the statements that end the change of some totals.

    A group that is empty is removed: it has names that an erasure must leave nowhere.
    """
    touched = f"id IN (SELECT t.id FROM temp.touched_total t WHERE t.total = '{total}')"  # noqa: S608
    first, last = (
        f"(SELECT {least}(told) FROM counted_item c WHERE c.{total} = {total}.id)"  # noqa: S608
        for least in ("min", "max")
    )
    return (
        f"DELETE FROM {total} WHERE items = 0 AND {touched}",  # noqa: S608
        f"UPDATE {total} SET first = {first}, last = {last} WHERE {touched}",  # noqa: S608
    )


COUNTED = (
    "i.content_hash IS NOT NULL AND i.label <> 'Chunk' "
    # What had expired when it was retired is in no number again, and would be read for each that is asked for.
    "AND (i.retired_at IS NULL OR ifnull(i.expires_at > i.retired_at, 1))"
)
"""Which nodes are counted."""
COUNTS = (
    "i.pk AS node, i.tenant AS tenant, i.retired_at IS NULL AS live, i.context AS context, i.domain AS domain, "  # noqa: S608
    f"i.label AS label, i.sensitivity AS sensitivity, i.portable AS portable, {_USER_OF} AS user, "
    "i.speaker AS speaker, ifnull(i.timestamp, i.created_at) AS told, i.expires_at AS expires_at, "
    f"(SELECT count(*) FROM {_PROOFS}) AS passages, (SELECT ifnull(sum(length(k.text)), 0) FROM {_PROOFS}) AS chars, "
    f"(SELECT ifnull(sum(k.indexed), 0) FROM {_PROOFS}) AS indexed"
)
"""What a node counts for."""
_READ = (
    f"INSERT INTO temp.new_count SELECT {COUNTS} FROM temp.changed_item u CROSS JOIN node i ON i.pk = u.node "  # noqa: S608
    f"WHERE {COUNTED}"
)
_GROUP = "tenant, live, context, domain, label, sensitivity, portable"
_SAID = "n.live AND (n.user IS NOT NULL OR n.speaker IS NOT NULL)"
_SAME_SPEAKER = (
    "t.tenant = n.tenant AND t.user IS n.user AND t.speaker IS n.speaker AND t.context = n.context "
    "AND t.sensitivity = n.sensitivity AND t.portable = n.portable"
)
_COUNT = (
    f"INSERT OR IGNORE INTO context_total ({_GROUP}) SELECT {_GROUP} FROM temp.new_count",  # noqa: S608
    "INSERT INTO speaker_total (tenant, user, speaker, context, sensitivity, portable) "  # noqa: S608
    "SELECT DISTINCT tenant, user, speaker, context, sensitivity, portable FROM temp.new_count n "
    f"WHERE {_SAID} AND NOT EXISTS (SELECT 1 FROM speaker_total t WHERE {_SAME_SPEAKER})",
    "INSERT INTO counted_item SELECT n.node, n.live, c.id, "  # noqa: S608
    f"iif({_SAID}, (SELECT t.id FROM speaker_total t WHERE {_SAME_SPEAKER}), NULL), "
    "n.told, n.expires_at, n.passages, n.chars, n.indexed FROM temp.new_count n CROSS JOIN context_total c "
    "ON c.tenant = n.tenant AND c.live = n.live AND c.context = n.context AND c.domain = n.domain "
    "AND c.label = n.label AND c.sensitivity = n.sensitivity AND c.portable = n.portable",
)

_STATEMENTS = (
    "CREATE TEMP TABLE IF NOT EXISTS touched_total (total TEXT, id INTEGER, PRIMARY KEY (total, id)) WITHOUT ROWID",
    "CREATE TEMP TABLE IF NOT EXISTS new_count (node INTEGER PRIMARY KEY, tenant, live, context, domain, label, "
    "sensitivity, portable, user, speaker, told, expires_at, passages, chars, indexed)",
    *(_move(total, "-") for total in _TOTALS),
    *map(_touch, _TOTALS),
    "DELETE FROM counted_item WHERE node IN (SELECT node FROM temp.changed_item)",
    _READ,
    *_COUNT,
    *(_move(total, "+") for total in _TOTALS),
    *map(_touch, _TOTALS),
    *(statement for total in _TOTALS for statement in _settle(total)),
    "DELETE FROM temp.touched_total",
    "DELETE FROM temp.new_count",
    "DELETE FROM temp.changed_item",
)


def count_changed(connection: sqlite3.Connection) -> None:
    """Count the items anew that a transaction changed, at its end."""
    while count_part(connection):
        pass


def count_part(connection: sqlite3.Connection) -> bool:
    """Count a part of the items anew that changed, so that few are in memory; return whether there were any."""
    (first,) = connection.execute("SELECT min(rowid) FROM uncounted_item").fetchone()
    if first is None:
        return False
    behind = (first + PART,)
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS changed_item (node INTEGER PRIMARY KEY)")
    connection.execute(
        "INSERT OR IGNORE INTO temp.changed_item SELECT node FROM uncounted_item WHERE rowid < ?", behind
    )
    for statement in _STATEMENTS:
        connection.execute(statement)
    connection.execute("DELETE FROM uncounted_item WHERE rowid < ?", behind)
    return True


def stored_at_least(connection: sqlite3.Connection, tenant: str, *, live: bool) -> int:
    """Return the number of a tenant's live items, or of its retired ones; fewer if they are in very many groups."""
    groups = "SELECT items FROM context_total WHERE tenant = ? AND live = ? LIMIT 1000"
    (items,) = connection.execute(f"SELECT ifnull(sum(items), 0) FROM ({groups})", (tenant, live)).fetchone()  # noqa: S608
    return int(items)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A condition on a total; the SQL names it ``{0}``."""

    sql: str = "1"
    values: tuple[object, ...] = ()


def _context_totals(scope: Scope, *, retired: bool, wanted: _Wanted) -> list[Clause]:
    """Return queries for rows of context, domain, label, items, first, last, passages, chars and indexed.

    A group may have several rows.
    """
    return _totals(scope, "context_total", ("context", "domain", "label"), wanted, retired=retired)


def _speaker_totals(scope: Scope, wanted: _Wanted) -> list[Clause]:
    """Return queries for rows of user, speaker, context, items, first and last, several of a group."""
    return _totals(scope, "speaker_total", ("user", "speaker", "context"), wanted, retired=False)


def _totals(scope: Scope, total: str, by: Sequence[str], wanted: _Wanted, *, retired: bool) -> list[Clause]:
    """Return the totals of what the viewer sees whole, and beside them the items that it sees of the rest.

    What has expired, and is not retired yet, is taken off a total.
    """
    sums, live = _TOTALS[total][1:], int(not retired)
    of = f"{{0}}.tenant = ?{f' AND {{0}}.live = {live}' * (total == 'context_total')} AND ({wanted.sql})"
    of_values = (scope.tenant, *wanted.values)
    expiry = (to_ms(scope.judged_at) + 1) * 1000  # compared by whole milliseconds, as `scope_clause` does
    gone = (
        f"SELECT c.{total} AS id, count(*) AS items{''.join(f', sum(c.{name}) AS {name}' for name in sums)} "  # noqa: S608
        f"FROM counted_item c WHERE c.live = {live} AND c.expires_at < ? AND c.{total} IS NOT NULL GROUP BY 1"
    )
    ends = "".join(
        f", iif(g.id IS NULL, i.{name}, (SELECT {least}(told) FROM counted_item c WHERE c.{total} = i.id "  # noqa: S608
        f"AND ifnull(c.expires_at >= ?, 1))) AS {name}"
        for name, least in (("first", "min"), ("last", "max"))
    )
    whole, whole_values = scope_clause(total_conditions(scope))
    sql = (
        f"WITH gone AS MATERIALIZED ({gone}) SELECT {', '.join(f'i.{name} AS {name}' for name in by)}, "  # noqa: S608
        f"i.items - ifnull(g.items, 0) AS items{ends}"
        f"{''.join(f', i.{name} - ifnull(g.{name}, 0) AS {name}' for name in sums)} "
        f"FROM {total} i LEFT JOIN gone g ON g.id = i.id WHERE {of.format('i')} AND ({whole}) "
        "AND i.items > ifnull(g.items, 0)"
    )
    values = (expiry, expiry, expiry, *of_values, *whole_values)
    if scope.audience is None or not scope.audience.identities:
        return [(sql, values)]
    seen, seen_values = scope_clause(listing_conditions(scope, retired=retired))
    if live:
        about, about_values = _about(scope.tenant, scope.audience.identities)
        chosen = f"({about}) a CROSS JOIN counted_item c ON c.node = a.node CROSS JOIN {total} t ON t.id = c.{total}"
    else:
        chosen, about_values = f"{total} t CROSS JOIN counted_item c ON c.{total} = t.id", ()
    own = (
        f"SELECT {', '.join(f't.{name}' for name in by)}, 1, c.told, c.told{''.join(f', c.{name}' for name in sums)} "  # noqa: S608
        f"FROM {chosen} CROSS JOIN node i ON i.pk = c.node "
        f"WHERE {of.format('t')} AND t.sensitivity <> 'public' AND ({seen})"
    )
    return [(sql, values), (own, (*about_values, *of_values, *seen_values))]


def _united(parts: Sequence[Clause]) -> Clause:
    return " UNION ALL ".join(sql for sql, _ in parts), tuple(value for _, values in parts for value in values)


def _about(tenant: str, identities: Sequence[str]) -> Clause:
    """Return all live items that are about somebody, and perhaps others, as ``node``.

    They are found by the index of names, which has live nodes alone: what a live item is about is live.
    """
    kinds, uids = KINDS[NameMatch.NAME], tuple(pack(one) for one in identities if is_uid(one))
    named = (
        f"SELECT w.node FROM term w WHERE w.tenant = ? AND w.kind IN ({marks(len(kinds))}) "  # noqa: S608
        f"AND w.text IN ({marks(len(identities))}) UNION SELECT n.pk FROM node n WHERE n.uid IN ({marks(len(uids))})"
    )
    about = (
        f"SELECT DISTINCT g.source AS node FROM ({named}) n "  # noqa: S608
        "CROSS JOIN edge g ON g.target = n.node AND g.type = 'ABOUT'"
    )
    return about, (tenant, *kinds, *identities, *uids)


def read_context_parts(
    connection: sqlite3.Connection, scope: Scope, *, retired: bool, page: NamePage | None = None
) -> list[ContextPart]:
    """Return the counts of the live items in a scope, or of the retired ones, of a page of contexts or of all."""
    wanted = _Wanted()
    if page is not None:
        within = _behind_name("context", page.prefix, page.after)
        totals_within = _context_totals(scope, retired=retired, wanted=within)
        wanted = _one_of("context", _names(connection, "context", totals_within, page.limit))
    totals, values = _united(_context_totals(scope, retired=retired, wanted=wanted))
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
        return _speaker_parts(connection, scope, _Wanted())
    parts: list[SpeakerPart] = []
    left = page.limit
    for nameless, column in ((False, "user"), (True, "speaker")):
        if left <= 0 or (page.after is not None and page.after[0] > nameless):
            continue
        after = page.after[1] if page.after is not None and page.after[0] == nameless else None
        only = " AND {0}.user IS NULL" * nameless
        within = _behind_name(column, page.prefix, after, only)
        names = _names(connection, column, _speaker_totals(scope, within), left)
        parts += _speaker_parts(connection, scope, _one_of(column, names, only))
        left -= len(names)
    return parts


def _speaker_parts(connection: sqlite3.Connection, scope: Scope, wanted: _Wanted) -> list[SpeakerPart]:
    totals, values = _united(_speaker_totals(scope, wanted))
    rows = connection.execute(
        "SELECT user, speaker, context, sum(items), min(first), max(last) "  # noqa: S608
        f"FROM ({totals}) GROUP BY user, speaker, context",
        values,
    )
    return [
        SpeakerPart(user, speaker, context, items, from_us(first), from_us(last))
        for user, speaker, context, items, first, last in rows
    ]


def _behind_name(column: str, prefix: str, after: str | None, only: str = "") -> _Wanted:
    """Return the condition for totals whose name is ``after`` another, or there is none, and has a prefix."""
    least = max(prefix, after or "")
    begins = f"{{0}}.{column} >= ?{f' AND {{0}}.{column} > ?' * (after is not None)}"
    of_prefix = f" AND substr({{0}}.{column}, 1, ?) = ?" * bool(prefix)
    values = (least, *((after,) if after is not None else ()), *((len(prefix), prefix) if prefix else ()))
    return _Wanted(f"{begins}{of_prefix}{only}", values)


def _one_of(column: str, names: Sequence[str], only: str = "") -> _Wanted:
    """Return the condition for totals of these names."""
    return _Wanted(f"{{0}}.{column} IN ({marks(len(names))}){only}", tuple(names))


def _names(connection: sqlite3.Connection, column: str, totals: Sequence[Clause], limit: int) -> list[str]:
    """Return the first names of some totals; each query ends after as many, so that an index gives it their order."""
    names: set[str] = set()
    for sql, values in totals:
        first = f"SELECT {column} FROM ({sql}) GROUP BY {column} ORDER BY {column} LIMIT ?"  # noqa: S608
        names.update(name for (name,) in connection.execute(first, (*values, limit)))
    return sorted(names)[:limit]
