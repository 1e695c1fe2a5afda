"""Store metadata and receipts, in the graph's file."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import asdict
from datetime import datetime

from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import ModelChange, ModelIdentity, Models, Receipt
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.stored_words import read_converted
from vicw_stores.sqlite.transaction import read_receipt


@measured("sqlite")
class SqliteRecord:
    """StoreRecord over the database of a graph."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write
        self._change_lock: tuple[str, float] | None = None

    async def receipt(self, tenant: str, key: str) -> Receipt | None:
        return await self._database.read(lambda c: read_receipt(c, tenant, key))

    async def recent_receipts(self, tenant: str, prefix: str, since: datetime, *, limit: int) -> list[Receipt]:
        sql = (
            "SELECT key, fingerprint, created_at, body FROM receipt INDEXED BY receipt_age "
            "WHERE tenant = ? AND created_at >= ? AND substr(key, 1, ?) = ? LIMIT ?"
        )
        values = (tenant, to_us(since), len(prefix), prefix, limit)
        rows = await self._database.read(lambda c: c.execute(sql, values).fetchall())
        return [Receipt(key, fingerprint, from_us(at), json.loads(body)) for key, fingerprint, at, body in rows]

    async def forget_receipts(self, before: datetime, *, limit: int) -> int:
        sql = "DELETE FROM receipt WHERE rowid IN (SELECT rowid FROM receipt WHERE created_at < ? LIMIT ?)"
        return await self._write(lambda c: c.execute(sql, (to_us(before), limit)).rowcount)

    async def store_id(self) -> str:
        sql = "SELECT value FROM meta WHERE key = 'store'"
        return await self._database.read(lambda c: str(c.execute(sql).fetchone()[0]))

    async def models(self) -> Models:
        def work(connection: sqlite3.Connection) -> Models:
            sql = "SELECT key, value FROM meta WHERE key IN ('model', 'change', 'rebuilding')"
            meta = dict(connection.execute(sql).fetchall())
            used, change, since = meta.get("model"), meta.get("change"), meta.get("rebuilding")
            return Models(
                used and ModelIdentity(**json.loads(used)),
                ModelChange.load(change),
                from_us(int(since)) if since is not None else None,
                read_converted(connection) is not None,
            )

        return await self._database.read(work)

    async def set_model(
        self, identity: ModelIdentity, change: ModelChange | None = None, *, holder: str | None = None
    ) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            if holder is not None and (self._change_lock is None or self._change_lock[0] != holder):
                return False
            model = json.dumps(asdict(identity))
            connection.execute(
                "DELETE FROM meta WHERE key = 'rebuilding' AND ? <> (SELECT value FROM meta WHERE key = 'model')",
                (model,),
            )
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?)", (model,))
            connection.execute("DELETE FROM meta WHERE key = 'change'")
            if change is not None:
                connection.execute("INSERT INTO meta VALUES ('change', ?)", (change.dump(),))
            return True

        return await self._write(work)

    async def mark_rebuilding(self, since: datetime) -> None:
        sql = "INSERT OR REPLACE INTO meta VALUES ('rebuilding', ?)"
        await self._write(lambda c: c.execute(sql, (str(to_us(since)),)))

    async def clear_rebuilding(self, since: datetime) -> bool:
        sql = "DELETE FROM meta WHERE key = 'rebuilding' AND value = ?"
        return await self._write(lambda c: c.execute(sql, (str(to_us(since)),)).rowcount > 0)

    async def lock_model_change(self, holder: str, *, seconds: float) -> bool:
        # In memory, like claims: no other process has the store open.
        if self._change_lock is not None and self._change_lock[0] != holder and self._change_lock[1] > time.monotonic():
            return False
        self._change_lock = (holder, time.monotonic() + seconds)
        return True
