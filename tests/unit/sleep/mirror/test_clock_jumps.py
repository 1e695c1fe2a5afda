"""A clock that was wrong for a while costs the mirror nothing that is stored."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from support.documents.mirror_pages import assert_consistent, everything, mirror_of, pages
from support.stores.memory import Memory, open_memory
from vicw_shared.clock import now, to_us

AHEAD = timedelta(hours=5)


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store, vectors=False) as opened:
        await opened.ingest({"id": "a", "text": "first words"}, {"id": "b", "text": "other words"})
        yield opened


class Clock:
    """The clock of the mirror, ``ahead`` of the engine's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = timedelta(0)
        monkeypatch.setattr("vicw_sleep.mirror.service.now", self.now)

    def now(self) -> datetime:
        return now() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def put_engine_ahead(store: Path, since: datetime) -> None:
    """Have what has changed since an instant carry the times of an engine whose clock was ahead."""
    with sqlite3.connect(store / "graph.sqlite3") as connection:
        moved = (to_us(AHEAD + since) - to_us(since), to_us(since))
        connection.execute("UPDATE passage_change SET at = at + ? WHERE at >= ?", moved)
    connection.close()


async def assert_equals_fresh_build(memory: Memory, tmp_path: Path) -> None:
    """What a run leaves is what a new mirror would be."""
    await mirror_of(memory, tmp_path / "fresh").build()
    assert pages(tmp_path / "m") == pages(tmp_path / "fresh")
    assert_consistent(tmp_path / "m")


async def test_a_clock_ahead_during_a_sync_hides_no_later_changes(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    clock.ahead = AHEAD
    await memory.ingest({"id": "b", "text": "more words"})
    await mirror.sync()
    clock.ahead = timedelta(0)
    await memory.ingest({"id": "a", "text": "changed words"}, {"id": "c", "text": "new words"})
    status = await mirror.status()
    assert status is not None
    assert status.rebuild_reason == "the clock was set back; the next run rebuilds it"
    assert (await mirror.sync()).built, "what was looked at by a wrong clock is not believed"
    text = everything(tmp_path / "m")
    assert "changed words" in text
    assert "new words" in text
    assert not (await mirror.sync()).built, "it is built once"
    await memory.ingest({"id": "d", "text": "later words"})
    await mirror.sync()
    await assert_equals_fresh_build(memory, tmp_path)


async def test_items_expired_by_a_clock_ahead_return_to_the_mirror(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    ends = now() + timedelta(hours=2)
    await memory.ingest({"id": "e", "text": "passing words", "expires_at": ends.isoformat()})
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    clock.ahead = AHEAD
    await mirror.sync()
    assert "passing words" not in everything(tmp_path / "m")
    clock.ahead = timedelta(0)
    await mirror.sync()
    assert "passing words" in everything(tmp_path / "m")


@pytest.mark.parametrize("looked", [False, True])
async def test_changes_with_future_times_hide_no_later_changes(
    memory: Memory, store: Path, tmp_path: Path, clock: Clock, looked: bool
) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    wrong = now()
    await memory.ingest({"id": "a", "text": "words of tomorrow"}, {"id": "f", "text": "more of tomorrow"})
    put_engine_ahead(store, wrong)
    if looked:
        clock.ahead = AHEAD
        await mirror.sync()
        assert "words of tomorrow" in everything(tmp_path / "m")
        clock.ahead = timedelta(0)
    assert (await mirror.sync()).built
    await memory.ingest({"id": "a", "text": "changed words"}, {"id": "c", "text": "new words"})
    status = await mirror.status()
    assert status is not None
    assert status.rebuild_reason == "data was stored or changed since it was built; the next run rebuilds it"
    await mirror.sync()
    text = everything(tmp_path / "m")
    assert "changed words" in text
    assert "new words" in text
    assert not (await mirror.sync()).built, "what carries a time that is to come is known"
    await memory.ingest({"id": "f", "text": "changed at last"})
    await mirror.sync()
    assert "changed at last" in everything(tmp_path / "m")
    await assert_equals_fresh_build(memory, tmp_path)


async def test_a_clock_set_back_a_few_minutes_causes_no_extra_build(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    for minutes in (4, 0, 9, 0):
        clock.ahead = timedelta(minutes=minutes)
        await memory.ingest({"text": f"words at {minutes}"}, {"id": "a", "text": f"first words at {minutes}"})
        status = await mirror.status()
        assert status is not None and status.rebuild_reason.startswith("data was stored or changed")
        assert (await mirror.sync()).built
        assert not (await mirror.sync()).built
    await assert_equals_fresh_build(memory, tmp_path)


async def test_a_mirror_built_with_a_clock_behind_stays_up_to_date(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    clock.ahead = timedelta(days=-20_000)
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    await memory.ingest({"id": "c", "text": "new words"})
    assert (await mirror.sync()).built
    clock.ahead = timedelta(0)
    assert not (await mirror.sync()).built
    await memory.ingest({"id": "a", "text": "changed words"})
    await mirror.sync()
    await assert_equals_fresh_build(memory, tmp_path)
