"""The same question finds the same after a restart, after changes, and whatever other tenants and contexts hold."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from support.stores.memory import Memory, open_memory

WORDS = "amulet bridge candle desert engine forest garden harbour island journal kettle lantern".split()
QUESTIONS = [f"the {one} or the {other}" for one, other in zip(WORDS, WORDS[5:] + WORDS[:5], strict=True)]


def item(number: int, version: int = 0) -> dict[str, Any]:
    draw = random.Random(100 * number + version)
    count = draw.randrange(3, 9)
    words = draw.choices(WORDS, weights=[1 / rank for rank in range(1, len(WORDS) + 1)], k=count)
    return {"id": f"i{number:02}", "text": f"The {' and the '.join(words)}, number {number} {version}."}


type Scores = list[dict[str | None, float]]


async def scores(memory: Memory, **fields: Any) -> Scores:
    """Return the scores of all that is found for each question, by id."""
    answers = [await memory.retrieve(question, limit=60, **fields) for question in QUESTIONS]
    return [{result.id: result.score for result in answer.results} for answer in answers]


def approximately(found: Scores) -> list[Any]:
    """Allow for the order in which an engine adds up."""
    return [pytest.approx(one, abs=1e-6) for one in found]


@pytest.mark.parametrize("vectors", [True, False])
async def test_a_restart_changes_nothing(store: Path, *, vectors: bool) -> None:
    async with open_memory(store, vectors=vectors) as memory:
        await memory.ingest(*map(item, range(60)))
        await memory.ingest(*(item(number, 1) for number in range(0, 60, 10)))
        await memory.retract(*(f"i{number:02}" for number in range(5, 60, 10)))
        before = await scores(memory)
        assert all(before)
    async with open_memory(store, vectors=vectors) as memory:
        assert await scores(memory) == approximately(before)


@pytest.mark.parametrize("channel", ["bm25", "fulltext"])
async def test_changed_and_erased_items_leave_no_trace_in_the_scores(store: Path, tmp_path: Path, channel: str) -> None:
    by_words = {"channels": [channel], "context": "ctx"}
    async with open_memory(store) as memory:
        await memory.ingest(*map(item, range(60)))
        await memory.ingest(*(item(number, 1) for number in range(0, 60, 10)))
        await memory.retract(*(f"i{number:02}" for number in range(5, 60, 10)))
        changed = await scores(memory, **by_words)
        assert (await memory.check()).violations == []
    async with open_memory(tmp_path / "fresh") as memory:
        kept = [item(number, int(number % 10 == 0)) for number in range(60) if number % 10 != 5]
        await memory.ingest(*kept)
        assert await scores(memory, **by_words) == approximately(changed)


@pytest.mark.parametrize("channel", ["bm25", "fulltext"])
async def test_other_tenants_do_not_change_a_score(store: Path, channel: str) -> None:
    by_words = {"channels": [channel], "context": "ctx"}
    async with open_memory(store) as memory:
        await memory.ingest(*map(item, range(20)))
        before = await scores(memory, **by_words)
        memory.tenant = "other"
        await memory.ingest(*(item(number, 7) for number in range(40)), context="ctx")
        memory.tenant = "default"
        assert await scores(memory, **by_words) == approximately(before)
