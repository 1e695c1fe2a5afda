"""A day's chat in which two topics interleave, and a small novel: what a reader would say that they tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import live_edges, nodes
from vicw_shared.model import Label

STORIES = Path(__file__).parents[3] / "support" / "stories"
AT_WORK = {0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 19, 20, 21, 22, 23, 29, 30, 31, 32, 33, 34, 39}
IN_PORTO = {4, 5, 6, 15, 16, 17, 18, 24, 25, 26, 27, 28, 35, 36, 37, 38}


def chat() -> Iterator[dict[str, Any]]:
    for number, line in enumerate((STORIES / "chat.txt").read_text().splitlines()):
        at, speaker, text = re.fullmatch(r"(\S+) (\w+): (.*)", line).groups()  # type: ignore[union-attr]
        yield {"id": f"t{number}", "timestamp": f"{at}:00Z", "speaker": speaker, "text": text}


def novel(name: str = "novel.txt") -> Iterator[dict[str, Any]]:
    for number, chapter in enumerate(re.split(r"\n\n(?=Chapter)", (STORIES / name).read_text())):
        yield {"id": f"c{number}", "text": chapter, "subtype": "chapter"}


async def causes_of(memory: Memory, effect: str) -> list[str]:
    """Return the chain of causes behind an event, the nearest first."""
    caused = {after: before for before, _, after in await live_edges(memory, "CAUSED")}
    chain = []
    while effect in caused:
        effect = caused.pop(effect)
        chain.append(effect)
    return chain


async def test_a_sample_chat_yields_its_causes_and_a_single_flow(memory: Memory) -> None:
    for turn in chat():
        await memory.ingest(turn, context="day")

    assert await causes_of(memory, "The integration tests timed out") == ["the staging database was locked"]
    assert await causes_of(memory, "The hotel in Porto cancelled the booking") == ["a burst pipe"]
    assert await live_edges(memory, "SUPERSEDES") == set(), "rules replace nothing"
    flows = {node.source_id: node.flow_id for node in await nodes(memory, Label.EVENT) if node.content_hash}
    assert len({flows[f"t{n}"] for n in (*AT_WORK, *IN_PORTO)}) == 1, "one session is one flow"
    assert (await memory.check()).violations == []


async def test_a_sample_novel_yields_its_causes_people_and_agents(memory: Memory) -> None:
    await memory.ingest(*novel(), context="novel", domain="prose", flow_id="salt road")

    assert await causes_of(memory, "The oil ran out at midnight") == [
        "the supply boat had not come",
        "Quill had sold the oil to smugglers.",
    ], "what one chapter tells of is the cause of what another does"
    people = {node.name for node in await nodes(memory, Label.ENTITY) if node.subtype == "person"}
    assert people == {"Mara", "Josiah", "Edran", "Captain Voss", "Mistress Quill", "Quill"}
    done = await live_edges(memory, "INITIATED")
    assert ("Captain Voss", "INITIATED", "Voss blamed the keeper.") in done
    assert ("Brandt", "INITIATED", "Brandt freed Josiah that evening.") in done
    assert (await memory.check()).violations == []
