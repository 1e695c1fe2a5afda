"""How much of each context the sleep cycle has been through, on the records that count arrivals."""

from __future__ import annotations

from vicw_shared.adapters.neo4j.cypher import nodes, records
from vicw_shared.adapters.neo4j.database import Database
from vicw_shared.adapters.neo4j.keys import arrivals_record
from vicw_shared.adapters.neo4j.rows import nodes_in
from vicw_shared.model import Label
from vicw_shared.ports import Growth

_PAGE = 1000


class Neo4jGrowths:
    """Growths on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def grown(self, by: int, *, limit: int) -> list[Growth]:
        found: list[Growth] = []
        query, after = nodes.page(Label.CONTEXT), ""
        # A record has nothing of its context's name, so it is the contexts that are gone through.
        while len(found) < limit and (contexts := nodes_in(await self._database.read(query, after=after, limit=_PAGE))):
            after = contexts[-1].uid
            of = {arrivals_record(root.tenant, root.context): (root.tenant, root.context) for root in contexts}
            grown = await self._database.read(records.GROWN, records=list(of), by=by)
            found += [Growth(*of[row["record"]], row["value"]) for row in grown]
        return found[:limit]

    async def note_growth(self, growth: Growth) -> None:
        record = arrivals_record(growth.tenant, growth.context)
        await self._database.write(lambda run: run(records.NOTE_GROWTH, record=record, arrivals=growth.arrivals))
