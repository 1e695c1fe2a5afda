"""No file of an import goes without a word, and none ends it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from support.files.records_of_file import items_in, json_lines, records_in, refusals_in, skips_in, written
from vicw_readers.intake import source_file
from vicw_readers.intake.limits import ReadLimits
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.plain.text import TextReader
from vicw_readers.records import Skipped


def packed(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.md", "# Tides\n\nHigh\n")
    return path


def test_a_file_of_which_nothing_is_read_is_named(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "x.jsonl", {"role": "system", "content": "Be brief"})
    [refused] = refusals_in(path)
    assert (refused.kind, refused.reason) == (
        "chat of role and content, or of from and value (ShareGPT)",
        "has nothing that is read",
    )
    [skipped] = records_in(tmp_path)
    assert isinstance(skipped, Skipped)


def test_what_a_reader_did_not_expect_refuses_its_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise RecursionError("too deep " * 100)

    monkeypatch.setattr(TextReader, "read", read)
    written(tmp_path / "a.txt", "text")
    written(tmp_path / "b.md", "# Tides\n\nHigh\n")
    assert [one.item.id for one in items_in(tmp_path)] == ["b.md#tides"]
    [refused] = refusals_in(tmp_path)
    assert refused.reason.startswith("cannot be read: RecursionError: too deep")
    assert len(refused.reason) == 500


def test_a_named_format_is_that_of_the_files_in_an_archive(tmp_path: Path) -> None:
    [item] = items_in(packed(tmp_path / "x.zip"), ImportOptions(format="text"))
    assert (item.reader, item.item.id) == ("text", "a.md#1")


def test_a_package_of_a_program_is_opened_only_if_it_is_named(tmp_path: Path) -> None:
    wheel = packed(tmp_path / "folder/tides.whl")
    packed(tmp_path / "folder/tides.zip")
    assert [one.item.id for one in items_in(tmp_path / "folder")] == ["tides.zip/a.md#tides"]
    [skipped] = skips_in(tmp_path / "folder")
    assert skipped.path == str(wheel)
    assert len(items_in(wheel)) == 1


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_file, "limits", lambda: ReadLimits(line_bytes=100))
    [refused] = refusals_in(written(tmp_path / "x.csv", f"a,b\n{'c' * 101}"))
    assert (refused.line, refused.reason) == (2, "has a line of over 100 characters")
    assert len(items_in(written(tmp_path / "y.csv", f"a,b\n{'c' * 100}"))) == 1


def test_an_encoding_that_does_not_fit_refuses_the_file(tmp_path: Path) -> None:
    table = written(tmp_path / "x.csv", b"a,\xfc\n")
    [refused] = records_in(table, ImportOptions(encoding="utf-16"))
    assert getattr(refused, "reason", "") == "is not valid utf-16"
    [refused] = records_in(written(tmp_path / "x.py", b"# coding: undefined\n# \xfc\n"))
    assert getattr(refused, "reason", "") == "is neither valid UTF-8 nor undefined"
