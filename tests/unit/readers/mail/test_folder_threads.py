"""Mails of one thread in files of their own: one flow, in whatever order the files come."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import pytest

from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.mail.folder_threads import FolderThreads
from vicw_readers.paths import read_paths
from vicw_readers.records import SourceItem

_NAMES = ("z-first.eml", "sub/m-second.eml", "a-third.eml")


def mail(number: int, answers: int | None = None, references: str = "") -> bytes:
    head = f"From: Ana <ana@example.org>\nDate: Tue, 29 Apr 2025 10:0{number}:00 +0000\nMessage-ID: <m{number}@x>\n"
    if answers:
        head += f"In-Reply-To: <m{answers}@x>\n"
    if references:
        head += f"References: {references}\n"
    return f"{head}Subject: Kiln\n\nMail {number}.\n".encode()


def flows(path: Path) -> dict[str | None, tuple[str | None, object]]:
    items = [one.item for one in read_paths([path]) if isinstance(one, SourceItem)]
    return {one.id: (one.flow_id, one.metadata.get("reply_to")) for one in items}


EXPECTED = {"m1@x": ("m1@x", None), "m2@x": ("m1@x", "m1@x"), "m3@x": ("m1@x", "m2@x")}


@pytest.mark.parametrize("is_packed", [False, True])
def test_answers_that_name_only_the_mail_before_are_of_one_flow(tmp_path: Path, *, is_packed: bool) -> None:
    mails = {"a-third.eml": mail(3, 2), "sub/m-second.eml": mail(2, 1), "z-first.eml": mail(1)}
    if is_packed:
        with zipfile.ZipFile(tmp_path / "mails.zip", "w") as archive:
            for name, data in mails.items():
                archive.writestr(name, data)
        assert flows(tmp_path / "mails.zip") == EXPECTED
        return
    for name, data in mails.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert flows(tmp_path) == EXPECTED
    assert flows(tmp_path / "z-first.eml") == {"m1@x": ("m1@x", None)}


def test_a_mail_named_alone_is_of_the_thread_of_those_beside_it(tmp_path: Path) -> None:
    for number, answers in ((1, None), (2, 1), (3, 2)):
        (tmp_path / f"{number}.eml").write_bytes(mail(number, answers))
    assert flows(tmp_path / "3.eml") == {"m3@x": ("m1@x", "m2@x")}


def test_what_answers_say_of_the_mails_before_counts_and_a_circle_ends(tmp_path: Path) -> None:
    (tmp_path / "1.eml").write_bytes(mail(1, 2))
    (tmp_path / "2.eml").write_bytes(mail(2, 1))
    assert flows(tmp_path) == {"m1@x": ("m1@x", "m2@x"), "m2@x": ("m1@x", "m1@x")}
    (tmp_path / "2.eml").write_bytes(mail(2))
    (tmp_path / "3.eml").write_bytes(mail(3, 2, "<m0@x> <m2@x>"))
    assert flows(tmp_path) == {"m1@x": ("m0@x", "m2@x"), "m2@x": ("m0@x", None), "m3@x": ("m0@x", "m2@x")}


def test_a_mail_that_no_parser_takes_does_not_keep_the_others_from_being_read(tmp_path: Path) -> None:
    hostile = b"Content-Type: multipart/mixed; boundary*" + b"1" * 5_000 + b"=x\n"
    (tmp_path / "1.eml").write_bytes(mail(1))
    (tmp_path / "2.eml").write_bytes(mail(2, 1))
    (tmp_path / "bad.eml").write_bytes(hostile + mail(3, 2))
    assert flows(tmp_path).items() >= {"m1@x": ("m1@x", None), "m2@x": ("m1@x", "m1@x")}.items()


def test_mails_that_are_not_wanted_or_linked_to_are_not_opened_for_the_thread_of_another(tmp_path: Path) -> None:
    for number, answers in ((2, 1), (3, 2)):
        (tmp_path / f"{number}.eml").write_bytes(mail(number, answers))
    assert flows(tmp_path / "3.eml") == {"m3@x": ("m1@x", "m2@x")}
    (without,) = read_paths([tmp_path / "3.eml"], ImportOptions(exclude=("2.eml",)))
    assert isinstance(without, SourceItem)
    assert without.item.flow_id == "m2@x"
    (tmp_path / "2.eml").rename(tmp_path / "2.txt")
    (tmp_path / "2.eml").symlink_to(tmp_path / "2.txt")
    assert flows(tmp_path / "3.eml") == {"m3@x": ("m2@x", "m2@x")}


def test_a_long_chain_of_answers_is_followed_once() -> None:
    threads = FolderThreads({f"m{number}": f"m{number - 1}" for number in range(1, 20_000)})
    begun = time.process_time()
    assert {threads.root_of(f"m{number}", ()) for number in range(20_000)} == {"m0"}
    assert time.process_time() - begun < 2, "followed anew for each mail, it takes the square of its length"
