"""Proof and repair of the counts of items that ``item_totals`` keeps."""

from __future__ import annotations

import sqlite3

from vicw_shared.ports import TermScope
from vicw_stores.sqlite.item_totals import COUNTED, COUNTS


def _differing(total: str, sums: str, of: str) -> str:
    """Return the query for the groups whose total is not the sum of what its items count for."""
    names = ", ".join(f"s.{name}" for name in sums.split())
    kept = ", ".join(f"t.{name}" for name in sums.split())
    return (
        f"SELECT t.tenant, t.context FROM {total} t LEFT JOIN (SELECT {total} AS id, {of} FROM counted_item "  # noqa: S608
        f"WHERE {total} IS NOT NULL GROUP BY 1) s ON s.id = t.id WHERE ({kept}) IS NOT ({names})"
    )


_OF_GROUP = "tenant live context domain label sensitivity portable".split()
_OF_ITEM = "told expires_at passages chars indexed".split()
_ANEW = ", ".join(
    [
        *(f"n.{name}" for name in (*_OF_GROUP, *_OF_ITEM)),
        *(f"iif(n.live, n.{name}, NULL)" for name in ("user", "speaker")),
    ]
)
_KEPT = ", ".join(
    [*(f"t.{name}" for name in _OF_GROUP), *(f"c.{name}" for name in _OF_ITEM), "s.user", "s.speaker"],
)
_WRONG = " UNION ".join(
    (
        _differing(
            "context_total",
            "items passages chars indexed",
            "count(*) AS items, sum(passages) AS passages, sum(chars) AS chars, sum(indexed) AS indexed",
        ),
        _differing("speaker_total", "items", "count(*) AS items"),
        f"SELECT n.tenant, n.context FROM (SELECT {COUNTS} FROM node i WHERE {COUNTED}) n "  # noqa: S608
        "LEFT JOIN counted_item c ON c.node = n.node LEFT JOIN context_total t ON t.id = c.context_total "
        f"LEFT JOIN speaker_total s ON s.id = c.speaker_total WHERE ({_ANEW}) IS NOT ({_KEPT})",
        "SELECT t.tenant, t.context FROM context_total t CROSS JOIN counted_item c ON c.context_total = t.id "  # noqa: S608
        f"WHERE NOT EXISTS (SELECT 1 FROM node i WHERE i.pk = c.node AND {COUNTED})",
    )
)


def read_wrong_totals(connection: sqlite3.Connection) -> list[TermScope]:
    """Return the contexts whose counts of items are not those of their items. It reads all items."""
    return [TermScope(tenant, context) for tenant, context in connection.execute(_WRONG)]


def recount_items(connection: sqlite3.Connection, scope: TermScope) -> None:
    """Have the items of a context counted anew when the transaction ends."""
    of_scope = "WHERE tenant = :tenant AND context = :context"
    counted = f"IN (SELECT id FROM context_total {of_scope})"  # noqa: S608
    items = f"SELECT i.pk FROM node i {of_scope} AND {COUNTED}"  # noqa: S608
    for statement in (
        f"DELETE FROM counted_item WHERE context_total {counted}",  # noqa: S608
        f"DELETE FROM context_total {of_scope}",  # noqa: S608
        f"DELETE FROM speaker_total {of_scope}",  # noqa: S608
        f"INSERT INTO uncounted_item {items}",
    ):
        connection.execute(statement, scope._asdict())
