"""What is called a mail is never stored as public text; a quote of any length is found in little time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from vicw_readers.mail.own_words import folded
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, SourceItem

HEAD = b"From: Ana <ana@example.org>\nDate: Tue, 29 Apr 2025 10:11:12 +0200\nSubject: kiln\n\nIt is hot.\n"


@pytest.mark.parametrize("before", [b"\n\n", b"\xef\xbb\xbf\r\n"])
def test_blank_lines_before_a_mail_are_passed_over(before: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(before + HEAD)
    [mail] = read_paths([tmp_path / "a.eml"])
    assert isinstance(mail, SourceItem)
    assert (mail.item.speaker, mail.item.text, mail.item.sensitivity.value) == ("Ana", "It is hot.", "personal")


@pytest.mark.parametrize("name", ["a.eml", "a.emlx"])
def test_a_mail_that_begins_as_none_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"The gate code is 4711.\n\nAna\n")
    [refused] = read_paths([tmp_path / name])
    assert isinstance(refused, Refused)
    assert (refused.kind, refused.reason.split(":")[0]) == ("Mail", "is no mail")


def test_a_long_line_before_a_quote_takes_little_time() -> None:
    start = time.process_time()
    words = "On " + "1" * 40_000
    assert folded(f"{words}\n> hot?\n", "Re: kiln", is_answer=True).text == words
    assert time.process_time() - start < 1
