from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from vicw_readers.intake.limits import limits
from vicw_readers.intake.source_file import ImportOptions, SourceFile
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, Skipped, SourceItem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    return root


def write(path: Path, data: str | bytes = "text\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def ids(root: Path) -> list[str | None]:
    return [r.item.id for r in read_paths([root]) if isinstance(r, SourceItem)]


def test_files_are_read_in_path_order_with_relative_ids(folder: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/y.md", "a.md", "B.txt", "ü/x.txt"):
        write(folder / name)
    assert ids(folder) == ["B.txt#1", "a/b/y.md", "a/z.txt#1", "a.md", "b.txt#1", "ü/x.txt#1"]
    assert ids(folder) == ids(folder / "a" / "..")
    assert {r.context for r in read_paths([folder]) if isinstance(r, SourceItem)} == {"notes"}
    assert {r.context for r in read_paths([folder], ImportOptions(context="c")) if isinstance(r, SourceItem)} == {"c"}


def test_hidden_files_tools_folders_and_ignored_ones_are_left_out(folder: Path) -> None:
    for name in (".env", ".git/config", "node_modules/x.js", "env/pyvenv.cfg", "env/x.py", "__pycache__/x.py"):
        write(folder / name)
    write(folder / ".gitignore", "# comment\n*.log\n/build/\n!keep.log\n[\n")
    for name in ("a.log", "keep.log", "build/x.txt", "src/build/y.txt"):
        write(folder / name)
    assert ids(folder) == ["keep.log#1", "src/build/y.txt#1"]
    assert next(read_paths([folder / ".env"])).path == str(folder / ".env")


def test_the_nearest_of_nested_ignore_files_decides(folder: Path) -> None:
    write(folder / ".git" / "info" / "exclude", "private/\n*.draft.txt\n")
    write(folder / ".gitignore", "*.log\n/top.txt\nout/\n")
    write(folder / "a" / ".gitignore", "!keep.log\n/only.txt\n!b.draft.txt\n")
    kept = ("a/b.draft.txt", "a/deep/only.txt", "a/keep.log", "a/top.txt", "z.txt")
    left = ("a/only.txt", "a/x.log", "a/out/keep.log", "b.draft.txt", "keep.log", "private/x.txt", "top.txt")
    for name in (*kept, *left):
        write(folder / name)
    assert ids(folder) == ["a/b.draft.txt#1", "a/deep/only.txt#1", "a/keep.log#1", "a/top.txt#1", "z.txt#1"]


def test_files_without_text_are_skipped_in_a_folder_and_refused_alone(folder: Path) -> None:
    names = {
        "empty.md": b"",
        "blank.py": b" \n\t",
        "picture.png": b"\x89PNG\x00",
        "archive.zip": b"",
        "x.min.js": b"x",
        "pack.jsonl": b"",
    }
    for name, data in names.items():
        write(folder / name, data)
    with zipfile.ZipFile(folder / "archive.zip", "w"):
        pass
    assert all(isinstance(record, Skipped) for record in read_paths([folder]))
    assert len(list(read_paths([folder]))) == len(names)
    alone = list(read_paths([folder / name for name in names if name != "x.min.js"]))
    assert all(isinstance(record, Refused) for record in alone)


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "secret.txt")
    write(folder / "a" / "real.txt")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to(tmp_path)
    (folder / "a" / "loop").symlink_to(folder)
    (folder / "self").symlink_to("self")
    (folder / "gone").symlink_to("nowhere")
    (folder / "gone out").symlink_to(tmp_path / "gone.txt")
    (folder / "below a file").symlink_to(tmp_path / "secret.txt" / "x")
    found = list(read_paths([folder]))
    assert ids(folder) == ["a/real.txt#1"]
    refused = {Path(r.path).name: r.reason for r in found if isinstance(r, Refused)}
    assert refused == {
        "out.txt": "is a link that leads out of the folder",
        "up": "is a link that leads out of the folder",
        "self": "is a link that cannot be followed",
        "gone": "is a broken link: nowhere does not exist",
        "gone out": f"is a broken link: {tmp_path / 'gone.txt'} does not exist",
        "below a file": f"is a broken link: {tmp_path / 'secret.txt' / 'x'} does not exist",
    }
    linked = tmp_path / "linked"
    linked.symlink_to(folder)
    assert ids(linked) == ["a/real.txt#1"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("é\r\n".encode("utf-8-sig"), "é\r\n"),
        ("é\n".encode("utf-16"), "é\n"),
        (b"\xfe\xff" + "é".encode("utf-16-be"), "é"),
    ],
)
def test_encodings_with_a_byte_order_mark_are_decoded(folder: Path, data: bytes, text: str) -> None:
    (record,) = read_paths([write(folder / "x.txt", data)])
    assert isinstance(record, SourceItem)
    assert record.item.text == text


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        ("a\nb\nniño".encode("latin-1"), 3, "is not valid UTF-8"),
        (b"\xff\xfea\x00b", 1, "is not valid UTF-16"),
        (b"a\n" * 5000 + b"\x00", 5001, "contains the NUL character (U+0000)"),
        (b"", None, "is empty"),
        (b"\x00", None, "is binary"),
    ],
)
def test_unreadable_text_is_refused_with_its_line(folder: Path, data: bytes, line: int | None, reason: str) -> None:
    path = write(folder / "x.md", data)
    (refused,) = read_paths([path])
    assert isinstance(refused, Refused)
    assert (refused.path, refused.line, refused.reason) == (str(path), line, reason)


