"""What a question says of time is read from its words, seen from when it is asked."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_retrieval.temporal.event_references import EventReference
from vicw_retrieval.temporal.query_analyzer import analyse_time
from vicw_retrieval.temporal.spans import BEGINNING, END, SpanRelation, TimeSpan

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday


def span(query: str, asked_at: datetime = NOW) -> TimeSpan:
    (found,) = analyse_time(query, asked_at).spans
    return found


def at(text: str) -> datetime:
    return {"first": BEGINNING, "last": END}.get(text) or datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "start", "end", "kind"),
    [
        ("What did we discuss 10 minutes ago?", "2026-03-18T15:15", "2026-03-18T15:25", SpanRelation.AROUND),
        ("What broke an hour ago?", "2026-03-18T14:00", "2026-03-18T15:00", SpanRelation.AROUND),
        ("What broke two days ago?", "2026-03-16", "2026-03-17", SpanRelation.ON),
        ("What broke 8 days ago?", "2026-03-08", "2026-03-13", SpanRelation.ON),
        ("What broke yesterday?", "2026-03-17", "2026-03-18", SpanRelation.ON),
        ("What did we talk about yesterday?", "2026-03-17", "2026-03-18", SpanRelation.ON),
        ("Who called this morning?", "2026-03-18T05:00", "2026-03-18T12:00", SpanRelation.ON),
        ("Who called yesterday evening?", "2026-03-17T17:00", "2026-03-18", SpanRelation.ON),
        ("Who called last night?", "2026-03-17T18:00", "2026-03-18T06:00", SpanRelation.ON),
        ("Who called on Monday morning?", "2026-03-16T05:00", "2026-03-16T12:00", SpanRelation.ON),
        ("What did Ana say last Tuesday?", "2026-03-17", "2026-03-18", SpanRelation.ON),
        ("What did Ana say on Wednesday?", "2026-03-11", "2026-03-12", SpanRelation.ON),
        ("What did Ana say last week?", "2026-03-09", "2026-03-16", SpanRelation.ON),
        ("What did Ana say last weekend?", "2026-03-14", "2026-03-16", SpanRelation.ON),
        ("What will Ana do next week?", "2026-03-23", "2026-03-30", SpanRelation.ON),
        ("What did we fix in March?", "2026-03-01", "2026-04-01", SpanRelation.ON),
        ("What did we fix in April?", "2025-04-01", "2025-05-01", SpanRelation.ON),
        ("What did we fix in March 2024?", "2024-03-01", "2024-04-01", SpanRelation.ON),
        ("What did we fix in early May?", "2025-05-01", "2025-05-11", SpanRelation.ON),
        ("What broke on 2026-03-04?", "2026-03-04", "2026-03-05", SpanRelation.ON),
        ("Who came on May 7th?", "2025-05-07", "2025-05-08", SpanRelation.ON),
        ("Who came on 7 July, 2023?", "2023-07-07", "2023-07-08", SpanRelation.ON),
        ("What did he do in 2023?", "2023-01-01", "2024-01-01", SpanRelation.ON),
        ("What did he tell from 2023?", "2023-01-01", "2024-01-01", SpanRelation.ON),
        ("What changed since Monday?", "2026-03-16", "last", SpanRelation.AFTER),
        ("What changed after 2023?", "2024-01-01", "last", SpanRelation.AFTER),
        ("What changed after March 3, 2024?", "2024-03-04", "last", SpanRelation.AFTER),
        ("What did we plan before Christmas?", "first", "2025-12-25", SpanRelation.BEFORE),
        ("Who led until June?", "first", "2025-07-01", SpanRelation.BEFORE),
        ("Who led before June 2024?", "first", "2024-06-01", SpanRelation.BEFORE),
        ("What broke between March and May?", "2025-03-01", "2025-06-01", SpanRelation.ON),
        ("What broke between March and May 2024?", "2024-03-01", "2024-06-01", SpanRelation.ON),
        ("What broke between November and February?", "2025-11-01", "2026-03-01", SpanRelation.ON),
        ("What broke from Monday to Wednesday?", "2026-03-09", "2026-03-12", SpanRelation.ON),
        ("What broke a few days ago?", "2026-03-11T15:30", "2026-03-16T15:30", SpanRelation.AROUND),
        ("What did Max do recently?", "2026-03-04T15:30", "2026-03-18T15:30", SpanRelation.AROUND),
        ("What broke in the past month?", "2026-02-18T15:30", "2026-03-18T15:30", SpanRelation.ON),
        ("What broke over the last 3 weeks?", "2026-02-25T15:30", "2026-03-18T15:30", SpanRelation.ON),
        ("Where did John go last summer?", "2025-06-01", "2025-09-01", SpanRelation.ON),
        ("Where did John go in the winter of 2022?", "2022-12-01", "2023-03-01", SpanRelation.ON),
        ("What did he do the week before August 3, 2023?", "2023-07-27", "2023-08-03", SpanRelation.ON),
        ("What did he do last weekend before April 10, 2023?", "2023-04-03", "2023-04-10", SpanRelation.ON),
        ("What was there around May 2024?", "2024-03-31", "2024-07-02", SpanRelation.AROUND),
    ],
)
def test_time_expressions_become_time_spans(query: str, start: str, end: str, kind: SpanRelation) -> None:
    found = span(query)
    assert (found.start, found.end, found.kind) == (at(start), at(end), kind)
    assert query[found.begins :].startswith(found.text)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("What did we discuss half an hour ago?", "2026-03-18T14:45", "2026-03-18T15:15"),
        ("What did we discuss an hour and a half ago?", "2026-03-18T13:15", "2026-03-18T14:45"),
        ("What did we discuss 10 mins ago?", "2026-03-18T15:15", "2026-03-18T15:25"),
        ("What did we discuss a min ago?", "2026-03-18T15:27", "2026-03-18T15:30"),
        ("What did we discuss 2 hrs ago?", "2026-03-18T12:30", "2026-03-18T14:30"),
        ("What did we discuss an hr ago?", "2026-03-18T14:00", "2026-03-18T15:00"),
        ("What did I say 60 secs ago?", "2026-03-18T15:27", "2026-03-18T15:30"),
        ("What did I say thirty, no, 120 seconds ago?", "2026-03-18T15:26", "2026-03-18T15:30"),
        ("What broke two weeks ago?", "2026-02-28T08:07:30", "2026-03-07T15:52:30"),
        ("What broke a fortnight ago?", "2026-02-28T08:07:30", "2026-03-07T15:52:30"),
        ("What changed in march?", "2026-03-01", "2026-04-01"),
        ("What changed in march of 2024?", "2024-03-01", "2024-04-01"),
        ("What changed last may?", "2025-05-01", "2025-06-01"),
        ("What changed since march?", "2026-03-01", "last"),
        ("What changed since March 16?", "2026-03-16", "last"),
        ("What changed since march 3rd, 2024?", "2024-03-03", "last"),
        ("Who led until March 16?", "first", "2026-03-17"),
        ("What was at the end of march?", "2026-03-21", "2026-04-01"),
        ("What did we do Tuesday?", "2026-03-17", "2026-03-18"),
        ("what happened friday", "2026-03-13", "2026-03-14"),
        ("What did we discuss at 14:30?", "2026-03-18T14:15", "2026-03-18T14:45"),
        ("What was said at 3pm?", "2026-03-18T14:45", "2026-03-18T15:15"),
        ("What did we discuss yesterday at 3pm?", "2026-03-17T14:45", "2026-03-17T15:15"),
        ("What did we discuss at 9:15 am on Monday?", "2026-03-16T09:00", "2026-03-16T09:30"),
        ("What did we discuss yesterday at 2:00 pm?", "2026-03-17T13:45", "2026-03-17T14:15"),
        ("What was said at 12:30 am?", "2026-03-18T00:15", "2026-03-18T00:45"),
        ("What did we discuss last night at 11pm?", "2026-03-17T22:45", "2026-03-17T23:15"),
        ("What did we discuss at 2 am last night?", "2026-03-18T01:45", "2026-03-18T02:15"),
        ("What did we discuss this morning at 9am?", "2026-03-18T08:45", "2026-03-18T09:15"),
        ("What did we discuss this morning at 9pm?", "2026-03-18T05:00", "2026-03-18T12:00"),
        ("What happened on March 3, 2024, at 14:30?", "2024-03-03T14:15", "2024-03-03T14:45"),
        ("Where did we meet last week at 3pm?", "2026-03-09", "2026-03-16"),
        ("What changed in Q1 2026?", "2026-01-01", "2026-04-01"),
        ("What changed since Q4 of 2025?", "2025-10-01", "last"),
        ("What broke two weeks ago on Monday?", "2026-03-02", "2026-03-03"),
        ("What broke on Monday two weeks ago?", "2026-03-02", "2026-03-03"),
        ("What changed since 2026-03-04?", "2026-03-04", "last"),
    ],
)
def test_colloquial_time_expressions_become_one_span(query: str, start: str, end: str) -> None:
    found = span(query)
    assert (found.start, found.end) == (at(start), at(end))


def test_the_span_grows_with_its_unit() -> None:
    widths = [
        found.end - found.start
        for found in (span(f"what broke 2 {unit}s ago?") for unit in ("minute", "hour", "day", "week", "month", "year"))
    ]
    assert widths == sorted(widths)
    assert len(set(widths)) == len(widths)


@pytest.mark.parametrize(
    "query",
    [
        "You may march on.",
        "What happened in three months?",
        "the second chapter",
        "how long is an hour of video?",
        "Where were the next Winter Olympics?",
        "how do I wait 5 minutes in python?",
        "who wrote 1984?",
        "spring boot configuration",
        "the fall of Rome",
        "may I ask?",
        "They march of course, and may ask.",
        "What happens every Tuesday?",
        "Who sang Ruby Tuesday?",
        "What did Crusoe say about Friday?",
        "When is the standup at 3pm?",
        "What did we discuss at 17:30?",
        "What was the ratio at 3:2?",
        "Which half of an hour?",
        "Q7 2026",
        "",
        "🙂",
    ],
)
def test_phrases_without_a_time_give_no_span(query: str) -> None:
    assert analyse_time(query, NOW).spans == ()


def test_span_confidence_falls_from_dates_to_seasons_to_recently() -> None:
    sure = [span(query).confidence for query in ("on 2026-03-04", "last summer", "recently")]
    assert sure == sorted(sure, reverse=True)
    assert len(set(sure)) == 3
    (found,) = analyse_time("What did she start recently, as mentioned on 3 June, 2023?", NOW).spans
    assert found.text == "on 3 June, 2023", "the vague one says nothing beside it"


def test_days_follow_the_time_zone_of_the_question() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=10)))  # already Thursday
    assert span("yesterday", east).start == datetime(2026, 3, 17, 14, tzinfo=UTC)
    with pytest.raises(ValueError, match="asked_at"):
        analyse_time("yesterday", NOW.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("query", "alone"),
    [
        ("What did we discuss 10 minutes ago?", True),
        ("what happened last Tuesday", True),
        ("What did we talk about yesterday?", True),
        ("Summarise our conversation of last week, please.", True),
        ("What was going on in March 2024?", True),
        ("What changed in March?", True),
        ("What happened yesterday between 2pm and 4:30 pm?", True),
        ("What did we discuss yesterday at 3 p.m.?", True),
        ("What happened yesterday before noon?", True),
        ("What happened to the 3 pumps yesterday?", False),
        ("What did Ben say yesterday?", False),
        ("Which bug did we fix yesterday?", False),
        ("What happened recently?", False),
        ("What happened last week after the explosion?", False),
        ("What did we discuss?", False),
        ("What did the wizard do last week?", False),
        ("", False),
    ],
)
def test_a_question_selecting_only_by_a_time_span_is_marked_alone(query: str, alone: bool) -> None:
    assert analyse_time(query, NOW).alone is alone


@pytest.mark.parametrize(
    ("query", "tells"),
    [
        ("What did we discuss recently?", True),
        ("What happened before the deployment?", True),
        ("What was said when we deployed?", True),
        ("What changed since the deployment?", True),
        ("Why does it crash when the list is empty?", False),
        ("What did we discuss?", False),
        ("What did the wizard do last week?", False),
    ],
)
def test_by_time_is_true_only_without_other_conditions(query: str, tells: bool) -> None:
    assert analyse_time(query, NOW).by_time is tells


WORDS = st.sampled_from(
    "between and from to March May 2024 last week the day before after since until yesterday 10 minutes ago ago in on "
    "Monday morning Christmas eve summer of 31 February explosion when during , ? 9999 years few 0 12 1900 at 3pm 0:05 "
    "today tonight".split()
)
INSTANTS = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))]))


@given(st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=25).map(" ".join)), INSTANTS)
def test_spans_of_any_question_are_ordered_and_inside_the_text(query: str, asked_at: datetime) -> None:
    reading = analyse_time(query, asked_at)
    told: list[TimeSpan | EventReference] = [*reading.spans, *reading.event_references]
    places = [(found.begins, found.begins + len(found.text)) for found in told]
    for begins, ends in places:
        assert 0 <= begins < ends <= len(query)
    spans = places[: len(reading.spans)]
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    for span in reading.spans:
        assert span.start < span.end
        assert 0 < span.confidence <= 1


@pytest.mark.parametrize(
    "part",
    ["a", "after ", "the day before ", "when the ", "between March and ", "last ", "1", " ", "what ", "after the a"],
)
def test_hostile_questions_are_analysed_within_seconds(part: str) -> None:
    begun = time.thread_time()
    analyse_time(part * 200_000, NOW)
    assert time.thread_time() - begun < 5
