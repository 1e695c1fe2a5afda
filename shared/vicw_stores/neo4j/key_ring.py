"""Neo4jKeyRing: the platform's API keys, as records of the store."""

from __future__ import annotations

from datetime import datetime

from neo4j import Record

from vicw_shared.clock import from_us, to_us
from vicw_shared.model.keys import ApiKey, Right
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import records
from vicw_stores.neo4j.database import Neo4jDatabase

_PREFIX = "key:"


@measured("neo4j")
class Neo4jKeyRing:
    """KeyRing on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def add(self, key: ApiKey) -> None:
        values = {
            "record": _PREFIX + key.id,
            "id": key.id,
            "tenant": key.tenant,
            "rights": [right.value for right in key.rights],
            "digest": key.digest,
            "created_at": to_us(key.created_at),
            "note": key.note,
        }
        await self._database.write(lambda run: run(records.ADD_KEY, **values))

    async def key(self, key_id: str) -> ApiKey | None:
        return next((key for key in await self._find(_PREFIX + key_id) if key.id == key_id), None)

    async def keys(self) -> list[ApiKey]:
        return await self._find(_PREFIX)

    async def revoke(self, key_id: str, at: datetime) -> bool:
        (row,) = await self._database.write(lambda run: run(records.REVOKE_KEY, record=_PREFIX + key_id, at=to_us(at)))
        return bool(row["count"])

    async def _find(self, prefix: str) -> list[ApiKey]:
        return [_key_of(row) for row in await self._database.read(records.KEYS, prefix=prefix)]


def _key_of(row: Record) -> ApiKey:
    key = row["key"]
    return ApiKey(
        id=key["key_id"],
        tenant=key["key_tenant"],
        rights=tuple(Right(right) for right in key["rights"]),
        digest=key["digest"],
        created_at=from_us(key["created_at"]),
        note=key["note"],
        revoked_at=from_us(key["revoked_at"]),
    )
