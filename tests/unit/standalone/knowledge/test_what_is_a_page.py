"""Which files of a knowledge folder are pages: what people and assistants said never is, since a page is public."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.files.one_of_everything import write_everything
from support.files.records_of_file import json_lines, written
from vicw_readers.intake.source_file import ImportOptions
from vicw_standalone.cli import app
from vicw_standalone.knowledge.folder import Snapshot, read_folder

_WHATSAPP = "".join(f"[05.03.25, 09:{n:02}:00] {who}: Row {n}\n" for n, who in enumerate(["Ida", "Tore"] * 3))
_MAIL = "From: Ida <ida@example.org>\nDate: Wed, 5 Mar 2025 09:00:00 +0000\nSubject: Keys\n\nIn the shed.\n"
_TELEGRAM = {
    "name": "Ida",
    "type": "personal_chat",
    "id": 7,
    "messages": [{"id": 1, "type": "message", "date": "2025-03-05T09:00:00", "from": "Ida", "text": "The boat leaks."}],
}
_CHATGPT = [
    {
        "title": "Oars",
        "create_time": 1.0,
        "current_node": "a",
        "conversation_id": "c",
        "mapping": {"a": {"id": "a", "parent": None, "message": None, "children": []}},
    }
]


def names(snapshot: Snapshot) -> dict[str, set[str]]:
    """Return the paths of pages, refused files and those passed over, from the folder on."""
    return {
        "pages": set(snapshot.pages),
        "refused": {Path(one.path).name for one in snapshot.refused},
        "passed over": {Path(one.path).name for one in snapshot.passed_over},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    for name in ("note.md", "plan.org", "plan.rst", "plan.adoc", "paper.tex", "list.txt", "rows.csv", "Makefile"):
        written(root / name, "Oak,1\nAsh,2\n")
    written(root / "src/oak.py", "def oak():\n    return 1\n")
    written(root / "package.json", {"name": "oak", "scripts": {"test": "run"}})
    written(root / "empty.md", "")
    return root


def test_notes_markup_code_tables_and_texts_are_pages_as_they_stand(folder: Path) -> None:
    snapshot = read_folder(folder)
    assert len(snapshot.pages) == 11
    assert names(snapshot) == {"pages": set(snapshot.pages), "refused": set(), "passed over": set()}
    assert snapshot.pages["rows.csv"].text == "Oak,1\nAsh,2\n"
    assert snapshot.pages["src/oak.py"].reader == "code"
    assert snapshot.pages["empty.md"].text == "empty\n"


def test_what_people_and_assistants_said_is_refused_by_kind_with_the_way_out(folder: Path) -> None:
    written(folder / "WhatsApp Chat with Tore.txt", _WHATSAPP)
    written(folder / "result.json", _TELEGRAM)
    written(folder / "keys.eml", _MAIL)
    written(folder / "all.mbox", f"From ida@example.org Wed Mar 05 09:00:00 2025\n{_MAIL}\n")
    written(folder / "gpt/conversations.json", _CHATGPT)
    json_lines(folder / "talk.jsonl", {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"})
    json_lines(folder / "items.jsonl", {"id": "1", "text": "Said."})
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(_CHATGPT))
    snapshot = read_folder(folder)
    assert len(snapshot.pages) == 11
    assert {one.kind for one in snapshot.refused} == {
        *("WhatsApp chat", "Telegram export", "Mail", "Mail archive", "ChatGPT export", "JSON Lines of items"),
        *("chat of role and content, or of from and value (ShareGPT)", "archive"),
    }
    assert all("without --knowledge" in one.fix for one in snapshot.refused)
    assert all(snapshot.may_be_there(Path(one.path).relative_to(folder).as_posix()) for one in snapshot.refused)


def test_none_of_the_formats_with_speakers_or_people_is_a_page(tmp_path: Path) -> None:
    write_everything(tmp_path / "all")
    snapshot = read_folder(tmp_path / "all")
    readers = {page.reader for page in snapshot.pages.values()}
    assert readers <= {
        *("markdown", "code", "text", "csv", "org", "rst", "asciidoc", "latex"),
        *("pdf", "docx", "pptx", "xlsx", "epub", "html", "notebook", "subtitles", "canvas"),
    }
    assert {"Mail", "WhatsApp chat"} <= {one.kind for one in snapshot.refused}


def test_documents_are_pages_by_their_text(tmp_path: Path) -> None:
    written(
        tmp_path / "hours.html",
        "<html><head><script>track()</script></head><body><nav>Home</nav><main><h1>Hours</h1>"
        "<p>The pool opens at six in the morning, and closes late.</p></main></body></html>",
    )
    card = {"id": "1", "type": "text", "text": "Cone six", "x": 0, "y": 0, "width": 9, "height": 9}
    written(tmp_path / "kiln.canvas", {"nodes": [card], "edges": []})
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# Tides\n", "High at noon."]}]
    written(tmp_path / "tides.ipynb", {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    pages = {path: page.text for path, page in read_folder(tmp_path).pages.items()}
    assert "track" not in pages["hours.html"]
    assert "The pool opens at six" in pages["hours.html"]
    assert pages["kiln.canvas"] == "kiln\n\nCone six"
    assert "High at noon." in pages["tides.ipynb"]
    assert "cell_type" not in pages["tides.ipynb"]


def test_broken_documents_are_refused_and_pictures_and_machine_made_files_passed_over(folder: Path) -> None:
    written(folder / "cut.pdf", b"%PDF-1.4\n1 0 obj\n<<")
    written(folder / "old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512))
    written(folder / "letter.rtf", b"{\\rtf1 Dear Ida}")
    written(folder / "oven.png", b"\x89PNG\r\n\x1a\n\x00")
    written(folder / "made.py", "# @generated by a tool\nx = 1\n")
    written(folder / "bundle.js", "var a=1;" * 2000)
    written(folder / "tool.whl", b"PK\x05\x06" + bytes(18))
    written(folder / "view.base", "views:\n  - type: table\n")
    found = names(read_folder(folder))
    assert found["refused"] == {"cut.pdf", "old.doc", "letter.rtf"}
    assert found["passed over"] == {"oven.png", "made.py", "bundle.js", "tool.whl", "view.base"}


def test_encoding_and_patterns_count(folder: Path) -> None:
    written(folder / "latin.txt", "Niño".encode("latin-1"))
    assert names(read_folder(folder))["refused"] == {"latin.txt"}
    options = ImportOptions(encoding="latin-1", exclude=("*.tex", "src/"))
    snapshot = read_folder(folder, options)
    assert snapshot.pages["latin.txt"].text == "Niño"
    assert len(snapshot.pages) == 10
    assert snapshot.may_be_there("paper.tex"), "what is left out is not gone"
    assert not snapshot.may_be_there("gone.md")
    assert set(read_folder(folder, ImportOptions(include=("*.md",))).pages) == {"note.md", "empty.md"}


def dry(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["ingest", "--knowledge", "--dry-run", *map(str, words)])


def test_a_dry_run_shows_pages_and_what_is_none_without_a_server(folder: Path) -> None:
    assert dry(folder).exit_code == 0
    assert "0 pages of folder desk" in dry(folder, "--include", "*.none").stdout
    written(folder / "keys.eml", _MAIL)
    done = dry(folder)
    assert done.exit_code == 1
    assert "src/oak.py\n" in done.stdout
    assert "2 items of 2 files: Markdown" in done.stdout
    assert "refused Mail: 1" in done.stderr
    assert dry(folder, "--exclude", "*.eml").exit_code == 0
    report = json.loads(dry(folder, "--json").stdout)
    assert (report["dry_run"], report["folder"], len(report["pages"])) == (True, "desk", 11)
    assert report["refused_kinds"] == {"Mail": 1}


@pytest.mark.parametrize(
    "option",
    [
        ["--flow", "f"],
        ["--owner", "Ida"],
        ["--sensitivity", "personal"],
        ["--format", "text"],
        ["--timezone", "Europe/Oslo"],
    ],
)
def test_an_option_that_a_page_has_no_use_for_is_refused_with_the_reason(folder: Path, option: list[str]) -> None:
    done = dry(folder, *option)
    assert done.exit_code == 2
    assert f"{option[0]} is not for --knowledge: a page is public" in " ".join(done.stderr.split())


def test_watching_stores_so_a_dry_run_does_not_watch(folder: Path) -> None:
    assert dry(folder, "--watch").exit_code == 2


def test_what_is_assumed_of_an_encoding_is_noted(folder: Path) -> None:
    written(folder / "latin.txt", "The café is open.".encode("latin-1"))
    snapshot = read_folder(folder)
    assert snapshot.pages["latin.txt"].text == "The café is open."
    assert [note.reason[:28] for note in snapshot.notes] == ["is read as windows-1252, whic"[:28]]
