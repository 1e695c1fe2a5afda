"""How much of each context the sleep cycle has been through, beside the counters of arrivals."""

from __future__ import annotations

from vicw_shared.adapters.sqlite.database import Atomically, Database
from vicw_shared.ports import Growth

_GROWN = "SELECT tenant, context, value FROM counter WHERE flow = '' AND value - slept >= max(?, value / 20) LIMIT ?"
_NOTE = "UPDATE counter SET slept = max(slept, ?) WHERE tenant = ? AND context = ? AND flow = ''"


class SqliteGrowths:
    """Growths over the database of a graph."""

    def __init__(self, database: Database, write_atomically: Atomically) -> None:
        self._database = database
        self._write_growth = write_atomically

    async def grown(self, by: int, *, limit: int) -> list[Growth]:
        return await self._database.read(lambda c: [Growth(*row) for row in c.execute(_GROWN, (by, limit))])

    async def note_growth(self, growth: Growth) -> None:
        row = (growth.arrivals, growth.tenant, growth.context)
        await self._write_growth(lambda c: c.execute(_NOTE, row))
