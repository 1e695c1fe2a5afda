"""Gemini's activity as a page: prompts, answers and times of its cards, whatever the language of the dates."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from support.files.records_of_file import items_in, refusals_in, said, skips_in
from vicw_readers.assistants import activity_page
from vicw_readers.assistants.activity_page import time_of
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Noted, SourceItem


def card(body: str, product: str = "Gemini Apps") -> str:
    cell = "content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1"
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell mdl-cell"><p class="mdl-typography--title">{product}<br></p></div>'
        f'<div class="{cell}">{body}</div><div class="{cell} mdl-typography--text-right"></div>'
        f'<div class="content-cell mdl-cell"><b>Products:</b><br>&emsp;{product}</div></div></div>'
    )


def page(folder: Path, *cards: str, styles: int = 10) -> Path:
    path = folder / "MyActivity.html"
    head = f"<html><head><title>My Activity History</title><style>{'.mdl-grid{}' * styles}</style></head><body>"
    path.write_text(f"{head}<div class='mdl-grid'>{''.join(cards)}</div></body></html>", "utf-8")
    return path


PROMPTED = (
    "Prompted\xa0Which sail for <b>light</b> wind?<br>Attached 2 files.<br>-&nbsp; <a href='sea.csv'>sea.csv</a>"
    '<br>-&nbsp;<a href="wind.csv">wind.csv</a><br>Jul 25, 2026, 11:07:57\u202fPM PDT<br>'
    "<p>A gennaker.</p><p>Reef at<br>Jul 26, 2026, 1:00:00 PM PDT<br>or so.</p>"
)


@pytest.mark.parametrize("styles", [10, 20_000])
def test_prompts_and_answers_of_a_page_are_turns(tmp_path: Path, styles: int) -> None:
    simple = "Prompted&nbsp;And reefing?<br>18 Sept 2025, 12:02:52 CEST<br><p>At force five.</p>"
    path = page(tmp_path, card(simple), card("Searched for a harbour<br>x<br>", "Maps"), card(simple), styles=styles)
    items = items_in(path)
    assert said(items) == [("user", "And reefing?"), ("assistant", "At force five.")] * 2
    assert {one.item.timestamp for one in items} == {datetime(2025, 9, 18, 10, 2, 52, tzinfo=UTC)}
    assert {(one.context, one.reader, one.flow_id) for one in items} == {("Gemini", "gemini", "gemini#2025-09-18")}
    assert len({one.item.id for one in items}) == 4, "equal activities are two"
    assert [one.reason for one in skips_in(path)] == ["has 1 activities of other products"]


def test_attached_files_are_named_and_dates_in_an_answer_are_its_words(tmp_path: Path) -> None:
    prompt, answer = items_in(page(tmp_path, card(PROMPTED)))
    assert prompt.item.text == "Which sail for light wind?"
    assert prompt.item.metadata == {"attachments": ["sea.csv", "wind.csv"]}
    assert prompt.item.timestamp == datetime(2026, 7, 26, 6, 7, 57, tzinfo=UTC)
    assert "Jul 26, 2026" in answer.item.text


def test_an_unknown_date_is_refused_and_an_unknown_zone_is_noted(tmp_path: Path) -> None:
    path = page(
        tmp_path, card("Prompted A?<br>einst, 3:00:00<br>B"), card("Prompted C?<br>5 mai 2026, 08:00:00 XYZ<br>D")
    )
    (refused,) = refusals_in(path)
    assert (refused.reason, refused.fix) == (
        "activity 1 has no time that can be read",
        "Export the activity as JSON, and import that",
    )
    records = list(read_paths([path], ImportOptions(timezone=ZoneInfo("Europe/Oslo"))))
    assert [one.reason for one in records if isinstance(one, Noted)] == [
        "does not say the zone of its times in a known form: they are taken as of --timezone"
    ]
    assert said(items_in(path)) == [("user", "C?"), ("assistant", "D")]


def test_the_activity_of_other_products_is_a_page_as_any(tmp_path: Path) -> None:
    path = page(tmp_path, card("Watched a film about tides<br>x<br>", "YouTube"), styles=20_000)
    assert any("Watched a film about tides" in one.item.text for one in items_in(path))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("10 de mai. de 2026, 03:46:09 BRT", "2026-05-10T06:46:09+00:00"),
        ("May 19, 2026, 7:07:02\u202fPM GMT-03:00", "2026-05-19T22:07:02+00:00"),
        ("5. Dez. 2025, 08:00:00 MEZ", "2025-12-05T07:00:00+00:00"),
        ("3 févr. 2026, 12:00:00 UTC+1", "2026-02-03T11:00:00+00:00"),
        ("Apr 6, 2026, 12:00:00 AM UTC", "2026-04-06T00:00:00+00:00"),
    ],
)
def test_dates_of_languages_are_read(written: str, expected: str) -> None:
    when, has_zone = time_of(written, UTC)
    assert when is not None
    assert (when.isoformat(), has_zone) == (expected, True)


@pytest.mark.parametrize("written", ["Feb 30, 2026, 1:00:00 PM UTC", "Foo 3, 2026, 1:00:00 UTC", "at 12:00:00", ""])
def test_what_is_no_date_has_no_time(written: str) -> None:
    assert time_of(written, UTC) == (None, False)


def test_a_line_of_a_log_in_a_prompt_is_not_the_time_of_the_prompt(tmp_path: Path) -> None:
    body = (
        "Prompted&nbsp;Why did it fail?<br>2 May 2026, 10:00:00 ERROR disk<br>tell me<br>"
        "Jul 25, 2026, 11:07:57 PM UTC<br><p>The disk is full.</p>"
    )
    prompt, answer = items_in(page(tmp_path, card(body)))
    assert prompt.item.text == "Why did it fail?\n2 May 2026, 10:00:00 ERROR disk\ntell me"
    assert answer.item.text == "The disk is full."
    assert prompt.item.timestamp == datetime(2026, 7, 25, 23, 7, 57, tzinfo=UTC)


@pytest.mark.parametrize("before", [0, 3, 20, 31])
def test_a_card_over_the_limit_is_cut_with_a_note_and_the_next_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setattr(activity_page, "MAX_CARD_CHARS", 1_000)

    def prompted(name: str, answer: str) -> str:
        return card(f"Prompted {name}<br>Jul 25, 2026, 11:07:57 PM UTC<br><p>{answer}</p>")

    second = prompted("two", "Yes.")
    begins = page(tmp_path, prompted("one", ""), second).read_text("utf-8").index(second)
    length = 256 * 1024 - before - begins  # the second card begins where the first part that is read ends
    records = list(read_paths([page(tmp_path, prompted("one", "x" * length), second)]))
    texts = [one.item.text for one in records if isinstance(one, SourceItem)]
    assert (texts[0], texts[2:]) == ("one", ["two", "Yes."])
    (note,) = [one for one in records if isinstance(one, Noted)]
    assert "is longer than" in note.reason


def test_a_card_of_marks_without_an_end_takes_no_longer_than_its_length(tmp_path: Path) -> None:
    hostile = card('mdl-typography--title"' * 20_000 + '<div class="content-cell ' * 20_000)
    begun = time.process_time()
    list(read_paths([page(tmp_path, hostile)]))
    assert time.process_time() - begun < 5, "what looks for an end from each takes minutes"
