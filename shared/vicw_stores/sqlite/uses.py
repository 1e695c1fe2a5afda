"""Usage counts of items, in the graph's file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import batched

from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import Use
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.rows import marks, pack, unpack

_BATCH = 500
_ADD = (
    "INSERT INTO item_use (item, times, last_at) SELECT uid, ?, ? FROM node WHERE uid = ? AND tenant = ? "
    "ON CONFLICT (item) DO UPDATE SET times = times + excluded.times, last_at = max(last_at, excluded.last_at)"
)
_RECORD_QUESTION = "INSERT OR REPLACE INTO meta VALUES ('asked', julianday('now'))"
_SINCE_QUESTION = "SELECT (julianday('now') - CAST(value AS REAL)) * 86400 FROM meta WHERE key = 'asked'"
_OR_RAISE = (
    "ON CONFLICT (item) DO UPDATE SET times = max(times, excluded.times), last_at = max(last_at, excluded.last_at)"
)
_TRANSFER = f"INSERT INTO item_use (item, times, last_at) VALUES (?, ?, ?) {_OR_RAISE}"  # noqa: S608
_RAISE = (
    f"INSERT INTO item_use (item, times, last_at) SELECT uid, ?, ? FROM node WHERE uid = ? AND tenant = ? {_OR_RAISE}"  # noqa: S608
)


def transfer_uses(connection: sqlite3.Connection, sources: Sequence[str], targets: Sequence[str]) -> None:
    """Raise the uses of ``targets`` to the highest count and the latest use of ``sources``."""
    times = last = 0
    for part in batched(map(pack, sources), _BATCH):
        sql = f"SELECT max(times), max(last_at) FROM item_use WHERE item IN ({marks(len(part))})"  # noqa: S608
        row = connection.execute(sql, part).fetchone()
        times, last = max(times, row[0] or 0), max(last, row[1] or 0)
    if times:
        connection.executemany(_TRANSFER, [(pack(uid), times, last) for uid in targets])


def raise_uses(connection: sqlite3.Connection, tenant: str, uses: Mapping[str, Use]) -> None:
    """Raise the uses of items to at least these counts and times."""
    rows = [(use.times, to_us(use.last), pack(uid), tenant) for uid, use in uses.items()]
    connection.executemany(_RAISE, rows)


def read_uses(connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> dict[str, Use]:
    """Return the uses of these items of a tenant."""
    uses: dict[str, Use] = {}
    for part in batched(map(pack, uids), _BATCH):
        rows = connection.execute(
            "SELECT u.item, u.times, u.last_at FROM item_use u JOIN node n ON n.uid = u.item "  # noqa: S608
            f"WHERE u.item IN ({marks(len(part))}) AND n.tenant = ?",
            (*part, tenant),
        )
        uses |= {unpack(uid): Use(times, from_us(last)) for uid, times, last in rows}
    return uses


class SqliteUses:
    """Uses over the database of a graph."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write

    async def add_uses(self, tenant: str, times: Mapping[str, int], at: datetime) -> None:
        instant = to_us(at)
        rows = [(count, instant, pack(uid), tenant) for uid, count in times.items()]
        await self._write(lambda c: c.executemany(_ADD, rows))

    async def record_question(self) -> None:
        await self._write(lambda c: c.execute(_RECORD_QUESTION))

    async def seconds_since_question(self) -> float | None:
        rows = await self._database.read(lambda c: c.execute(_SINCE_QUESTION).fetchall())
        return float(rows[0][0]) if rows else None

    async def uses(self, tenant: str, uids: Sequence[str]) -> dict[str, Use]:
        return await self._database.read(lambda c: read_uses(c, tenant, uids))
