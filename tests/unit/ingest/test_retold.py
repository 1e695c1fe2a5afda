"""An event that several items of a flow tell of, in other words, is one event: chains of causes go on across items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory import Memory
from unit.ingest.test_reading import told

START = datetime(2026, 5, 4, 9, tzinfo=UTC)
CRASH = "The checkout crashed because the payment certificate had expired."
EXPIRED = "The certificate expired because the renewal job was disabled."


def turns(*texts: str, days: float = 0.01, **fields: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"t{number}",
            "speaker": "Nadia" if number % 2 else "Piet",
            "flow_id": "chat",
            "timestamp": (START + number * timedelta(days=days)).isoformat(),
            "text": text,
            **fields,
        }
        for number, text in enumerate(texts)
    ]


async def causes(memory: Memory) -> set[tuple[str, str]]:
    return {(before, after) for before, _, after in await told(memory, "CAUSED")}


@pytest.mark.parametrize("together", [True, False])
async def test_what_another_item_tells_in_fewer_words_is_the_same_event(memory: Memory, *, together: bool) -> None:
    said = turns(CRASH, EXPIRED)
    for some in [said] if together else [[one] for one in said]:
        await memory.ingest(*some, extract="rules")
    assert await causes(memory) == {
        ("the payment certificate had expired", "The checkout crashed"),
        ("the renewal job was disabled", "the payment certificate had expired"),
    }
    assert (await memory.check()).violations == []


@pytest.mark.parametrize(
    "other",
    [
        "The root certificate expired because the renewal job was disabled.",
        "The certificate did not expire because the renewal job was disabled.",
        "Another certificate expired because the renewal job was disabled.",
        "My certificate expired because the renewal job was disabled.",
        "The certificate expired on Monday because the renewal job was disabled.",
    ],
)
async def test_what_may_be_another_event_is_another(memory: Memory, other: str) -> None:
    await memory.ingest(*turns(CRASH, other), extract="rules")
    assert all(after != "the payment certificate had expired" for _, after in await causes(memory))


@pytest.mark.parametrize("together", [True, False])
async def test_of_several_that_fit_none_is_meant(memory: Memory, *, together: bool) -> None:
    said = turns(CRASH, "The mail bounced because the root certificate had expired.", EXPIRED)
    for some in [said] if together else [[one] for one in said]:
        await memory.ingest(*some, extract="rules")
    assert await causes(memory) == {
        ("the payment certificate had expired", "The checkout crashed"),
        ("the root certificate had expired", "The mail bounced"),
        ("the renewal job was disabled", "The certificate expired"),
    }


@pytest.mark.parametrize(
    "apart", [{"days": 7}, {"sensitivity": "personal"}, {"expires_at": "2099-01-01T00:00:00Z"}, {"flow_id": None}]
)
async def test_it_is_another_event_later_elsewhere_and_where_others_may_not_look(
    memory: Memory, apart: dict[str, Any]
) -> None:
    said = turns(CRASH, EXPIRED, **apart)
    if "flow_id" in apart:
        said[0]["flow_id"], said[1]["flow_id"] = "one", "two"
    await memory.ingest(*said, extract="rules")
    assert ("the renewal job was disabled", "The certificate expired") in await causes(memory)


async def test_the_event_stays_while_one_item_tells_of_it(memory: Memory) -> None:
    await memory.ingest(*turns(CRASH, EXPIRED), extract="rules")
    await memory.retract("t0")
    assert await causes(memory) == {("the renewal job was disabled", "The certificate expired")}, "as that one says"
    assert (await memory.check()).violations == []
