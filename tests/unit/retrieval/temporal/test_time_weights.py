"""What the time of a question makes of items: those of a named time are marked, others are boosted or stay."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_retrieval.temporal.query_analyzer import TimeAnalysis, analyse_time
from vicw_retrieval.temporal.recurrence import Recurrence
from vicw_retrieval.temporal.time_weights import Moment, TimeFit, Weight, weigh

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)
DAY = timedelta(days=1)


def turn(step: int, flow: str = "f", context: str = "c", **fields: object) -> Moment:
    at = NOW + timedelta(minutes=step)
    return Moment(at, context, arrival=step, flow_id=flow, flow_step=step, **fields)  # type: ignore[arg-type]


def test_items_inside_the_span_are_boosted_and_others_not_lowered() -> None:
    reading = analyse_time("Which bug did we fix yesterday?", NOW)
    inside, outside, unknown = weigh(reading, [Moment(NOW - DAY), Moment(NOW - 2 * DAY), Moment()])
    assert inside == Weight(TimeFit.INSIDE, 1 + 0.5 * 0.9, named=0.9)
    assert outside == Weight(TimeFit.OUTSIDE, 1.0)
    assert unknown == Weight(TimeFit.UNKNOWN, 1.0)


def test_the_end_of_a_span_is_not_in_it() -> None:
    reading = analyse_time("Which bug did we fix on 2026-03-04?", NOW)
    start = datetime(2026, 3, 4, tzinfo=UTC)
    found = weigh(reading, [Moment(start), Moment(start + DAY)])
    assert [weight.fit for weight in found] == [TimeFit.INSIDE, TimeFit.OUTSIDE]


def test_a_question_with_only_a_time_leaves_no_item_out() -> None:
    reading = analyse_time("What did we discuss yesterday?", NOW)
    weights = weigh(reading, [Moment(NOW - DAY), Moment(NOW), Moment()])
    assert [(weight.factor, weight.named) for weight in weights] == [(1 + 0.5 * 0.9, 0.9), (1.0, 0.0), (1.0, 0.0)]


def day(at: datetime, days: float = 1) -> tuple[datetime, datetime]:
    return at, at + timedelta(days=days)


MARCH_4 = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "is_inside"),
    [
        (Moment(MARCH_4 + DAY, stated=(day(MARCH_4),), is_told=False), True),
        (Moment(MARCH_4, stated=(day(MARCH_4 - DAY),), is_told=False), False),
        (Moment(MARCH_4, stated=(day(MARCH_4 - DAY),)), True),  # one of its statements gives no time
        (Moment(None, stated=(day(MARCH_4 - DAY), day(MARCH_4)), is_told=False), True),
        (Moment(None, stated=(day(MARCH_4 - timedelta(hours=9)),), is_told=False), True),  # told in another zone
        (Moment(None, stated=(day(MARCH_4 - timedelta(hours=15)),), is_told=False), False),
        (Moment(None, stated=(day(MARCH_4 - 14 * DAY, 28),), is_told=False), False),  # a month is of none of its days
        (Moment(None, stated=(day(datetime.max.replace(tzinfo=UTC) - DAY),), is_told=False), False),
    ],
)
def test_stated_times_go_before_the_time_of_telling(moment: Moment, is_inside: bool) -> None:
    (weight,) = weigh(analyse_time("Which bug did we fix on 2026-03-04?", NOW), [moment])
    assert (weight.fit is TimeFit.INSIDE, weight.named > 0) == (is_inside, is_inside)


def test_recurring_days_and_hours_are_compared_with_each_time() -> None:
    mondays = TimeAnalysis(recurrence=Recurrence(UTC, frozenset({0})))
    hours = TimeAnalysis(recurrence=Recurrence(UTC, since=time(14), until=time(16)))
    monday = datetime(2026, 3, 2, 15, tzinfo=UTC)
    told, stated = Moment(monday), Moment(monday + DAY, stated=(day(monday.replace(hour=0)),), is_told=False)
    assert [weight.fit.value for weight in weigh(mondays, [told, stated, Moment(monday + DAY)])] == [
        *("inside", "inside", "outside")
    ]
    assert [weight.fit.value for weight in weigh(hours, [told, stated])] == ["inside", "outside"], "a day is no hour"


def test_open_time_spans_intersect_and_closed_ones_unite() -> None:
    both = analyse_time("Who left after March 2024 and before June 2024?", NOW)
    days = [Moment(datetime(2024, month, 9, tzinfo=UTC)) for month in (3, 4, 7)]
    assert [weight.fit.value for weight in weigh(both, days)] == ["outside", "inside", "outside"]
    either = analyse_time("Who left in March 2024 or in July 2024?", NOW)
    assert [weight.fit.value for weight in weigh(either, days)] == ["inside", "outside", "inside"]


def test_after_an_event_the_flow_decides_and_nearer_turns_weigh_more() -> None:
    reading = analyse_time("What happened after the explosion?", NOW)
    event = turn(5)
    items = [turn(4), event, turn(6), turn(10), turn(7, own_step=1), turn(9, "g"), turn(3, "g"), turn(8, context="d")]
    found = weigh(reading, items, {reading.event_references[0]: event})
    assert [weight.fit.value for weight in found] == [
        *("outside", "inside", "inside", "inside"),
        *("outside", "inside", "outside", "unknown"),
    ]
    assert found[2].factor == 1 + 0.5 * 0.9
    assert found[3].factor == pytest.approx(1 + 0.5 * 0.9 * 0.5)


def test_items_before_and_during_an_event_are_weighed_by_direction() -> None:
    before = analyse_time("What happened before the explosion?", NOW)
    event = turn(5)
    found = weigh(before, [turn(4), turn(6)], {before.event_references[0]: event})
    assert [weight.fit.value for weight in found] == ["inside", "outside"]
    during = analyse_time("Who ran during the explosion?", NOW)
    found = weigh(during, [event, turn(6), turn(20)], {during.event_references[0]: event})
    assert found[0].factor == found[1].factor > found[2].factor > 1


def test_an_event_without_a_match_changes_no_weight() -> None:
    reading = analyse_time("What happened after the explosion?", NOW)
    assert weigh(reading, [turn(1), Moment()]) == [Weight(TimeFit.UNKNOWN, 1.0)] * 2
    assert weigh(TimeAnalysis(), [turn(1)]) == [Weight(TimeFit.UNKNOWN, 1.0)]


@given(
    st.sampled_from(
        ["after the storm yesterday", "last week", "Ana in 2025 before the storm", "what was there in May?"]
    ),
    st.lists(
        st.builds(
            Moment,
            st.none() | st.datetimes(timezones=st.just(UTC)),
            st.sampled_from("cd"),
            st.none() | st.integers(0, 9),
            st.none() | st.sampled_from("fg"),
            st.none() | st.integers(0, 9),
            st.none() | st.integers(0, 9),
        ),
        min_size=1,
    ),
    st.floats(0, 10),
)
def test_time_weight_factors_are_bounded(query: str, moments: list[Moment], boost: float) -> None:
    reading = analyse_time(query, NOW)
    found = weigh(reading, moments, dict.fromkeys(reading.event_references, moments[0]), boost=boost)
    assert len(found) == len(moments)
    for weight in found:
        assert 1 <= weight.factor <= 1 + boost
        assert weight.fit is TimeFit.INSIDE or weight.factor <= 1
