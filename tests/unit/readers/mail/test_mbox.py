"""Mails of an mbox: where one ends, in each dialect; attachments are not held."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from unittest.mock import patch

from vicw_readers.mail.mbox import begins_archive, mails_of
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, SourceItem

ENVELOPE = b"From ana@example.org Tue Apr 29 08:11:12 2025\n"


def mail(number: int, body: bytes, *headers: bytes) -> bytes:
    head = [b"From: Ana <ana@example.org>", b"Date: Tue, 29 Apr 2025 10:11:12 +0200", b"Message-ID: <m%d@x>" % number]
    return ENVELOPE + b"\n".join([*head, b"Subject: mail %d" % number, *headers, b"", body]) + b"\n\n"


def read(data: bytes, tmp_path: Path) -> list[Record]:
    path = tmp_path / "archive.mbox"
    path.write_bytes(data)
    return list(read_paths([path]))


def texts(data: bytes, tmp_path: Path) -> list[str]:
    return [one.item.text for one in read(data, tmp_path) if isinstance(one, SourceItem)]


def test_a_mail_is_an_item(tmp_path: Path) -> None:
    assert texts(mail(1, b"The kiln is hot.") + mail(2, b"It is cold."), tmp_path) == [
        "The kiln is hot.",
        "It is cold.",
    ]


def test_a_quoted_from_line_is_unquoted(tmp_path: Path) -> None:
    body = b"He said:\n\n>From here on we walk.\n>>From the start?"
    assert texts(mail(1, body), tmp_path) == ["He said:\n\nFrom here on we walk.\n>From the start?"]


def test_an_unquoted_from_line_that_is_no_envelope_is_words(tmp_path: Path) -> None:
    body = b"One\n\nFrom here on we walk.\nsubject: none\n\nFrom Ana I heard of it on Tue, at 10:00 in 2025\nno header"
    assert texts(mail(1, body) + mail(2, b"two"), tmp_path) == [body.decode(), "two"]


def test_a_stated_length_holds_an_envelope_inside(tmp_path: Path) -> None:
    body = b"Forwarded:\n\n" + ENVELOPE + b"Subject: inner\n\nwords"
    length = b"Content-Length: %d" % (len(body) + 1)
    assert texts(mail(1, body, length) + mail(2, b"two"), tmp_path) == [body.decode(), "two"]


def test_a_wrong_length_is_not_believed(tmp_path: Path) -> None:
    assert texts(mail(1, b"one", b"Content-Length: 100") + mail(2, b"two"), tmp_path) == ["one", "two"]


def test_lines_end_as_windows_has_them(tmp_path: Path) -> None:
    data = (mail(1, b"one\nmore") + mail(2, b"two")).replace(b"\n", b"\r\n")
    assert texts(data, tmp_path) == ["one\nmore", "two"]


def test_a_cut_archive_gives_what_it_has(tmp_path: Path) -> None:
    data = mail(1, b"one") + mail(2, b"two")
    assert texts(data[:-60], tmp_path)[0] == "one"


def test_a_mail_without_anything_is_refused_with_its_line(tmp_path: Path) -> None:
    data = mail(1, b"one") + ENVELOPE + b"X-Spam: no\n\nwords\n\n" + mail(3, b"three")
    found = read(data, tmp_path)
    [refused] = [one for one in found if isinstance(one, Refused)]
    assert (refused.line, refused.reason.split(":")[0]) == (9, "is no mail")
    assert [one.item.text for one in found if isinstance(one, SourceItem)] == ["one", "three"]


def test_a_copy_of_a_mail_is_passed_over_and_counted(tmp_path: Path) -> None:
    found = read(mail(1, b"one") * 3, tmp_path)
    assert [type(one).__name__ for one in found] == ["SourceItem", "Skipped"]
    assert "2 mails twice" in str(found[-1])


def test_only_an_archive_begins_like_one() -> None:
    assert begins_archive(mail(1, b"one"))
    assert not begins_archive(b"From here on we walk.\nAnd on: the road\n")
    assert not begins_archive(b"From: ana@example.org\nDate: today\n\n")


def test_attachments_of_any_size_are_named_and_not_held(tmp_path: Path) -> None:
    line = b"QUJD" * 19 + b"\n"
    part = (
        b"--b\nContent-Type: text/plain\n\nsee the scan\n"
        b'--b\nContent-Type: application/pdf; name="scan.pdf"\nContent-Transfer-Encoding: base64\n\n' + line * 200_000
    ) + b"--b--"
    data = mail(1, part, b'Content-Type: multipart/mixed; boundary="b"') + mail(2, b"two")
    tracemalloc.start()
    found = [raw.data for raw in mails_of(io.BytesIO(data))]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000 < len(data)
    assert sum(map(len, found)) < 2000
    assert texts(data, tmp_path) == ["see the scan\n[attachment: scan.pdf]", "two"]


def test_a_thread_is_a_flow(tmp_path: Path) -> None:
    data = (
        mail(1, b"one")
        + mail(2, b"two", b"In-Reply-To: <m1@x>")
        + mail(3, b"three", b"References: <m2@x>", b"In-Reply-To: <m2@x>")
        + mail(4, b"another")
        + mail(5, b"five", b"References: <gone@x> <m3@x>")
    )
    flows = [one.flow_id for one in read(data, tmp_path) if isinstance(one, SourceItem)]
    assert flows == ["m1@x", "m1@x", "m1@x", "m4@x", "m1@x"]


def test_gits_patches_are_no_mails(tmp_path: Path) -> None:
    written = b"From " + b"0a" * 20 + b" Mon Sep 17 00:00:00 2001\nFrom: Ana <ana@example.org>\nDate: Tue\n\n---\n"
    assert not begins_archive(written)
    (tmp_path / "0001-kiln.patch").write_bytes(written)
    assert {one.reader for one in read_paths([tmp_path]) if isinstance(one, SourceItem)} == {"text"}


def test_what_is_called_an_archive_and_has_no_mail_is_refused_not_stored_as_public_text(tmp_path: Path) -> None:
    [refused] = read(b"Dear Ana,\nthe gate code is 4711.\n", tmp_path)
    assert isinstance(refused, Refused)
    assert refused.kind == "Mail archive"
    assert "Rename it" in refused.fix
    assert texts(b"exported today\n\n" + mail(1, b"one"), tmp_path) == ["one"]


class CountedSeeks(io.BytesIO):
    seeks = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self.seeks += 1
        return super().seek(offset, whence)


def test_in_what_is_packed_nothing_is_sought(tmp_path: Path) -> None:
    data = b"".join(mail(number, b"one", b"Content-Length: 4") for number in range(5))
    file = CountedSeeks(data)
    assert len(list(mails_of(file, may_seek=False))) == 5
    assert file.seeks == 0
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("archive.mbox", data)
    (tmp_path / "b.mbox.gz").write_bytes(gzip.compress(data))
    with patch("vicw_readers.mail.mbox._take_stated", side_effect=AssertionError):
        for name in ("a.zip", "b.mbox.gz"):
            assert sum(isinstance(one, SourceItem) for one in read_paths([tmp_path / name])) == 5


def test_what_is_over_the_limits_of_an_item_is_cut(tmp_path: Path) -> None:
    everybody = ", ".join(f"Potter {number} <p{number}@example.org>" for number in range(900)).encode()
    head = b"To: " + everybody + b"\nCc: " + everybody
    found = read(mail(1, b"word " * 250_000, head), tmp_path)
    [refused] = [one for one in found if isinstance(one, Refused)]
    [item] = [one.item for one in found if isinstance(one, SourceItem)]
    assert "1000000 characters" in refused.reason
    assert len(item.text) == 1_000_000
    assert item.metadata["to"][-1] == f"and {900 - len(item.metadata['to']) + 1} more"
    assert len(json.dumps(item.metadata)) < 16 * 1024


def test_names_of_nothing_that_is_seen_are_none(tmp_path: Path) -> None:
    data = b"From: \xe2\x80\x8b <>\nDate: Tue, 29 Apr 2025 10:11:12 +0200\nSubject: \xe2\x80\x8b\n\none\n"
    [item] = [one.item for one in read(ENVELOPE + data, tmp_path) if isinstance(one, SourceItem)]
    assert (item.name, item.speaker) == (None, None)
