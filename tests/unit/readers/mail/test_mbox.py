"""Mails of an mbox: where one ends, in each dialect; attachments are not held."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

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
