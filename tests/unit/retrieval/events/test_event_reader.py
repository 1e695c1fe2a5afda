"""Events are read from what is stored: each once, in order, also what was committed late."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_core.changes import ChangeKind, record_change
from vicw_retrieval.events.service import LATE, EventReader, moment_of
from vicw_shared.clock import now, to_us
from vicw_shared.errors import InvalidInputError
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome
from vicw_shared.uids import make_uid
from vicw_shared.wire.events import Event
from vicw_shared.wire.items import ViewerQuery


def reader(start: datetime | None = None, **viewer: Any) -> EventReader:
    return EventReader("default", ViewerQuery(**viewer), start or now())


async def everything(memory: Memory, reads: EventReader, at: datetime | None = None) -> list[Event]:
    """Return all that is new by now: several reads, if there is more than one has."""
    events = await reads.read(memory.standalone.retrieval_ports(), at or now())
    while reads.is_behind:
        events += await reads.read(memory.standalone.retrieval_ports(), at or now())
    return events


async def test_what_is_stored_changed_and_retracted_is_told_once(memory: Memory) -> None:
    await memory.ingest({"id": "old", "text": "Before anybody watched."})
    reads = reader()
    assert await everything(memory, reads) == []
    first = await memory.ingest({"id": "a", "text": "The pier is closed."}, {"text": "A storm comes."})
    stored = await everything(memory, reads)
    assert [(one.kind, one.uid, one.context) for one in stored] == [
        ("stored", item.uid, "ctx") for item in sorted(first.items, key=lambda item: item.uid)
    ]
    assert await everything(memory, reads) == []
    changed = await memory.ingest({"id": "a", "text": "The pier is open."})
    assert [(one.kind, one.uid) for one in await everything(memory, reads)] == [("changed", changed.items[0].uid)]
    await memory.retract("a", "old")
    (retracted,) = await everything(memory, reads)
    assert (retracted.kind, retracted.count, retracted.uid, retracted.context) == ("retract", 2, None, None)
    assert "pier" not in "".join(one.model_dump_json() for one in (*stored, retracted))


async def test_a_reader_resumes_behind_an_event(memory: Memory) -> None:
    reads = reader(now() - timedelta(hours=1))
    await memory.ingest(*({"text": f"Boat {number} sails."} for number in range(4)))
    events = await everything(memory, reads)
    again = await everything(memory, reader(moment_of(events[1].id, "after")))
    assert [one.id for one in again] == [one.id for one in events], "they are of one moment, and stay the same"
    assert await everything(memory, reader(moment_of(events[1].id, "after") + timedelta(seconds=1))) == []


async def test_more_than_a_page_is_read_in_order_and_whole(memory: Memory) -> None:
    start = now()
    await memory.ingest(*({"text": f"Boat {number} sails."} for number in range(700)))
    await memory.ingest(*({"text": f"Barge {number} sails."} for number in range(700)))
    reads = reader(start)
    first = await reads.read(memory.standalone.retrieval_ports(), now())
    assert reads.is_behind and len(first) < 700
    events = [*first, *await everything(memory, reads)]
    assert len({one.uid for one in events}) == len(events) == 1400
    assert [one.at for one in events] == sorted(one.at for one in events)


async def test_a_reader_that_is_behind_is_told_of_nothing_later_than_what_it_has_yet_to_get(memory: Memory) -> None:
    start = now()
    for name in ("Boat", "Barge"):
        await memory.ingest(*({"text": f"{name} {number} sails."} for number in range(700)))
    later = now() + timedelta(minutes=5)

    async def log(transaction: GraphTransaction) -> None:
        for second in range(600):
            at = later + timedelta(seconds=second)
            await record_change(transaction, "default", ChangeKind.RETRACT, 1, key=None, at=at)

    await memory.standalone.graph.write("default", "ctx", log)
    reads, told, behind = reader(start), list[Event](), True
    while behind:
        told += await reads.read(memory.standalone.retrieval_ports(), now())
        behind = reads.is_behind
    assert [one.at for one in told] == sorted(one.at for one in told), "or who resumes behind one would skip others"
    assert (len(told), len({one.id for one in told})) == (2000, 2000)


async def test_what_was_committed_late_is_told_later(memory: Memory) -> None:
    start = now()
    reads, unseen = reader(start), reader(start)
    await memory.ingest({"id": "a", "text": "The ferry is late."})
    at = start + timedelta(seconds=40)  # as if its transaction had taken so long
    for reading, until in ((reads, at), (unseen, at + LATE)):
        assert [len(await everything(memory, reading, until)) for _ in range(3)] == [1, 0, 0]
    late = await memory.ingest({"id": "b", "text": "The ferry is full."})
    seconds = [timedelta(seconds=second) for second in range(16)]
    told = [one.uid for later in seconds for one in await everything(memory, reads, at + later)]
    assert told == [late.items[0].uid], "the last minute is read again, now and then"
    assert [one for later in seconds for one in await everything(memory, unseen, at + LATE + later)] == []


async def test_what_comes_while_a_reader_is_held_up_is_told_however_long_that_takes(memory: Memory) -> None:
    start, minutes = now(), timedelta(minutes=10)
    reads = reader(start)
    assert await everything(memory, reads, start) == []
    stored = await memory.ingest({"text": "The ferry is full."})
    assert [one.uid for one in await everything(memory, reads, start + minutes)] == [stored.items[0].uid]


async def test_what_was_committed_late_is_told_to_who_is_held_up(memory: Memory) -> None:
    start = now()
    reads = reader(start)
    for seconds in (25, 50):
        assert await everything(memory, reads, start + timedelta(seconds=seconds)) == []
    late = await memory.ingest({"text": "The ferry is full."})  # as if its transaction had taken 50 seconds
    told = await everything(memory, reads, start + timedelta(minutes=10))
    assert [one.uid for one in told] == [late.items[0].uid]


async def test_a_viewer_gets_the_events_of_visible_items_alone(memory: Memory) -> None:
    start = now()
    hidden = {"text": "Una is ill.", "about": ["Una"], "sensitivity": "personal"}
    answer = await memory.ingest({"id": "open", "text": "The sea is calm."}, hidden, {"id": "gone", "text": "Rain."})
    await memory.retract("gone")
    assert [one.uid for one in await everything(memory, reader(start, viewer="Ivo"))] == [answer.items[0].uid]
    assert {one.kind for one in await everything(memory, reader(start))} == {"stored", "retract"}
    own = await everything(memory, reader(start, viewer="Una"))
    assert {one.uid for one in own} == {item.uid for item in answer.items[:2]}


async def test_steps_of_the_sleep_cycle_are_told_and_refused_ones_are_not(memory: Memory) -> None:
    start, graph = now(), memory.standalone.graph
    step = MaintenanceStep(
        id=make_uid("step"),
        tenant="default",
        context="ctx",
        task="consolidate",
        outcome=Outcome.DONE,
        at=start + timedelta(seconds=1),
        subject=make_uid("macro"),
        details={"sources": 7},
    )
    others = [replace(step, id="r", outcome=Outcome.REFUSED), replace(step, id="o", tenant="other")]

    async def log(transaction: GraphTransaction) -> None:
        for one in (step, *others):
            await transaction.log_step(one)
        await record_change(transaction, "default", ChangeKind.ERASE, 3, key="k", at=start + timedelta(seconds=2))

    await graph.write("default", "ctx", log)
    reads = reader(start)
    told = await everything(memory, reads)
    assert [(one.kind, one.count, one.uid) for one in told] == [("consolidate", 7, step.subject), ("erase", 3, None)]
    assert told[0].id == f"{to_us(step.at)}-{step.id}"
    undone = replace(step, outcome=Outcome.UNDONE, at=start + timedelta(seconds=3))

    async def undo(transaction: GraphTransaction) -> None:
        await transaction.log_step(undone)

    await graph.write("default", "ctx", undo)
    assert [(one.kind, one.uid) for one in await everything(memory, reads)] == [("undo", step.subject)]


@pytest.mark.parametrize("wrong", ["", "yesterday", "12", "-1-a", "1-", "1" * 17 + "-a", "1-a b", "1-é"])
def test_what_is_no_id_of_an_event_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInputError, match="no id of an event"):
        moment_of(wrong, "after")
