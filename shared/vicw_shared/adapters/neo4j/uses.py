"""Usage counts of items, as records beside the items: replacing an item keeps its uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from vicw_shared.adapters.neo4j.cypher import records
from vicw_shared.adapters.neo4j.database import Neo4jDatabase
from vicw_shared.adapters.neo4j.keys import use_record
from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import Use


class Neo4jUses:
    """Uses on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def add_uses(self, tenant: str, times: Mapping[str, int], at: datetime) -> None:
        # Sorted, so that two writers that count the same items do not deadlock.
        rows = [{"record": use_record(uid), "uid": uid, "times": count} for uid, count in sorted(times.items())]
        await self._database.write(lambda run: run(records.ADD_USES, uses=rows, tenant=tenant, at=to_us(at)))

    async def record_question(self) -> None:
        await self._database.write(lambda run: run(records.RECORD_QUESTION))

    async def seconds_since_question(self) -> float | None:
        rows = await self._database.read(records.SINCE_QUESTION)
        return rows[0]["ago"] / 1000 if rows else None

    async def uses(self, tenant: str, uids: Sequence[str]) -> dict[str, Use]:
        rows = await self._database.read(records.USES, records=[use_record(uid) for uid in uids], tenant=tenant)
        return {row["item"]: Use(row["times"], from_us(row["last"])) for row in rows}
