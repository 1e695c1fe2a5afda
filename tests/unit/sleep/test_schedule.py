"""When something is due: as cron has it, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from vicw_runtime.schedule.cron import Schedule
from vicw_runtime.schedule.jobs import SETTING, ScheduledJob
from vicw_shared.errors import SettingsError
from vicw_shared.settings.document import CONCERNS
from vicw_sleep.schedule.ticks import Tick

BEGAN = datetime(2026, 1, 1, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)


def nightly(began: datetime = BEGAN) -> Schedule:
    return Schedule(SETTING[ScheduledJob.CONSOLIDATION], "0 3 * * *", began)


def test_a_schedule_is_due_once_a_night() -> None:
    schedule = nightly()
    dues = [schedule.due(BEGAN + n * HOUR / 2) for n in range(60)]
    assert [n for n, due in enumerate(dues) if due] == [2, 50]


def test_a_due_time_before_the_start_is_not_caught_up() -> None:
    assert not nightly(BEGAN + 2 * HOUR).due(BEGAN + 3 * HOUR)


def test_time_to_the_next_run_is_correct_in_any_time_zone() -> None:
    east = timezone(5 * HOUR)
    assert nightly(BEGAN.astimezone(east)).rest((BEGAN + HOUR / 2).astimezone(east)) == HOUR / 2
    assert nightly().rest(BEGAN + 40 * HOUR) == timedelta(0), "it is due"


def test_a_cron_day_and_weekday_must_both_match() -> None:
    schedule = Schedule(SETTING[ScheduledJob.CONSOLIDATION], "0 3 13 * fri", BEGAN)
    assert schedule.rest(BEGAN) == datetime(2026, 2, 13, 3, tzinfo=UTC) - BEGAN


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("*/20 * * * *", datetime(2026, 1, 1, 2, 20, tzinfo=UTC)),
        ("5,50 1-3 * * *", datetime(2026, 1, 1, 2, 5, tzinfo=UTC)),
        ("0 22-1 * * *", datetime(2026, 1, 1, 22, tzinfo=UTC)),
        ("0 1/6 * * *", datetime(2026, 1, 1, 7, tzinfo=UTC)),
        ("0 2 * * *", datetime(2026, 1, 2, 2, tzinfo=UTC)),  # not the moment itself
        ("0 3 * * Sun", datetime(2026, 1, 4, 3, tzinfo=UTC)),
        ("0 3 * * 0", datetime(2026, 1, 4, 3, tzinfo=UTC)),
        ("0 3 * * sat-mon/2", datetime(2026, 1, 3, 3, tzinfo=UTC)),
        ("0 3 1 jan,april *", datetime(2026, 1, 1, 3, tzinfo=UTC)),
        ("0 0 29 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
        ("0 0 29 2 fri", datetime(2036, 2, 29, tzinfo=UTC)),
    ],
)
def test_a_schedule_is_due_first_at(expression: str, first: datetime) -> None:
    schedule = Schedule(SETTING[ScheduledJob.CONSOLIDATION], expression, BEGAN)
    assert schedule.rest(BEGAN) == first - BEGAN


def test_a_clock_jump_neither_blocks_nor_repeats_a_schedule() -> None:
    schedule = nightly()
    assert schedule.due(BEGAN + timedelta(days=400)), "once, however many nights there were"
    assert not schedule.due(BEGAN + timedelta(days=400, minutes=1))
    assert not schedule.due(BEGAN)
    assert schedule.due(BEGAN + HOUR), "the night after it was put back"


def test_a_demand_and_the_regular_time_are_one_run() -> None:
    schedule = nightly()
    schedule.demand()
    assert [schedule.due(BEGAN + HOUR) for _ in range(3)] == [True, False, False]


def test_a_demand_is_due_at_once_even_without_a_schedule() -> None:
    schedule = Schedule(SETTING[ScheduledJob.CONSOLIDATION], "never", BEGAN)
    schedule.demand()
    assert schedule.rest(BEGAN) == timedelta(0), "what runs in between gives way to it"
    assert [schedule.due(BEGAN), schedule.due(BEGAN)] == [True, False]
    assert schedule.rest(BEGAN) is None


@pytest.mark.parametrize("never", ["never", " Never "])
def test_a_schedule_may_never_be_due(never: str) -> None:
    schedule = Schedule(SETTING[ScheduledJob.CONSOLIDATION], never, BEGAN)
    assert schedule.rest(BEGAN) is None
    assert not schedule.due(BEGAN + timedelta(days=400))


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "3",
        "@daily",
        "61 * * * *",
        "* * * * * *",
        "0 3 * * x",
        "0 3 * * 7",
        "0 3 * jan-",
        "*/0 * * * *",
        "0 3 31 2 *",
        "-5 * * * *",
        "0 3 0 * *",
    ],
)
def test_an_invalid_schedule_is_refused_with_the_setting_and_an_example(wrong: str) -> None:
    with pytest.raises(SettingsError, match=r"VICW_CONSOLIDATE_SCHEDULE=.*0 3 \* \* \*"):
        Schedule(SETTING[ScheduledJob.CONSOLIDATION], wrong, BEGAN)


def test_schedule_errors_name_settings_that_exist() -> None:
    variables = [f"{one.model_config['env_prefix']}{name.upper()}" for one in CONCERNS for name in one.model_fields]
    assert set(SETTING.values()) <= set(variables)


def test_a_tick_stays_due_until_its_message_can_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = BEGAN
    monkeypatch.setattr("vicw_sleep.schedule.ticks.now", lambda: moment)
    tick = Tick("t", "q", 60, 60, schedule=nightly())
    assert not tick.is_due(0.0)
    moment = BEGAN + HOUR
    assert tick.is_due(1.0)
    tick.due = 61.0  # a message waited
    moment += HOUR
    assert not tick.is_due(2.0)
    assert tick.is_due(61.0), "it is owed still"
    tick.due, tick.owed = 121.0, False
    assert not tick.is_due(200.0)
