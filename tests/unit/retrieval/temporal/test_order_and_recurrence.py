"""An order over time, days counted from an event, and times that come again."""

from __future__ import annotations

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from vicw_retrieval.temporal.event_references import DayOffset
from vicw_retrieval.temporal.order import OrderEnd
from vicw_retrieval.temporal.query_analyzer import analyse_time
from vicw_retrieval.temporal.recurrence import Recurrence

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "end", "count"),
    [
        ("What was the first thing I cooked in March?", OrderEnd.FIRST, 1),
        ("When did we first meet?", OrderEnd.FIRST, 1),
        ("When did I last see the dentist?", OrderEnd.LAST, 1),
        ("What is the most recent invoice?", OrderEnd.LAST, 1),
        ("Which were the last three trips?", OrderEnd.LAST, 3),
        ("last 3 entries", OrderEnd.LAST, 3),
        ("What happened first in March?", OrderEnd.FIRST, 1),
        ("Who came last?", OrderEnd.LAST, 1),
        ("Show me the first note.", OrderEnd.FIRST, 1),
        ("first message", OrderEnd.FIRST, 1),
        ("What is my earliest note on the boat?", OrderEnd.FIRST, 1),
    ],
)
def test_first_and_last_are_an_order_over_time(query: str, end: OrderEnd, count: int) -> None:
    order = analyse_time(query, NOW).order
    assert order is not None
    assert (order.end, order.count) == (end, count)
    assert query[order.begins :].startswith(order.text)


@pytest.mark.parametrize(
    "query",
    [
        "What is her last name?",
        "What is in the first chapter?",
        "What did I do last week?",
        "What happened last week?",
        "What broke last Tuesday?",
        "first aid kit",
        "Who is the First Knight?",
    ],
)
def test_other_firsts_and_lasts_are_no_order(query: str) -> None:
    assert analyse_time(query, NOW).order is None


@pytest.mark.parametrize(
    ("query", "first", "end"),
    [
        ("What did I do the day before I sold the boat?", -1, 0),
        ("What happened two days after the storm?", 2, 3),
        ("Who came the week after the wedding?", 1, 8),
        ("Where was I around the time of the fire?", -3, 4),
    ],
)
def test_days_are_counted_from_an_event(query: str, first: int, end: int) -> None:
    (reference,) = analyse_time(query, NOW).event_references
    assert reference.offset == DayOffset(first, end)
    assert query[reference.begins :].startswith(reference.text)


def test_days_counted_from_an_event_are_whole_days_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start, end = DayOffset(1, 2).window(datetime(2026, 3, 27, 23, 30, tzinfo=UTC), berlin)
    assert (start, end) == (datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC))


def test_recurring_times_are_on_the_clock_of_the_zone() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    mondays = Recurrence(tokyo, frozenset({0}))
    assert mondays.includes(datetime(2026, 3, 15, 16, tzinfo=UTC))
    assert not mondays.includes(datetime(2026, 3, 16, 16, tzinfo=UTC))
    nights = Recurrence(tokyo, since=time(22), until=time(6))
    assert nights.includes(datetime(2026, 3, 15, 14, tzinfo=UTC))
    assert not nights.includes(datetime(2026, 3, 15, 3, tzinfo=UTC))
