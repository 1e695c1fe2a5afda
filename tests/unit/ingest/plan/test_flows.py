"""Inferred flows: one for each session of a chat; late turns find their place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from support.stores.memory import Memory, open_memory
from vicw_shared.model import Label
from vicw_shared.ports import Nodes

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
BUILD = [
    ("Lena", "The integration tests of the payments service fail."),
    ("Tom", "The staging database of the payments tests is locked."),
    ("Lena", "Who locked the database?"),
    ("Tom", "Ben."),
]
WEDDING = [
    ("Lena", "By the way, my sister Ana is getting married in Porto!"),
    ("Tom", "Congratulations! When is the wedding?"),
    ("Lena", "In June. Ana booked a vineyard near Porto for the wedding."),
]


def turn(n: int, said: tuple[str, str], minutes: float | None = None) -> dict[str, Any]:
    at = START + timedelta(minutes=n if minutes is None else minutes)
    return {"id": f"t{n}", "speaker": said[0], "text": said[1], "timestamp": at.isoformat()}


async def flows(memory: Memory) -> dict[str | None, str | None]:
    page = await memory.standalone.graph.scan(Nodes(Label.EVENT), limit=1000)
    return {node.source_id: node.flow_id for node in page if node.content_hash and node.retired_at is None}


async def test_the_turns_of_a_session_are_one_flow(memory: Memory) -> None:
    said = [BUILD[0], BUILD[1], WEDDING[0], WEDDING[1], BUILD[2], BUILD[3], WEDDING[2]]
    for n, one in enumerate(said):
        await memory.ingest(turn(n, one))
    found = await flows(memory)
    assert len(set(found.values())) == 1
    assert None not in found.values()
    assert (await memory.check()).violations == []


async def test_inferred_flows_do_not_depend_on_how_turns_are_batched(memory: Memory) -> None:
    said = [BUILD[0], BUILD[1], WEDDING[0], WEDDING[1], BUILD[2], BUILD[3], WEDDING[2]]
    turns = [turn(n, one) for n, one in enumerate(said)]
    await memory.ingest(*turns, context="all")
    together = await flows(memory)
    for one in turns:
        await memory.ingest(one, context="each")
    apart = {
        node.source_id: node.flow_id
        for node in await memory.standalone.graph.scan(Nodes(Label.EVENT), limit=1000)
        if node.content_hash and node.context == "each"
    }
    assert together == apart


async def test_a_late_turn_joins_the_session_of_its_timestamp(memory: Memory) -> None:
    await memory.ingest(turn(0, BUILD[0]), turn(1, BUILD[1]), turn(3, WEDDING[0], minutes=60 * 9))
    await memory.ingest(turn(9, BUILD[2], minutes=2))
    found = await flows(memory)
    assert found["t9"] == found["t1"] != found["t3"]
    assert (await memory.check()).violations == []


async def test_a_long_pause_starts_a_new_session(memory: Memory) -> None:
    await memory.ingest(turn(0, BUILD[0]))
    await memory.ingest(turn(1, BUILD[1], minutes=60 * 9))
    found = await flows(memory)
    assert found["t0"] != found["t1"]


async def test_an_update_stays_in_its_flow(memory: Memory) -> None:
    await memory.ingest(turn(0, BUILD[0]), turn(1, BUILD[1]))
    before = await flows(memory)
    await memory.ingest(turn(1, ("Tom", "By the way, the weather is nice.")))
    assert await flows(memory) == before


async def test_turns_are_not_inferred_into_a_callers_own_flow(memory: Memory) -> None:
    await memory.ingest({**turn(0, BUILD[0]), "flow_id": "mine"})
    await memory.ingest(turn(1, BUILD[1]))
    found = await flows(memory)
    assert found["t0"] == "mine"
    assert found["t1"] not in {None, "mine"}


async def test_items_without_a_speaker_get_no_inferred_flow(memory: Memory) -> None:
    await memory.ingest({"id": "note", "text": "The payments service is slow."})
    await memory.ingest({"id": "event", "text": "The payments service stopped.", "timestamp": START.isoformat()})
    assert set((await flows(memory)).values()) <= {None}


async def test_a_session_length_of_zero_switches_flow_inference_off(store: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("VICW_INGEST_SESSION_MINUTES", "0")
    async with open_memory(store) as memory:
        await memory.ingest(turn(0, BUILD[0]))
        assert (await flows(memory)) == {"t0": None}
