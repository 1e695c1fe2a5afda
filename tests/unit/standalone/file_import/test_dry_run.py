"""``vicw ingest --dry-run`` and ``--list-formats`` need no server, and say what would become of files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.files.records_of_file import json_lines, written
from vicw_readers.registry import READERS
from vicw_standalone.cli import app


def dry(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["ingest", "--dry-run", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    written(root / "notes.md", "# One\n\nApples.\n\n# Two\n\nPears.\n")
    written(root / "old/notes.md", "# Old\n\nPlums.\n")
    written(root / "letter.rtf", b"{\\rtf1 Dear Ida}")
    for n in range(5):
        written(root / f"{n}.png", b"\x89PNG\r\n\x1a\n\x00")
    json_lines(root / "chat.jsonl", {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"})
    return root


def test_it_shows_what_would_be_stored_and_what_not(folder: Path) -> None:
    done = dry(folder)
    assert done.exit_code == 1, "a letter would be missed"
    assert "desk · notes.md#two: # Two Pears." in done.stdout
    assert "3 items of 2 files: Markdown" in done.stdout
    assert "refused RTF document: 1" in done.stderr
    assert "letter.rtf: is a RTF document, which is not read. Save it as" in done.stderr
    assert "passed over picture: 5" in done.stderr
    assert "0.png" not in done.stderr
    assert "0.png" in dry(folder, "--verbose").stderr
    assert dry(folder / "notes.md").exit_code == 0


def test_patterns_choose_files_and_a_format_may_be_named(folder: Path) -> None:
    only = dry(folder, "--include", "*.md", "--exclude", "old/")
    assert (only.exit_code, "2 items of 1 file: Markdown" in only.stdout) == (0, True), only.output
    as_text = dry(folder / "notes.md", "--format", "text")
    assert "1 item of 1 file: text" in as_text.stdout
    wrong = dry(folder / "notes.md", "--format", "notes")
    assert wrong.exit_code == 2
    assert "is no format" in wrong.stderr


def test_programs_get_lines_of_json(folder: Path) -> None:
    done = dry(folder, "--json", "--sensitivity", "personal", "--owner", "Ida")
    *items, summary = map(json.loads, done.stdout.splitlines())
    assert [one["item"]["id"] for one in items if one["reader"] == "markdown"] == [
        "notes.md#one",
        "notes.md#two",
        "old/notes.md#old",
    ]
    assert {(one["item"]["sensitivity"], *one["item"]["about"]) for one in items} == {("personal", "Ida")}
    assert (summary["dry_run"], summary["private"], len(summary["passed_over"])) == (True, 5, 5)
    assert summary["read"][0] == {"format": "markdown", "title": "Markdown", "files": 2, "items": 3}


def test_the_formats_are_listed() -> None:
    done = CliRunner().invoke(app, ["ingest", "--list-formats"])
    assert done.exit_code == 0
    for reader in READERS:
        assert f"{reader.name}: {reader.title}" in done.stdout
