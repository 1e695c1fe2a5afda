"""Chats exported for the eye are never stored as public pages, tables or texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, Skipped, SourceItem

PAGES = {
    "messages.html": (
        "<!DOCTYPE html>\n<html>\n <head>\n  <title>Exported Data</title>\n </head>\n <body>\n"
        '  <div class="page_wrap">\n<div class="text">The gate code is 4711.</div></div></body></html>',
        "result.json",
    ),
    "Potters - clay [1].html": (
        "<!DOCTYPE html><html lang=en><head><style>.chatlog__message-group{margin:0}</style></head>"
        "<body><div class=chatlog>The gate code is 4711.</div></body></html>",
        "as JSON",
    ),
    "Ida.html": (
        "<html>\n<head>\n<style>\n.message .sent.iMessage { color: white; }\nspan.timestamp {}\n</style>\n</head>\n"
        '<div class="message">\n<div class="sent iMessage">The gate code is 4711.</div></div></html>',
        "as text",
    ),
    "index.html": (
        "<!doctype html><html><body><div class='msg me'><span class=date>2025-03-01</span>"
        "<span class=time>10:00</span> "
        "<span class=sender>Me</span><span class=body><p>The gate code is 4711.</p></span></div></body></html>",
        "data.json",
    ),
    "Potters - clay [1].txt": (
        f"{'=' * 62}\nGuild: Potters\nChannel: Kilns / clay\n{'=' * 62}\n\n[3/1/2025 10:00 AM] ida\nThe gate code\n",
        "as JSON",
    ),
    "Potters - clay [1].csv": (
        'AuthorID,Author,Date,Content,Attachments,Reactions\n"1","ida","2025-03-01","The gate code is 4711.","",""\n',
        "as JSON",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_it_is_refused_with_the_form_to_export(name: str, tmp_path: Path) -> None:
    text, fix = PAGES[name]
    (tmp_path / name).write_text(text, "utf-8")
    [refused] = read_paths([tmp_path / name])
    assert isinstance(refused, Refused)
    assert refused.kind == "chat exported as HTML, text or CSV"
    assert fix in refused.fix


@pytest.mark.parametrize(("name", "other"), [("messages.html", "result.json"), ("index.html", "chat.md")])
def test_it_is_passed_over_beside_the_form_that_is_read(name: str, other: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(PAGES[name][0], "utf-8")
    (tmp_path / other).write_text("")
    assert [one for one in read_paths([tmp_path]) if isinstance(one, SourceItem | Refused)] == []


def test_signals_page_is_known_by_its_neighbours_whatever_its_marks(tmp_path: Path) -> None:
    for name, text in {"index.html": "<html><p>The gate code.</p></html>", "data.json": "", "chat.md": ""}.items():
        (tmp_path / name).write_text(text)
    [page] = [one for one in read_paths([tmp_path]) if isinstance(one, Skipped) and "index" in one.path]
    assert page.reason == "shows the chat of data.json"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("index.html", "<html><body><h1>Kilns</h1><p>They are hot.</p></body></html>"),
        ("talk.html", '<html><div class="msg"><span class="sender">Bot</span>What an app shows.</div></html>'),
        ("talk.html", "<html><style>.message .sent {}</style><p>What an app shows, with a timestamp.</p></html>"),
        ("kilns.csv", "Author,Date,Content\nida,2025,hot\n"),
        ("kilns.txt", "====================\nGuild of potters\n"),
    ],
)
def test_other_pages_tables_and_texts_are_read(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "data.json").write_text("{}")
    assert any(isinstance(one, SourceItem) and name in one.path for one in read_paths([tmp_path]))
