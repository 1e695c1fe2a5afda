"""SqliteKeyRing: API keys in the graph's file.

Another process than the server may open it, so that keys are created and revoked while the server runs.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.errors import DataDirError
from vicw_shared.model.keys import ApiKey, Right
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import translated
from vicw_stores.sqlite.schema import require_current

_COLUMNS = "id, tenant, rights, digest, created_at, note, revoked_at"


@measured("sqlite")
class SqliteKeyRing:
    """KeyRing over the graph's file. Each call opens its own connection: calls are rare, since callers cache keys."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def add(self, key: ApiKey) -> None:
        row = (key.id, key.tenant, ",".join(key.rights), key.digest, to_us(key.created_at), key.note, None)
        await self._do(lambda c: c.execute("INSERT INTO api_key VALUES (?, ?, ?, ?, ?, ?, ?)", row))

    async def key(self, key_id: str) -> ApiKey | None:
        sql = f"SELECT {_COLUMNS} FROM api_key WHERE id = ?"  # noqa: S608
        row = await self._do(lambda c: c.execute(sql, (key_id,)).fetchone())
        return _key_of(row) if row else None

    async def keys(self) -> list[ApiKey]:
        sql = f"SELECT {_COLUMNS} FROM api_key ORDER BY created_at, id"  # noqa: S608
        return [_key_of(row) for row in await self._do(lambda c: c.execute(sql).fetchall())]

    async def revoke(self, key_id: str, at: datetime) -> bool:
        sql = "UPDATE api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
        return bool(await self._do(lambda c: c.execute(sql, (to_us(at), key_id)).rowcount))

    async def _do[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._run, work)

    def _run[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        with translated(), closing(self._connect()) as connection, connection:
            require_current(connection)
            return work(connection)

    def _connect(self) -> sqlite3.Connection:
        if not self._path.exists():
            raise DataDirError(f"There is no store at {self._path.parent}. `vicw serve` makes one")
        return sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=rw", uri=True, timeout=30)


def _key_of(row: tuple[Any, ...]) -> ApiKey:
    key_id, tenant, rights, digest, created_at, note, revoked_at = row
    return ApiKey(
        id=key_id,
        tenant=tenant,
        rights=tuple(Right(right) for right in rights.split(",") if right),
        digest=digest,
        created_at=from_us(created_at),
        note=note,
        revoked_at=from_us(revoked_at),
    )
