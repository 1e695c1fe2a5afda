"""Instants as readable text, in the zone of who reads it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_shared.clock import format_minute, in_zone

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("instant", "zone", "told"),
    [
        ("2026-03-10T23:30Z", "Asia/Tokyo", "2026-03-11 08:30"),
        ("2026-03-10T20:00Z", "Asia/Kolkata", "2026-03-11 01:30"),
        ("2026-03-10T12:00Z", "Asia/Kathmandu", "2026-03-10 17:45"),
        ("2026-03-29T00:59Z", "Europe/Berlin", "2026-03-29 01:59"),  # then the clock skips an hour
        ("2026-03-29T01:00Z", "Europe/Berlin", "2026-03-29 03:00"),
        ("2026-11-01T05:30Z", "America/New_York", "2026-11-01 01:30-04:00"),  # an hour that comes twice
        ("2026-11-01T06:30Z", "America/New_York", "2026-11-01 01:30-05:00"),
        ("2026-11-01T07:30Z", "America/New_York", "2026-11-01 02:30"),
        ("2026-04-04T15:15Z", "Australia/Lord_Howe", "2026-04-05 01:45+10:30"),  # half an hour comes twice
        ("2026-07-01T12:00Z", "Europe/London", "2026-07-01 13:00"),
        ("2026-01-01T12:00Z", "Europe/London", "2026-01-01 12:00"),
    ],
)
def test_a_time_is_told_in_its_zone(instant: str, zone: str, told: str) -> None:
    assert format_minute(datetime.fromisoformat(instant), ZoneInfo(zone)) == told


def test_utc_is_told_as_such() -> None:
    assert format_minute(datetime(2026, 3, 10, 23, 30, tzinfo=timezone(timedelta(hours=9)))) == "2026-03-10 14:30Z"
    assert format_minute(None) == ""
    assert format_minute(datetime(999, 12, 31, tzinfo=UTC)) == ""


def test_an_instant_without_a_local_year_is_told_in_utc() -> None:
    last = datetime(9999, 12, 31, 23, 30, tzinfo=UTC)
    assert format_minute(last, ZoneInfo("Asia/Tokyo")) == "9999-12-31 23:30Z"
    assert in_zone(last, ZoneInfo("Asia/Tokyo")) == last
    assert format_minute(datetime.min.replace(tzinfo=UTC), ZoneInfo("America/New_York")) == ""


@given(st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)), st.sampled_from(ZONES))
def test_no_two_minutes_are_told_alike(naive: datetime, zone: str) -> None:
    at = naive.replace(tzinfo=UTC)
    told = {format_minute(at + timedelta(minutes=minutes), ZoneInfo(zone)) for minutes in (-60, -30, 0, 30, 60)}
    assert len(told) == 5
