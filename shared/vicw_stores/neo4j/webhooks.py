"""Webhooks, as records of the store."""

from __future__ import annotations

from neo4j import Record

from vicw_shared.model.webhooks import Webhook
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import webhooks
from vicw_stores.neo4j.database import Neo4jDatabase

_PREFIX = "webhook:"


@measured("neo4j")
class Neo4jWebhooks:
    """Webhooks on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def ids(self) -> list[str]:
        return [row["id"] for row in await self._database.read(webhooks.IDS, prefix=_PREFIX)]

    async def webhook(self, hook_id: str) -> Webhook | None:
        rows = await self._database.read(webhooks.HOOK, record=_PREFIX + hook_id)
        return _hook_of(rows[0]) if rows else None

    async def of_tenant(self, tenant: str) -> list[Webhook]:
        rows = await self._database.read(webhooks.OF_TENANT, prefix=_PREFIX, tenant=tenant)
        return [_hook_of(row) for row in rows]

    async def put(self, hook: Webhook) -> bool:
        values = {"record": _PREFIX + hook.id, "tenant": hook.tenant, "body": hook.dump()}
        if hook.revision == 0:
            (row,) = await self._database.write(lambda run: run(webhooks.ADD, id=hook.id, **values))
        else:
            (row,) = await self._database.write(lambda run: run(webhooks.REPLACE, revision=hook.revision, **values))
        return bool(row["count"])

    async def remove(self, tenant: str, hook_id: str) -> bool:
        (row,) = await self._database.write(lambda run: run(webhooks.REMOVE, record=_PREFIX + hook_id, tenant=tenant))
        return bool(row["count"])


def _hook_of(row: Record) -> Webhook:
    hook = row["hook"]
    return Webhook.load(hook["hook_id"], hook["hook_of"], hook["revision"], hook["body"])
