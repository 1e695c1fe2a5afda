"""An event that several items of a flow tell of in the same words is one event: chains of causes go on across items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import live_edges, nodes
from vicw_shared.model import Label

START = datetime(2026, 5, 4, 9, tzinfo=UTC)
CRASH = "The checkout crashed because the payment certificate had expired."
EXPIRED = "The payment certificate had expired because the renewal job was disabled."
CAUSE = "the renewal job was disabled"


def turns(*texts: str, **fields: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"t{number}",
            "speaker": "Nadia" if number % 2 else "Piet",
            "flow_id": "chat",
            "timestamp": (START + timedelta(minutes=number)).isoformat(),
            "text": text,
            **fields,
        }
        for number, text in enumerate(texts)
    ]


async def causes(memory: Memory) -> set[tuple[str, str]]:
    return {(before, after) for before, _, after in await live_edges(memory, "CAUSED")}


@pytest.mark.parametrize("together", [True, False])
async def test_equal_event_phrases_of_a_flow_are_the_same_event(memory: Memory, *, together: bool) -> None:
    said = turns(CRASH, EXPIRED)
    for some in [said] if together else [[one] for one in said]:
        await memory.ingest(*some, extract="rules")
    assert await causes(memory) == {
        ("the payment certificate had expired", "The checkout crashed"),
        (CAUSE, "the payment certificate had expired"),
    }
    assert (await memory.check()).violations == []


@pytest.mark.parametrize(
    "apart", [{"sensitivity": "personal"}, {"expires_at": "2099-01-01T00:00:00Z"}, {"flow_id": None}]
)
async def test_events_of_private_expiring_or_other_flow_items_are_not_shared(
    memory: Memory, apart: dict[str, Any]
) -> None:
    said = turns(CRASH, EXPIRED, **apart)
    if "flow_id" in apart:
        said[0]["flow_id"], said[1]["flow_id"] = "one", "two"
    await memory.ingest(*said, extract="rules")
    assert (CAUSE, "The payment certificate had expired") in await causes(memory)


async def test_event_phrases_with_a_pronoun_are_not_shared_between_items(memory: Memory) -> None:
    await memory.ingest(*turns("The mail bounced because my key had expired.", "My key had expired because I slept."))
    assert ("I slept", "My key had expired") in await causes(memory)


async def test_a_shared_event_survives_the_retraction_of_one_of_its_items(memory: Memory) -> None:
    await memory.ingest(*turns(CRASH, EXPIRED), extract="rules")
    await memory.retract("t0")
    ((cause, effect),) = await causes(memory)
    assert (cause, effect.casefold()) == (CAUSE, "the payment certificate had expired")
    (event,) = [node for node in await nodes(memory, Label.EVENT) if node.name == effect]
    assert event.speaker == "Nadia", "who tells of it now"
    assert (await memory.check()).violations == []