def test_another_encoding_is_read_if_the_file_or_the_user_names_it(folder: Path) -> None:
    latin = "# -*- coding: latin-1 -*-\nname = 'Jørn'\n".encode("latin-1")
    (named,) = read_paths([write(folder / "a.py", latin)])
    assert isinstance(named, SourceItem)
    assert "Jørn" in named.item.text
    path = write(folder / "b.txt", "Niño".encode("cp1252"))
    (refused,) = read_paths([path])
    assert isinstance(refused, Refused)
    assert "--encoding" in refused.fix
    (said,) = read_paths([path], ImportOptions(encoding="cp1252"))
    assert isinstance(said, SourceItem)
    assert said.item.text == "Niño"
    (still,) = read_paths([write(folder / "c.txt", "Niño")], ImportOptions(encoding="cp1252"))
    assert isinstance(still, SourceItem)
    assert still.item.text == "Niño", "what is UTF-8 stays so"
    assert list(SourceFile(path, "b.txt", "c", ImportOptions(encoding="cp1252")).lines()) == ["Niño"]
    (wrong,) = read_paths([path], ImportOptions(encoding="utf-7"))
    assert isinstance(wrong, Refused)
    assert "neither" in wrong.reason


def test_large_special_and_missing_files_are_refused(folder: Path) -> None:
    large = write(folder / "large.txt", "x" * (limits().text_bytes + 1))
    os.mkfifo(folder / "pipe.txt")
    reasons = [r.reason for r in read_paths([large, folder / "pipe.txt", folder / "no"]) if isinstance(r, Refused)]
    assert reasons == [
        f"is too large: {limits().text_bytes + 1} bytes, over {limits().text_bytes}",
        "is neither a file nor a folder",
        "cannot be read: No such file or directory",
    ]
    assert [type(r) for r in read_paths([folder])] == [Refused, Skipped]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_reported(folder: Path) -> None:
    write(folder / "locked" / "x.txt")
    write(folder / "z.txt")
    (folder / "locked").chmod(0)
    try:
        refused, item = read_paths([folder])
    finally:
        (folder / "locked").chmod(0o700)
    assert isinstance(refused, Refused)
    assert isinstance(item, SourceItem)


def test_a_file_name_outside_utf8_is_refused_with_a_printable_path(folder: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt"))
    write(path)
    (record,) = read_paths([folder])
    assert isinstance(record, Refused)
    assert "surrogate" in record.reason
    assert "caf\\udce9" in record.path.encode("ascii").decode()


def test_ids_and_names_of_long_paths_are_cut_to_512_characters(folder: Path) -> None:
    path = write(folder / Path(*["d" * 200] * 3) / "x.md", "# " + "t" * 600)
    found = [r for r in read_paths([folder]) if isinstance(r, SourceItem)]
    assert path.exists()
    assert [len(r.item.id or "") for r in found] == [512]
    assert [len(r.item.name or "") for r in found] == [512]
