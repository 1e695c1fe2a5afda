"""The zone of who asks: whose days the question means, and in which times are told."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from support.stores.memory import Memory
from vicw_shared.wire.retrieve import RetrieveRequest
from vicw_shared.wire.validation_errors import describe

ORCHIDS = {
    "id": "orchids",
    "text": "I watered the orchids.",
    "speaker": "Mio",
    "timestamp": "2026-04-21T06:45:00+09:00",
}
TOLD_UTC = "2026-04-20 21:45Z"
ASKED = "2026-04-22T03:00:00"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, TOLD_UTC),
        ({"query_time": f"{ASKED}Z"}, TOLD_UTC),
        ({"timezone": "UTC"}, TOLD_UTC),
        ({"query_time": f"{ASKED}+09:00"}, "2026-04-21 06:45"),
        ({"timezone": "Asia/Tokyo"}, "2026-04-21 06:45"),
        ({"viewer": {"timezone": "Asia/Kolkata"}}, "2026-04-21 03:15"),
        ({"viewer": {"timezone": "Asia/Kolkata"}, "query_time": f"{ASKED}+09:00"}, "2026-04-21 03:15"),
        ({"viewer": {"timezone": "Asia/Kolkata"}, "timezone": "America/St_Johns"}, "2026-04-20 19:15"),
        ({"query_time": f"{ASKED}Z", "timezone": "Asia/Tokyo"}, "2026-04-21 06:45"),
    ],
)
async def test_text_tells_times_in_the_zone_of_the_asker(memory: Memory, fields: dict[str, Any], told: str) -> None:
    await memory.ingest(ORCHIDS, context="home")
    answer = await memory.retrieve("When did I water the orchids?", **fields)
    assert answer.text.startswith(f"[1] home · general · message · Mio · {told} · id orchids\n")
    timestamp = answer.results[0].timestamp
    assert timestamp is not None
    assert timestamp.isoformat() == "2026-04-20T21:45:00+00:00", "JSON gives UTC"
    dated = await memory.retrieve("When did I water the orchids?", template={"result": "{date}|{text}"}, **fields)
    assert dated.text.startswith(f"{told}|I watered the orchids.")


async def test_the_proof_of_a_chain_has_the_time_of_the_asker(memory: Memory) -> None:
    said = "The kiln cracked because the damper was shut."
    await memory.ingest({"id": "k", "text": said, "speaker": "Mio", "timestamp": "2026-04-20T21:45:00Z"})
    answer = await memory.retrieve("Why did the kiln crack?", timezone="Asia/Tokyo")
    assert "Mio · general · 2026-04-21 06:45)" in answer.text
    assert "2026-04-20" not in answer.text


async def test_today_is_a_day_of_the_zone(memory: Memory) -> None:
    await memory.ingest(ORCHIDS, {"id": "old", "text": "The garden.", "timestamp": "2026-01-10T15:00:00Z"})
    for zone, day in (("Asia/Tokyo", "today"), ("America/New_York", "yesterday"), ("Pacific/Kiritimati", "yesterday")):
        for asked in ("today", "yesterday"):
            answer = await memory.retrieve(
                f"What happened {asked}?", query_time="2026-04-21T10:00:00Z", timezone=zone, explain=True
            )
            assert answer.time is not None
            assert answer.time.nothing is (asked != day), (zone, asked)


async def test_a_day_on_which_clocks_change_is_as_long_as_it_was(memory: Memory) -> None:
    hours = [f"2026-03-{hour}:30:00Z" for hour in ("28T22", "28T23", "29T21", "29T22")]
    await memory.ingest(*({"id": hour, "text": f"Round {n}.", "timestamp": hour} for n, hour in enumerate(hours)))
    asked = {"query": "What happened yesterday?", "query_time": "2026-03-30T10:00:00Z"}
    berlin = await memory.retrieve(**asked, timezone="Europe/Berlin", limit=10)
    assert {result.id for result in berlin.results[:2]} == set(hours[1:3]), "23 hours: from 23:00Z to 22:00Z"
    assert berlin.time is not None
    assert [str(at)[:16] for at in (berlin.time.start, berlin.time.end)] == ["2026-03-28 23:00", "2026-03-29 22:00"]
    offset = await memory.retrieve(**asked | {"query_time": "2026-03-30T12:00:00+02:00"}, limit=10)
    assert {result.id for result in offset.results[:3]} == set(hours[:3]), "an offset alone knows no change"


@pytest.mark.parametrize("zone", ["Europe/Berlim", "", "../etc/passwd", "Europe", "CEST", "x" * 5000, "a\0b", "\ud800"])
@pytest.mark.parametrize("where", ["timezone", "viewer.timezone"])
def test_a_zone_that_does_not_exist_is_refused(zone: str, where: str) -> None:
    fields: dict[str, Any] = {"timezone": zone} if where == "timezone" else {"viewer": {"timezone": zone}}
    with pytest.raises(ValidationError) as refused:
        RetrieveRequest.model_validate({"query": "q", **fields})
    (problem,) = describe(refused.value.errors())
    assert problem.field == where
    assert problem.problem == "is no time zone of the IANA database"
    assert "Europe/Berlin" in problem.fix


async def test_the_last_instant_has_an_answer_in_every_zone(memory: Memory) -> None:
    await memory.ingest({"id": "end", "text": "The orchid blooms.", "timestamp": "9999-12-31T23:30:00Z"})
    asked = {"query_time": "9999-12-31T23:59:00Z", "timezone": "Asia/Tokyo"}
    answer = await memory.retrieve("What happened to the orchid today?", **asked)
    assert answer.degraded == ()
    assert "9999-12-31 23:30Z" in answer.text
