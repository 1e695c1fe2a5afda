"""Store metadata and receipts, as records of the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from vicw_shared.clock import MICROSECONDS, from_us, to_us
from vicw_shared.ports import ModelChange, ModelIdentity, Models, Receipt, Use
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import records
from vicw_stores.neo4j.database import Neo4jDatabase
from vicw_stores.neo4j.keys import receipt_record, tenant_key, use_record
from vicw_stores.neo4j.stored_words import converted_of
from vicw_stores.neo4j.transaction import keyed_receipt, receipt_of


@measured("neo4j")
class Neo4jRecord:
    """StoreRecord on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def receipt(self, tenant: str, key: str) -> Receipt | None:
        return receipt_of(key, await self._database.read(records.RECEIPT, record=receipt_record(tenant, key)))

    async def recent_receipts(self, tenant: str, prefix: str, since: datetime, *, limit: int) -> list[Receipt]:
        values = {"tenant_key": tenant_key(tenant), "prefix": prefix, "since": to_us(since), "limit": limit}
        return [keyed_receipt(row["receipt"]) for row in await self._database.read(records.RECENT_RECEIPTS, **values)]

    async def forget_receipts(self, before: datetime, *, limit: int) -> int:
        values = {"before": to_us(before), "limit": limit}
        (row,) = await self._database.write(lambda run: run(records.FORGET_RECEIPTS_OF_ALL, **values))
        return int(row["count"])

    async def store_id(self) -> str:
        (row,) = await self._database.read(records.STORE)
        return str(row["store"]["store_id"])

    async def models(self) -> Models:
        (row,) = await self._database.read(records.STORE)
        used, change, since = (row["store"][name] for name in ("model", "change", "rebuilding"))
        return Models(
            used and ModelIdentity(**json.loads(used)),
            ModelChange.load(change),
            from_us(since),
            converted_of(row["store"]) is not None,
        )

    async def set_model(
        self, identity: ModelIdentity, change: ModelChange | None = None, *, holder: str | None = None
    ) -> bool:
        model, change_json = json.dumps(asdict(identity)), change.dump() if change is not None else None
        values = {"model": model, "change": change_json, "holder": holder}
        (row,) = await self._database.write(lambda run: run(records.SET_MODEL, **values))
        return bool(row["count"])

    async def mark_rebuilding(self, since: datetime) -> None:
        await self._database.write(lambda run: run(records.MARK_REBUILDING, since=to_us(since)))

    async def clear_rebuilding(self, since: datetime) -> bool:
        (row,) = await self._database.write(lambda run: run(records.CLEAR_REBUILDING, since=to_us(since)))
        return bool(row["count"])

    async def lock_model_change(self, holder: str, *, seconds: float) -> bool:
        length = round(seconds * MICROSECONDS)
        (row,) = await self._database.write(
            lambda run: run(records.LOCK_MODEL_CHANGE, holder=holder, microseconds=length)
        )
        return bool(row["count"])


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
