"""Dates and relative times are resolved against the item's own time, with the precision of their words."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.language.times.reader import times_in

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "at", "precision"),
    [
        ("It broke yesterday.", "2026-03-17", "day"),
        ("We met the day before yesterday", "2026-03-16", "day"),
        ("I saw him last night", "2026-03-17T18:00", "part"),
        ("The deploy is tomorrow", "2026-03-19", "day"),
        ("two weeks ago the disk died", "2026-03-04", "day"),
        ("A couple of days ago", "2026-03-16", "day"),
        ("an hour ago", "2026-03-18T14:30", "hour"),
        ("half an hour ago", "2026-03-18T15:00", "minute"),
        ("it starts in half an hour", "2026-03-18T16:00", "minute"),
        ("5 minutes ago", "2026-03-18T15:25", "minute"),
        ("three months ago", "2025-12-18", "month"),
        ("a year ago", "2025-03-18", "year"),
        ("see you in two days", "2026-03-20", "day"),
        ("10 days from now", "2026-03-28", "day"),
        ("We moved last Friday.", "2026-03-13", "day"),
        ("Last Wednesday it rained", "2026-03-11", "day"),
        ("next Wednesday", "2026-03-25", "day"),
        ("this Friday", "2026-03-20", "day"),
        ("we met on Monday", "2026-03-16", "day"),
        ("we will meet on Monday", "2026-03-23", "day"),
        ("last week", "2026-03-09", "week"),
        ("next weekend", "2026-03-28", "day"),
        ("last month", "2026-02-01", "month"),
        ("this year", "2026-01-01", "year"),
        ("released on 2024-02-29.", "2024-02-29", "day"),
        ("at 2025-12-24T18:00:00Z", "2025-12-24", "day"),
        ("on 3 March 2024", "2024-03-03", "day"),
        ("the 3rd of March, 2024", "2024-03-03", "day"),
        ("March 3rd, 2024", "2024-03-03", "day"),
        ("on Dec 24", "2025-12-24", "day"),
        ("we will leave on Dec. 24", "2026-12-24", "day"),
        ("in March 2019", "2019-03-01", "month"),
        ("closed since March 16", "2026-03-16", "day"),
        ("it was closed until March 3rd, 2026", "2026-03-03", "day"),
        ("it was closed since March", "2026-03-01", "month"),
        ("she left in April", "2025-04-01", "month"),
        ("born in 1987", "1987-01-01", "year"),
    ],
)
def test_time_expressions_are_resolved_with_their_precision(text: str, at: str, precision: str) -> None:
    (found,) = times_in(text, NOW)
    assert (found.start, found.precision) == (datetime.fromisoformat(at).replace(tzinfo=UTC), precision)


@pytest.mark.parametrize(
    "text",
    [
        "You may march on.",
        "in 5 minutes of video",
        "I have 3 days",
        "soon, or the other day",
        "on 30 February 2024",
        "version 2024.1",
        "call me on Sun",
        "in the second month of the year",
        "",
    ],
)
def test_text_without_a_plain_time_gives_no_times(text: str) -> None:
    assert list(times_in(text, NOW)) == []


def test_several_times_come_in_order_with_their_spans() -> None:
    text = "We moved last Friday, and on 2 May 2024 we had signed."
    assert [text[time.begins : time.ends] for time in times_in(text, NOW)] == ["last Friday", "2 May 2024"]


def test_the_time_zone_is_that_of_the_item() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=10)))  # already Thursday
    (found,) = times_in("yesterday", east)
    assert found.start == datetime(2026, 3, 18, tzinfo=east.tzinfo)


@given(st.text(max_size=80), st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9990, 1, 1)))
def test_times_in_accepts_any_text_at_any_time(text: str, now: datetime) -> None:
    list(times_in(f"last month {text} 3 years ago {text} 9999 years ago", now.replace(tzinfo=UTC)))
