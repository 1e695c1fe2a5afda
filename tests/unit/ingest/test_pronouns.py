"""In a chat, *she* or *he* is somebody of whom the turn before speaks, where that is plain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory import Memory
from unit.ingest.test_reading import told

START = datetime(2026, 5, 4, 9, tzinfo=UTC)
LIVES = ("Olaf", "Ingrid lives in Bergen.")
MOVED = ("Nadia", "She moved to Oslo last week.")


def turns(*said: tuple[str, str], **fields: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"t{n}", "speaker": who, "text": text, "timestamp": (START + timedelta(minutes=n)).isoformat(), **fields}
        for n, (who, text) in enumerate(said)
    ]


async def replaced(memory: Memory) -> set[tuple[str, str]]:
    return {(newer, older) for newer, _, older in await told(memory, "SUPERSEDES")}


@pytest.mark.parametrize("together", [True, False])
async def test_she_is_whom_the_turn_before_speaks_of(memory: Memory, *, together: bool) -> None:
    said = turns(LIVES, ("Nadia", "She will cook for the party."), MOVED)
    for some in [said] if together else [[one] for one in said]:
        await memory.ingest(*some, extract="rules")
    assert await replaced(memory) == {(MOVED[1], LIVES[1])}
    mentioned = {(a, b) for a, _, b in await told(memory, "MENTIONS")}
    assert {("She will cook for the party.", "Ingrid"), (MOVED[1], "Ingrid")} <= mentioned
    assert (await memory.check()).violations == []


@pytest.mark.parametrize(
    "before",
    [
        ("Olaf", "My sisters Ingrid and Eva live in Bergen."),  # either
        ("Nadia", "Nadia lives in Bergen."),  # she speaks of herself by name
        ("Olaf", "The office is in Bergen."),  # nobody
        ("Olaf", "The backup lives in Bergen."),  # nobody
        ("Olaf", "My brother Jens lives in Bergen."),  # a man
    ],
)
async def test_she_is_nobody_where_that_is_not_plain(memory: Memory, before: tuple[str, str]) -> None:
    await memory.ingest(*turns(before, MOVED), extract="rules")
    assert await replaced(memory) == set()


async def test_of_two_it_is_the_one_who_is_a_woman(memory: Memory) -> None:
    first = ("Olaf", "My sister Ingrid lives in Bergen.")
    both = ("Olaf", "Ingrid knows Tom from school.")
    await memory.ingest(*turns(first, both, MOVED), extract="rules")
    assert await replaced(memory) == {(MOVED[1], first[1])}


async def test_what_was_said_in_private_tells_nobody_who_she_is(memory: Memory) -> None:
    private, public = turns(LIVES, MOVED)
    await memory.ingest({**private, "sensitivity": "personal"}, public, extract="rules")
    mentioned = {(a, b) for a, _, b in await told(memory, "MENTIONS", "INITIATED")}
    assert (MOVED[1], "Ingrid") not in mentioned
    assert ("Ingrid", MOVED[1]) not in mentioned


async def test_in_a_document_nobody_comes_from_the_one_before(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": LIVES[1]}, {"id": "b", "text": MOVED[1]}, extract="rules")
    assert await replaced(memory) == set()
