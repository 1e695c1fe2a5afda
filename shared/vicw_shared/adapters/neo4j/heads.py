"""What is indexed with items' first Chunks, made anew for stores that had less of it."""

from __future__ import annotations

from functools import partial

from vicw_shared.adapters.neo4j.cypher import text
from vicw_shared.adapters.neo4j.database import Neo4jDatabase, RunStatement
from vicw_shared.model import Label

_PAGE = 500


async def index_buckets(database: Neo4jDatabase) -> None:
    """Index items by their buckets. May be run twice, at once, and once more after it broke off."""
    for label in (Label.ENTITY, Label.EVENT):
        after = ""
        while rows := await database.read(text.bucketed(label), after=after, limit=_PAGE):
            if sources := [row["key"] for row in rows if row["bucketed"]]:
                await database.write(partial(_describe, sources=sources))
            after = rows[-1]["uid"]


async def _describe(run: RunStatement, *, sources: list[str]) -> None:
    await run(text.DESCRIBE, sources=sources)
