"""Everyday changes, and what is none, told and asked over HTTP with the default model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from support.clients.served import serve
from support.data.everyday_changes import CHANGES, FILLERS, STAYS
from support.models.minilm_embedder import MiniLmEmbedder
from support.stores.memory import settings_for
from vicw_standalone.app import create_standalone_app
from vicw_standalone.lifecycle.start import Start
from vicw_standalone.wiring import Standalone

MARKS = ("until ", "since ", "replace")


def turn(key: str, text: str, date: str, speaker: str = "Rosa") -> dict[str, Any]:
    return {"id": key, "text": text, "speaker": speaker, "flow_id": key, "timestamp": f"2026-{date}T10:00:00Z"}


@asynccontextmanager
async def open_server(store: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a new store with the default model."""
    standalone = Standalone(settings_for(store), MiniLmEmbedder())
    start = Start(standalone)
    await start.open()
    async with serve(create_standalone_app(standalone)) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        await start.load(url)
        yield client


async def tell(client: httpx.AsyncClient, context: str, items: Sequence[dict[str, Any]]) -> None:
    told = await client.post("/ingest", json={"context": context, "items": items, "wait": True})
    assert told.status_code == 201, told.text


async def ask(client: httpx.AsyncClient, context: str, query: str, **fields: Any) -> dict[str, Any]:
    body = {"query": query, "context": context, "query_time": "2026-03-01T10:00:00Z", **fields}
    answer: dict[str, Any] = (await client.post("/retrieve", json=body)).raise_for_status().json()
    return answer


async def ask_each(store: Path, cases: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Tell each pair in a context of its own, with what has nothing to do with it; return the answers."""
    answers = []
    async with open_server(store) as client:
        for number, (old, new, question) in enumerate(cases):
            context = f"case {number}"
            other = turn("other", FILLERS[number % 2], "01-20")
            await tell(client, context, [turn("old", old, "01-05"), other, turn("new", new, "02-05")])
            answers.append(await ask(client, context, question, limit=3))
    return answers


def ids(answer: dict[str, Any]) -> list[str]:
    return [result["id"] for result in answer["results"]]


async def test_what_does_not_replace_is_found_beside_the_other_and_neither_is_marked(store: Path) -> None:
    answers = await ask_each(store, STAYS)
    assert len(STAYS) == 40
    lost = [case for case, answer in zip(STAYS, answers, strict=True) if not {"old", "new"} <= set(ids(answer))]
    marked = [answer["text"] for answer in answers if any(mark in answer["text"] for mark in MARKS)]
    assert (lost, marked) == ([], [])


async def test_no_everyday_change_takes_a_memory_out_of_the_answer(store: Path) -> None:
    answers = await ask_each(store, CHANGES)
    assert len(CHANGES) == 25
    assert [case for case, answer in zip(CHANGES, answers, strict=True) if not {"old", "new"} <= set(ids(answer))] == []


async def test_each_reading_of_a_series_is_found(store: Path) -> None:
    readings = {f"r{day:02}": f"The water meter shows {412 + 3 * day} litres." for day in range(1, 29)}
    turns = [turn(key, text, f"01-{key[1:]}") for key, text in readings.items()]
    async with open_server(store) as client:
        await tell(client, "meter", turns)
        questions = ("How did the water meter develop?", "What did the water meter show before?", "Water meter?")
        answers = [await ask(client, "meter", question, limit=40) for question in questions]
    for answer in answers:
        assert set(ids(answer)) == readings.keys()
        assert not any(mark in answer["text"] for mark in MARKS), answer["text"]
