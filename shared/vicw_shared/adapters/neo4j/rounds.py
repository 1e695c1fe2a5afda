"""How far the sleep cycle is, as records beside the store's."""

from __future__ import annotations

from vicw_shared.adapters.neo4j.cypher import records
from vicw_shared.adapters.neo4j.database import Database
from vicw_shared.adapters.neo4j.keys import round_record
from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import Round


class Neo4jRounds:
    """Rounds on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note_round(self, note: Round) -> None:
        told = {
            "task": note.task,
            "began": to_us(note.began),
            "at": to_us(note.at),
            "turns": note.turns,
            "over": note.over,
            "error": note.error,
        }
        await self._database.write(lambda run: run(records.NOTE_ROUND, record=round_record(note.task), told=told))

    async def rounds(self) -> list[Round]:
        rows = await self._database.read(records.ROUNDS)
        return [
            Round(row["task"], from_us(row["began"]), from_us(row["at"]), row["turns"], row["over"], row["error"])
            for row in (row["told"] for row in rows)
        ]
