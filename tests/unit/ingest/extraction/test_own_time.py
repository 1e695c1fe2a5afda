"""The time that an item gives itself."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.stores.memory import Memory
from vicw_ingest.extraction.own_time import own_time
from vicw_readers.paths import read_paths
from vicw_readers.records import SourceItem
from vicw_shared.model import Label
from vicw_shared.ports import Nodes, scan_pages
from vicw_shared.wire.ingest import Item

NOW = datetime(2026, 6, 20, 8, tzinfo=UTC)
DAY = "2026-04-09T12:00"


def time_of(text: str = "It rained.", **fields: Any) -> str | None:
    at = own_time(Item.model_validate({"text": text, **fields}), NOW)
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M}" if at is not None else None


def test_a_mail_keeps_its_zone_in_which_its_days_are_counted() -> None:
    text = "From: Ida <ida@harbour.example>\nDate: Thu, 9 Apr 2026 07:30:00 +0900\n\nYesterday the crane fell."
    at = own_time(Item(text=text), NOW)
    assert at is not None
    assert at.isoformat() == "2026-04-09T07:30:00+09:00"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-04-09 14:02:11 ERROR pump: no water", "2026-04-09T14:02"),
        ("2026-04-09T14:02:11.532Z level=warn", "2026-04-09T14:02"),
        ("2026-04-09 14:02:11,532 +0200 WARNING", "2026-04-09T12:02"),
        ("[2026-04-09 14:02:11] started", "2026-04-09T14:02"),
        ('10.0.0.8 - - [09/Apr/2026:14:02:11 +0530] "GET / HTTP/1.1" 200 512', "2026-04-09T08:32"),
        ("Apr  9 14:02:11 gate sshd[411]: Accepted key", "2026-04-09T14:02"),
        ("Dec 24 14:02:11 gate cron: done", "2025-12-24T14:02"),
        (
            "From: Ida <ida@harbour.example>\nDate: Thu, 9 Apr 2026 16:30:00 +0200\nSubject: The crane\n\nHi",
            "2026-04-09T14:30",
        ),
        (
            "Subject: The crane\r\nFrom: a@b.example\r\nDate: Thu, 9 Apr 2026 16:30:00 -0000\r\n\r\nHi",
            "2026-04-09T16:30",
        ),
        ("# Thursday, April 9, 2026\n\nI sold the mast.", DAY),
        ("## April 9, 2026\nI sold the mast.", DAY),
        ("# 2026-04-09\n", DAY),
        ("# Thursday, 9 April 2026\n", DAY),
    ],
)
def test_a_text_gives_its_own_time(text: str, at: str) -> None:
    assert time_of(text) == at


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "2026-04-09.md"},
        {"source": "journals/2026_04_09.md"},
        {"source": "log/2026/04/09.md"},
        {"source": "20260409.txt"},
        {"source": "notes/2026-04-09 Standup.md"},
        {"source": "_posts/2026-04-09-new-crane.md"},
        {"name": "Thursday, April 9, 2026"},
        {"name": "Journal > April 9, 2026 > Lunch"},
        {"name": "Lunch", "source": "2026-04-09.md"},
        {"page": {"folder": "notes", "path": "daily/2026-04-09.md"}},
    ],
)
def test_a_note_has_the_day_of_its_path_or_title(fields: dict[str, Any]) -> None:
    assert time_of(**fields) == DAY


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("The invoice of 2026-04-09 is paid.", {}),
        ("2026-04-09 is the day of the fair.", {}),
        ("# The fair of April 9, 2026\n", {}),
        ("# April 9\n", {}),
        ("# Yesterday\n", {}),
        ("# April 2026\n", {}),
        ("# Room 2026\n", {}),
        ("2026-13-40 14:02:11 broken", {}),
        ("2026-04-09 25:02:11 broken", {}),
        ("Feb 30 14:02:11 gate cron: done", {}),
        ("Date: tomorrow\nFrom: me\n\nHi", {}),
        ("Date: Thu, 9 Apr 2026 16:30:00 +0200\nColour: red\n\nNo mail", {}),
        ("From: a@b.example\nSubject: x\n\nDate: Thu, 9 Apr 2026 16:30:00 +0200", {}),
        ("x", {"source": "2026-02-30.md"}),
        ("x", {"source": "report 2026-04-09 2026-05-09.md"}),
        ("x", {"source": "2026-04-09-2026-05-09.md"}),
        ("x", {"source": "ticket-12026-04-09.md"}),
        ("x", {"source": "2026-04.md"}),
        ("x", {"source": "2026-04-09/plan.md"}),
        ("2026-04-09 14:02:11 ERROR", {"timestamp": "2026-01-01T00:00:00Z"}),
        ("2026-04-09 14:02:11 ERROR", {"speaker": "Ida"}),
        ("2026-04-09 14:02:11 ERROR", {"subtype": "function"}),
    ],
)
def test_what_is_no_time_of_its_own_is_none(text: str, fields: dict[str, Any]) -> None:
    assert time_of(text, **fields) is None


@given(st.text(alphabet="0123456789-:/ []TZ+,.#\nADaeFrompt", min_size=1).filter(str.strip))
def test_no_text_is_refused(text: str) -> None:
    time_of(text, name=text, source=text)


async def test_a_note_of_a_day_is_an_event_of_that_day(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "daily").mkdir(parents=True)
    (vault / "daily/2026-04-09.md").write_text("I sold the mast.\n\n## Evening\nYesterday I met Ida at the crane.\n")
    (vault / "Crane.md").write_text("# Crane\nThe crane lifts six tons.\n")
    records = [record for record in read_paths([vault]) if isinstance(record, SourceItem)]
    assert len(records) == 3
    await memory.ingest(*(record.item.model_dump(mode="json", exclude_none=True) for record in records))
    found = {result.id: result for result in (await memory.retrieve("mast crane Ida", limit=10)).results}
    told = {uid: str(result.timestamp)[:16] if result.timestamp else None for uid, result in found.items()}
    assert told == {
        "daily/2026-04-09.md": "2026-04-09 12:00",
        "daily/2026-04-09.md#evening": "2026-04-09 12:00",
        "Crane.md#crane": None,
    }
    asked = await memory.retrieve("What happened on April 9, 2026?", query_time=NOW.isoformat())
    assert asked.results[0].id == "daily/2026-04-09.md", "its evening tells of the day before"
    statements = [node async for node in _statements(memory) if "Ida" in node.text]
    assert [(str(node.timestamp)[:10], node.timestamp_inferred) for node in statements] == [("2026-04-08", False)]


async def test_a_page_of_a_day_stays_a_page_and_its_statements_are_of_the_day(memory: Memory) -> None:
    page = {"text": "# Notes\n\nI sold the mast.\n", "page": {"folder": "vault", "path": "daily/2026-04-09.md"}}
    await memory.ingest(page)
    (result,) = (await memory.retrieve("mast")).results
    assert (result.label, result.subtype, str(result.timestamp)[:16]) == (Label.ENTITY, "page", "2026-04-09 12:00")
    (statement,) = [node async for node in _statements(memory) if "mast" in node.text]
    assert (str(statement.timestamp)[:10], statement.timestamp_inferred) == ("2026-04-09", False)
    assert (await memory.check()).violations == []


async def _statements(memory: Memory) -> Any:
    async for page in scan_pages(memory.standalone.graph, Nodes(Label.EVENT)):
        for node in page:
            if node.content_hash is None:
                yield node
