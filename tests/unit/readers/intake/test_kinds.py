"""What no reader is for is named by its content, and missed if it has words."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from support.files.records_of_file import items_in, records_in, written
from vicw_readers.records import Refused, Skipped


def zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "<x/>")
    return file.getvalue()


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"{\\rtf1 Hello}", "RTF document"),
        (b"SQLite format 3\x00", "SQLite database"),
        (tarred(), "archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "encrypted or old Office file"),
    ],
)
def test_documents_are_refused_even_in_a_folder(tmp_path: Path, data: bytes, kind: str) -> None:
    written(tmp_path / "in" / "a.txt", data)
    (refused,) = records_in(tmp_path / "in")
    assert isinstance(refused, Refused)
    assert (refused.kind, bool(refused.fix)) == (kind, True)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\x00", "picture"),
        (b"RIFF\x00\x00\x00\x00WEBP\x00", "picture"),
        (b"\x00\x00\x00\x18ftypisom\x00", "film"),
        (b"ID3\x03\x00", "sound"),
        (b"\x00\x01\x02", "binary file"),
        (zipped("META-INF/MANIFEST.MF", "a.class"), "program"),
    ],
)
def test_pictures_are_passed_over_in_a_folder_and_refused_by_name(tmp_path: Path, data: bytes, kind: str) -> None:
    path = written(tmp_path / "in" / "a.txt", data)
    (skipped,) = records_in(tmp_path / "in")
    assert isinstance(skipped, Skipped)
    assert skipped.kind == kind
    (refused,) = records_in(path)
    assert isinstance(refused, Refused)


@pytest.mark.parametrize("text", ["BM is a firm in Bremen.\n", "MZ\n", "%PD\n", "PK\n"])
def test_a_text_that_begins_like_one_is_text(tmp_path: Path, text: str) -> None:
    (item,) = items_in(written(tmp_path / "a.txt", text))
    assert item.item.text == text
