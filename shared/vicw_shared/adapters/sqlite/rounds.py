"""How far the sleep cycle is, beside the facts of the store."""

from __future__ import annotations

import json

from vicw_shared.adapters.sqlite.database import Atomically, Database
from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import Round

_NOTE = "INSERT OR REPLACE INTO meta VALUES ('round:' || ?, ?)"
_ROUNDS = "SELECT substr(key, 7), value FROM meta WHERE key GLOB 'round:*' ORDER BY key"


class SqliteRounds:
    """Rounds over the database of a graph."""

    def __init__(self, database: Database, write_atomically: Atomically) -> None:
        self._database = database
        self._write_round = write_atomically

    async def note_round(self, note: Round) -> None:
        told = json.dumps([to_us(note.began), to_us(note.at), note.turns, note.over, note.error])
        await self._write_round(lambda c: c.execute(_NOTE, (note.task, told)))

    async def rounds(self) -> list[Round]:
        rows = await self._database.read(lambda c: c.execute(_ROUNDS).fetchall())
        return [_round(task, *json.loads(told)) for task, told in rows]


def _round(task: str, began: int, at: int, turns: int, over: bool, error: str) -> Round:
    return Round(task, from_us(began), from_us(at), turns, over, error)
