"""Webhooks, in the graph's file."""

from __future__ import annotations

from typing import Any

from vicw_shared.model.webhooks import Webhook
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase, Writer

_SELECT = "SELECT id, tenant, revision, body FROM webhook"


@measured("sqlite")
class SqliteWebhooks:
    """Webhooks over the database of a graph."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write

    async def ids(self) -> list[str]:
        return [row[0] for row in await self._rows("SELECT id FROM webhook ORDER BY id")]

    async def webhook(self, hook_id: str) -> Webhook | None:
        rows = await self._rows(f"{_SELECT} WHERE id = ?", hook_id)
        return Webhook.load(*rows[0]) if rows else None

    async def of_tenant(self, tenant: str) -> list[Webhook]:
        return [Webhook.load(*row) for row in await self._rows(f"{_SELECT} WHERE tenant = ? ORDER BY id", tenant)]

    async def put(self, hook: Webhook) -> bool:
        if hook.revision == 0:
            sql = "INSERT INTO webhook (id, tenant, revision, body) VALUES (?, ?, 1, ?) ON CONFLICT DO NOTHING"
            values: tuple[object, ...] = (hook.id, hook.tenant, hook.dump())
        else:
            sql = "UPDATE webhook SET revision = revision + 1, body = ? WHERE id = ? AND tenant = ? AND revision = ?"
            values = (hook.dump(), hook.id, hook.tenant, hook.revision)
        return await self._write(lambda c: c.execute(sql, values).rowcount > 0)

    async def remove(self, tenant: str, hook_id: str) -> bool:
        sql = "DELETE FROM webhook WHERE tenant = ? AND id = ?"
        return await self._write(lambda c: c.execute(sql, (tenant, hook_id)).rowcount > 0)

    async def _rows(self, sql: str, *values: str) -> list[Any]:
        return await self._database.read(lambda c: c.execute(sql, values).fetchall())
