"""Erasure records on Neo4j."""

from __future__ import annotations

import json

from vicw_shared.ports import ErasurePart
from vicw_stores.neo4j.cypher import records
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.keys import erasure_record

_ALL = "erasure:"


class Neo4jErasures:
    """Erasures on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def erasures(self) -> list[ErasurePart]:
        notes = [row["note"] for row in await self._database.read(records.ERASURES, prefix=_ALL)]
        return [ErasurePart(n["erasure"], n["number"], n["erasure_of"], json.loads(n["body"])) for n in notes]

    async def pending(self, tenant: str) -> int:
        (row,) = await self._database.read(records.PENDING_ERASURES, prefix=_ALL, tenant=tenant)
        return int(row["count"])

    async def erased(self) -> int:
        (row,) = await self._database.read(records.ERASED)
        return int(row["count"])

    async def count_erasure(self) -> None:
        await self._database.write(lambda run: run(records.COUNT_ERASURE))

    async def end_erasure(self, erasure: str) -> None:
        prefix = erasure_record(erasure)
        await self._database.write(lambda run: run(records.END_ERASURE, prefix=prefix))


async def put_erasure_record(run: RunStatement, note: ErasurePart) -> None:
    """Store a part of an erasure's record, replacing one with the same number."""
    await run(
        records.RECORD_ERASURE,
        record=erasure_record(note.erasure, note.number),
        erasure=note.erasure,
        number=note.number,
        tenant=note.tenant,
        body=json.dumps(note.body, ensure_ascii=False),
    )
