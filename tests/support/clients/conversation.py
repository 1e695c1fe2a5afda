"""A conversation over HTTP: statements told at their times, and questions about the present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

NOW = "2026-03-01T10:00:00Z"
MARKS = ("until ", "since ", "replace", "earlier, ", "contradict")
"""What the lines begin with that call a statement past."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The services that store and answer, which may be one."""

    ingest: httpx.AsyncClient
    retrieval: httpx.AsyncClient

    async def tell(self, context: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Store items and wait until they are found."""
        told = await self.ingest.post("/ingest", json={"context": context, "items": items, "wait": True})
        assert told.status_code == 201, told.text
        stored: dict[str, Any] = told.json()
        return stored

    async def ask(self, context: str, query: str, **fields: Any) -> dict[str, Any]:
        """Return the answer."""
        body = {"query": query, "context": context, "query_time": NOW, **fields}
        answer: dict[str, Any] = (await self.retrieval.post("/retrieve", json=body)).raise_for_status().json()
        return answer

    async def ask_each(self, cases: Sequence[tuple[str, str, str]], fillers: Sequence[str]) -> list[dict[str, Any]]:
        """Tell each pair in a context of its own, with what has nothing to do with it; return the answers."""
        answers = []
        for number, (old, new, question) in enumerate(cases):
            context = f"{question} {number}"
            other = turn("other", fillers[number % len(fillers)], "01-20")
            await self.tell(context, [turn("old", old, "01-05"), other, turn("new", new, "02-05")])
            answers.append(await self.ask(context, question, limit=3))
        return answers


def turn(key: str, text: str, date: str, speaker: str = "Rosa", **fields: Any) -> dict[str, Any]:
    """Return an item told at ten on a day of 2026, in a flow of its own."""
    return {"id": key, "text": text, "speaker": speaker, "flow_id": key, "timestamp": f"2026-{date}T10:00:00Z"} | fields


def ids(answer: dict[str, Any]) -> list[str]:
    """Return the ids of the results in order."""
    return [result["id"] for result in answer["results"]]


def is_marked(answer: dict[str, Any]) -> bool:
    """Return whether an answer calls any statement past, in its text or in JSON."""
    return any(f"    {mark}" in answer["text"] for mark in MARKS) or any(one["changes"] for one in answer["results"])
