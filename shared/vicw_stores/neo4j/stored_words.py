"""Version of the words of the full text, and their conversion, on Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vicw_core.index import sparse
from vicw_core.index.full_text import head_words, text_words
from vicw_shared.clock import MICROSECONDS
from vicw_shared.ports import TermScope
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import outbox, records, term_counts, text
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.outbox import point_of
from vicw_stores.neo4j.term_counts import merge_records, put_terms

_FIRST = 1
"""Version of the words of a store that has no record of it."""


@measured("neo4j")
class Neo4jWords:
    """StoredWords on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def converted(self) -> str | None:
        (row,) = await self._database.read(records.STORE)
        return converted_of(row["store"])

    async def lock(self, holder: str, *, seconds: float) -> bool:
        values = {"holder": holder, "microseconds": round(seconds * MICROSECONDS)}
        (row,) = await self._database.write(lambda run: run(records.LOCK_WORDS, **values))
        return bool(row["count"])

    async def renew(self, chunks: Sequence[str], *, holder: str) -> bool:
        async def work(run: RunStatement) -> list[TermScope] | None:
            if not await _record(run, max(chunks), holder):
                return None
            rows = [_renewed(row) for row in await run(text.CHUNKS, uids=list(chunks))]
            await run(text.SET_WORDS, rows=rows)
            await run(text.SET_HEADS, sources=[row["item"] for row in rows if row["item"] is not None])
            counted = await run(term_counts.LOCK_COUNTED, uids=list(chunks))
            points = [point_of(row) for row in await run(outbox.PASSAGES_OF, uids=list(chunks))]
            return await put_terms(run, points, counted)

        full = await self._database.write(work)
        await merge_records(self._database, full or ())
        return full is not None

    async def complete(self, *, holder: str) -> bool:
        return await self._database.write(lambda run: _record(run, None, holder))


def converted_of(store: Mapping[str, Any]) -> str | None:
    """Return the uid up to which the words of the Chunks are of this program's version ("": none); None: of all."""
    place: str | None = store["words_place"]
    return place if (store["words"] or _FIRST) == sparse.VERSION else ""


def _renewed(row: Mapping[str, Any]) -> dict[str, Any]:
    head = row["head"]
    return {
        "key": row["key"],
        "item": row["item"],
        "words": text_words(row["text"] or ""),
        "head_words": head_words(head["name"], head["title"], head["tags"] or (), head["bucket"]) if head else None,
    }


async def _record(run: RunStatement, place: str | None, holder: str) -> bool:
    (row,) = await run(records.SET_WORDS, version=sparse.VERSION, place=place, holder=holder)
    return bool(row["count"])
