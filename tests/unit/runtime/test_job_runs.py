"""A turn leaves a note: what is under way, how far it is, and how it ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from vicw_runtime import job_runs
from vicw_runtime.job_runs import STALE_AFTER, STOPPED, in_progress, record_run, recorded_run
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import ArrivalCount, JobRun, MaintenanceStep

NOW = datetime(2026, 1, 1, 3, tzinfo=UTC)


class FakeJobRuns:
    """Rounds in a list: every note that was made."""

    def __init__(self) -> None:
        self.made: list[JobRun] = []
        self.away = False

    async def step(self, step_id: str) -> MaintenanceStep | None:
        raise NotImplementedError

    async def contexts_with_arrivals(self, minimum: int, *, limit: int) -> list[ArrivalCount]:
        raise NotImplementedError

    async def record_arrivals(self, count: ArrivalCount) -> None:
        raise NotImplementedError

    async def record_job_run(self, job_run: JobRun) -> None:
        if self.away:
            raise UnavailableError("graph", "away")
        self.made.append(job_run)

    async def drop_job_run(self, task: str) -> None:
        raise NotImplementedError

    async def job_runs(self) -> list[JobRun]:
        if self.away:
            raise UnavailableError("graph", "away")
        return list({one.task: one for one in self.made}.values())


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    at = [NOW]
    monkeypatch.setattr(job_runs, "now", lambda: at[0])
    return at


async def run_slice(
    notes: FakeJobRuns, clock: list[datetime], *, first: bool, more: bool = False, failed: bool = False
) -> None:
    async with recorded_run(notes, "dream", first=first) as turn:
        clock[0] += timedelta(minutes=1)
        turn.more, turn.failed = more, failed


async def test_a_job_run_is_recorded_slice_by_slice_until_over(clock: list[datetime]) -> None:
    notes = FakeJobRuns()
    async with recorded_run(notes, "dream", first=True) as turn:
        assert notes.made == [JobRun("dream", NOW, NOW)], "it is told of as soon as it begins"
        assert in_progress(notes.made[-1])
        clock[0] += timedelta(minutes=1)
        turn.more = True
    assert notes.made[-1] == JobRun("dream", NOW, clock[0], 1)
    await run_slice(notes, clock, first=False, more=True)
    await run_slice(notes, clock, first=False)
    assert notes.made[-1] == JobRun("dream", NOW, NOW + timedelta(minutes=3), 3, over=True)
    assert not in_progress(notes.made[-1])
    await run_slice(notes, clock, first=False)
    assert (notes.made[-1].slices, notes.made[-1].began) == (1, NOW + timedelta(minutes=3)), "what is over begins anew"


async def test_a_failed_run_is_recorded_and_the_next_begins_anew(clock: list[datetime]) -> None:
    notes = FakeJobRuns()
    await run_slice(notes, clock, first=True, failed=True)
    assert (notes.made[-1].over, notes.made[-1].error) == (False, STOPPED)
    assert not in_progress(notes.made[-1])
    with pytest.raises(KeyError):
        async with recorded_run(notes, "dream", first=False):
            raise KeyError("mistake")
    assert (notes.made[-1].slices, notes.made[-1].error) == (1, STOPPED)


async def test_a_stale_job_run_counts_as_ended_and_a_new_one_begins(clock: list[datetime]) -> None:
    notes = FakeJobRuns()
    await run_slice(notes, clock, first=True, more=True)
    clock[0] += STALE_AFTER
    assert not in_progress(notes.made[-1])
    await run_slice(notes, clock, first=False, more=True)
    assert notes.made[-1].slices == 1


async def test_a_failure_to_record_a_job_run_is_ignored(clock: list[datetime]) -> None:
    notes = FakeJobRuns()
    notes.away = True
    await run_slice(notes, clock, first=True, more=True)
    await run_slice(notes, clock, first=False)
    await record_run(notes, "mirror", NOW)
    assert notes.made == []


async def test_a_job_run_of_one_slice_records_its_end_or_error(clock: list[datetime]) -> None:
    notes = FakeJobRuns()
    clock[0] += timedelta(seconds=2)
    await record_run(notes, "mirror", NOW)
    await record_run(notes, "mirror", NOW, "no room left")
    assert notes.made == [
        JobRun("mirror", NOW, clock[0], 1, over=True),
        JobRun("mirror", NOW, clock[0], 1, error="no room left"),
    ]
