"""Migration of the text indexed with items' first Chunks, for stores that indexed less of it."""

from __future__ import annotations

from functools import partial

from vicw_shared.adapters.neo4j.cypher import text
from vicw_shared.adapters.neo4j.database import Neo4jDatabase, RunStatement
from vicw_shared.model import Label

_PAGE = 500


async def index_buckets(database: Neo4jDatabase) -> None:
    """Index items by their buckets. May run twice, concurrently, and again after an interruption."""
    for label in (Label.ENTITY, Label.EVENT):
        after = ""
        while rows := await database.read(text.bucketed(label), after=after, limit=_PAGE):
            if sources := [row["key"] for row in rows if row["bucketed"]]:
                await database.write(partial(_describe, sources=sources))
            after = rows[-1]["uid"]


async def _describe(run: RunStatement, *, sources: list[str]) -> None:
    await run(text.DESCRIBE, sources=sources)
