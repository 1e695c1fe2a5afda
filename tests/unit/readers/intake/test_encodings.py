"""Texts in other encodings than UTF-8: known by their bytes, by what the user says, or refused with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.files.records_of_file import items_in, records_in, written
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.intake.text_decoder import unmarked_utf16
from vicw_readers.records import Skipped

_CODE = "namespace Demo { public class Ledger { public int Überschuss() { return 42; } } }\r\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["Ledger.cs", "ledger.txt", "ledger.md", "ledger.csv"])
def test_utf_16_without_a_mark_is_known_by_its_bytes(tmp_path: Path, encoding: str, name: str) -> None:
    written(tmp_path / "in" / name, (_CODE * 300).encode(encoding))
    assert "Überschuss" in "".join(item.item.text for item in items_in(tmp_path / "in"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_of_other_scripts_is_read_once_it_is_named(tmp_path: Path, encoding: str) -> None:
    text = "港口在春天开放，船只从北方来。" * 40 + "\n"
    path = written(tmp_path / "in" / "a.txt", text.encode(encoding))
    assert isinstance(records_in(tmp_path / "in")[0], Skipped)
    (item,) = items_in(path, ImportOptions(encoding=encoding))
    assert item.item.text == text


@pytest.mark.parametrize(
    "data",
    [b"\x00\x01\x02", bytes(64), b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"a\x00b\x00\x01\x00c\x00", b"\x00a\x00b"],
)
def test_binary_bytes_are_no_utf_16(tmp_path: Path, data: bytes) -> None:
    assert unmarked_utf16(data) is None
    written(tmp_path / "in" / "a.txt", data)
    (skipped,) = records_in(tmp_path / "in")
    assert isinstance(skipped, Skipped)


def test_latin_text_with_a_name_of_its_encoding_is_not_taken_for_utf_16(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "Café\n".encode("latin-1"))
    (item,) = items_in(path, ImportOptions(encoding="latin-1"))
    assert item.item.text == "Café\n"


def test_a_picture_is_none_of_the_texts_whose_encoding_is_named(tmp_path: Path) -> None:
    written(tmp_path / "in" / "a.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    (skipped,) = records_in(tmp_path / "in", ImportOptions(encoding="utf-16-le"))
    assert isinstance(skipped, Skipped)
