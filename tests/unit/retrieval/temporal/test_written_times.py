"""Times as people write them, in a table of forms and their spans, and sentences that only look like times."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from vicw_core.language.times.reader import times_in
from vicw_retrieval.temporal.order import OrderEnd
from vicw_retrieval.temporal.query_analyzer import analyse_time
from vicw_retrieval.temporal.spans import BEGINNING, END

_DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday

with (_DATA / "written_times.tsv").open(encoding="utf-8", newline="") as table:
    WRITTEN = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
NO_TIMES = (_DATA / "no_times.txt").read_text("utf-8").splitlines()


def test_the_tables_are_as_long_as_they_should_be() -> None:
    assert len(WRITTEN) >= 400
    assert len(NO_TIMES) >= 100
    assert {row["language"] for row in WRITTEN} == {"en", "de", "fr", "es", "it", "pt", "zh", "ja"}


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: f"{row['form']} {row['zone']}")
def test_a_written_time_is_its_span(row: dict[str, str]) -> None:
    zone = ZoneInfo(row["zone"])

    def at(text: str, edge: datetime) -> datetime:
        return edge if text == "-" else datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)

    spans = analyse_time(row["form"], datetime.fromisoformat(row["asked_at"]).replace(tzinfo=zone)).spans
    assert [(span.start, span.end, span.kind) for span in spans] == [
        (at(row["start"], BEGINNING), at(row["end"], END), row["relation"])
    ]


@pytest.mark.parametrize(
    "query",
    [
        "What did we talk about on March 10?",
        "Was habe ich am 10. März gemacht?",
        "Qu'est-ce que j'ai fait le 10 mars ?",
        "¿Qué hice el 10 de marzo?",
        "Cos'è successo il 10 marzo?",
        "O que eu fiz no dia 10 de março?",
        "3月10日我做了什么？",
        "3月10日に何をしましたか？",
    ],
)
def test_a_question_for_a_day_alone_is_one_in_every_language(query: str) -> None:
    assert analyse_time(query, NOW).alone


@pytest.mark.parametrize("query", ["Which war began on March 10?", "Der Hund am 10. März?", "3月10日的狗呢？"])
def test_a_word_that_selects_is_seen_in_every_language(query: str) -> None:
    assert not analyse_time(query, NOW).alone


@pytest.mark.parametrize("sentence", NO_TIMES)
def test_what_only_looks_like_a_time_is_none(sentence: str) -> None:
    analysis = analyse_time(sentence, NOW)
    assert (analysis.spans, analysis.recurrence, list(times_in(sentence, NOW))) == ((), None, [])


@pytest.mark.parametrize(
    ("query", "weekdays", "since", "until"),
    [
        ("What do I do on Mondays?", {0}, None, None),
        ("What did we eat every Tuesday?", {1}, None, None),
        ("What did we do at weekends?", {5, 6}, None, None),
        ("Where do I run every Sunday morning?", {6}, time(5), time(12)),
        ("What did I take every evening?", set(), time(17), time(0)),
        ("Was mache ich jeden Freitag?", {4}, None, None),
        ("Was mache ich montags?", {0}, None, None),
        ("¿Qué hago los lunes?", {0}, None, None),
        ("Que fait-on tous les mardis ?", {1}, None, None),
        ("每周五我做什么？", {4}, None, None),
        ("毎週の金曜日に何をしますか？", {4}, None, None),
    ],
)
def test_times_that_come_again(query: str, weekdays: set[int], since: time | None, until: time | None) -> None:
    analysis = analyse_time(query, NOW)
    found = analysis.recurrence
    assert found is not None
    assert analysis.spans == ()
    assert (found.weekdays, found.since, found.until) == (frozenset(weekdays), since, until)
    assert query[found.begins :].startswith(found.text)


@pytest.mark.parametrize(
    ("query", "end"),
    [
        ("Wann war ich das letzte Mal beim Zahnarzt?", OrderEnd.LAST),
        ("Quand ai-je vu Max pour la première fois ?", OrderEnd.FIRST),
        ("¿Cuándo fue la última vez que corrí?", OrderEnd.LAST),
        ("Quando è stata la prima volta?", OrderEnd.FIRST),
        ("Quando foi a última vez?", OrderEnd.LAST),
        ("我第一次见到她是什么时候？", OrderEnd.FIRST),
        ("最後に歯医者に行ったのはいつ？", OrderEnd.LAST),
    ],
)
def test_an_order_over_time_in_other_languages(query: str, end: OrderEnd) -> None:
    order = analyse_time(query, NOW).order
    assert order is not None
    assert order.end == end
    assert query[order.begins :].startswith(order.text)


@pytest.mark.parametrize(
    ("query", "day_first", "month", "day"),
    [
        ("What did I do on 3/5/2025?", None, 3, 5),
        ("What did I do on 3/5/2025?", True, 5, 3),
        ("What did I do on 3/5/2025?", False, 3, 5),
        ("What did I do on 13/5/2025?", False, 5, 13),
        ("Was habe ich im Büro am 3/5/2025 gemacht?", None, 5, 3),
    ],
)
def test_day_and_month_have_the_order_that_is_set_or_of_the_language(
    query: str, day_first: bool | None, month: int, day: int
) -> None:
    (span,) = analyse_time(query, NOW, day_first=day_first).spans
    assert span.start == datetime(2025, month, day, tzinfo=UTC)


def test_a_date_of_the_text_shows_the_order_of_the_others() -> None:
    first, second = analyse_time("What did I do on 3/5/2025 and on 25/12/2024?", NOW, day_first=False).spans
    assert (first.start.month, second.start.month) == (5, 12)


@pytest.mark.parametrize(
    "query",
    [
        "What happened on 30 February 2024?",
        "What happened on 2026-02-30?",
        "What happened on 0000-01-01?",
        "What happened on 31.4.2026?",
        "What happened on 13/13/2026?",
        "What happened on 2月30日?",
    ],
)
def test_a_day_that_does_not_exist_is_no_time(query: str) -> None:
    assert analyse_time(query, NOW).spans == ()


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("What happened at 2:30 on March 29, 2026?", "2026-03-29T01:15", "2026-03-29T01:45"),
        ("What happened between 2 and 3 am on March 29, 2026?", "2026-03-29T01:00", "2026-03-29T02:00"),
        ("What happened at 2:30 on October 26, 2025?", "2025-10-26T00:15", "2025-10-26T01:45"),
        ("What happened between 2 and 3 am on October 26, 2025?", "2025-10-26T00:00", "2025-10-26T02:00"),
        ("What happened after 2 am on October 26, 2025?", "2025-10-26T00:00", "2025-10-26T23:00"),
    ],
)
def test_hours_that_the_clocks_skip_or_repeat_are_times(query: str, start: str, end: str) -> None:
    (span,) = analyse_time(query, datetime(2026, 6, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))).spans
    assert [at.isoformat()[:16] for at in (span.start, span.end)] == [start, end]


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("What happened between March 20 and March 2?", "2026-03-02", "2026-03-21"),
        ("What happened from 2026-03-09 to 2026-03-05?", "2026-03-05", "2026-03-10"),
        ("What happened between the 12th and the 4th of March?", "2026-02-12", "2026-03-05"),
    ],
)
def test_a_span_the_wrong_way_round_is_one(query: str, start: str, end: str) -> None:
    (span,) = analyse_time(query, NOW).spans
    assert [at.date().isoformat() for at in (span.start, span.end)] == [start, end]


@pytest.mark.parametrize("year", [2, 9999])
def test_times_at_the_ends_of_the_calendar_raise_nothing(year: int) -> None:
    for query in ("next year", "10 years ago", "tomorrow", "last week", "in December", "the day before yesterday"):
        analyse_time(f"What happened {query}?", datetime(year, 12, 31, 23, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "start", "precision"),
    [
        ("Gestern habe ich den Ofen geputzt.", "2026-03-17", "day"),
        ("Hace tres días pagué el gas.", "2026-03-15", "day"),
        ("Vendredi dernier, j'ai peint la chaise.", "2026-03-13", "day"),
        ("昨天我洗了车。", "2026-03-17", "day"),
        ("先週の金曜日に医者に行った。", "2026-03-13", "day"),
        ("On the 5th I sold the bike.", "2026-03-05", "day"),
        ("The plumber comes on 4/2/2026.", "2026-04-02", "day"),
        ("We met yesterday at 3pm.", "2026-03-17T15:00", "minute"),
        ("Dentist appointment on Friday at 10:30.", "2026-03-20T10:30", "minute"),
        ("I cancelled the appointment on Friday.", "2026-03-13", "day"),
        ("The inspection is due on 4/9.", "2026-04-09", "day"),
        ("We booked the cabin for the first weekend of April.", "2026-04-04", "week"),
        ("On Valentine's Day we had dinner at home.", "2026-02-14", "day"),
        ("She said to rest until the end of March.", "2026-03-21", "week"),
        ("The shop was closed until Monday.", "2026-03-23", "day"),
        ("Am Morgen des 11. März regnete es.", "2026-03-11T05:00", "part"),
    ],
)
def test_texts_are_read_by_the_same_reader(text: str, start: str, precision: str) -> None:
    time_found = next(times_in(text, NOW))
    assert (time_found.start, time_found.precision) == (datetime.fromisoformat(start).replace(tzinfo=UTC), precision)


@pytest.mark.parametrize(
    "text", ["I have lived here for the last three weeks.", "I run every Tuesday.", "I saw him recently."]
)
def test_lengths_repetitions_and_vague_times_date_no_text(text: str) -> None:
    assert list(times_in(text, NOW)) == []


def test_the_order_of_a_text_is_that_of_its_source() -> None:
    (found,) = times_in("We met on 3/5/2025.", NOW, day_first=True)
    assert (found.start.day, found.start.month) == (3, 5)


def test_upcoming_is_from_now_on() -> None:
    analysis = analyse_time("What are my upcoming appointments?", NOW)
    (span,) = analysis.spans
    assert span.start == NOW
    assert analysis.ahead
    assert not analyse_time("What did I do on Monday?", NOW).ahead
