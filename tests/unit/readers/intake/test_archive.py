"""Files in a .zip are read as those of a folder are, within limits."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from pathlib import Path

import pytest

from vicw_readers.intake import archive as archives
from vicw_readers.intake.limits import ReadLimits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, Skipped, SourceItem, UnreadableFileError


def packed(path: Path, files: dict[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def ids(records: list[Record]) -> list[str | None]:
    return [record.item.id for record in records if isinstance(record, SourceItem)]


def test_each_member_has_its_own_reader(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "vault/a.md": "# A\n\nOne\n",
        "vault/m.py": "def f(): ...\n",
        "vault/.obsidian/app.json": "{}",
        "__MACOSX/vault/._a.md": "x",
        "vault/pic.png": b"\x89PNG\r\n\x1a\n\x00",
        "vault/lines.jsonl.gz": gzip.compress(b'{"id": "1", "text": "a"}\n'),
    }
    path = packed(tmp_path / "vault.zip", files)
    records = list(read_paths([path]))
    assert ids(records) == ["vault/a.md#a", "1", "vault/m.py#f"]
    assert {record.context for record in records if isinstance(record, SourceItem)} == {"vault"}
    (picture,) = [record for record in records if isinstance(record, Skipped)]
    assert picture.path == f"{path}: vault/pic.png"
    again = packed(tmp_path / "other name.zip", files)
    assert ids(list(read_paths([again]))) == ids(records), "the archive's name is in no id"
    (tmp_path / "both").mkdir()
    path.rename(tmp_path / "both" / "vault.zip")
    again.rename(tmp_path / "both" / "x.zip")
    assert "vault.zip/vault/a.md#a" in ids(list(read_paths([tmp_path / "both"])))


@pytest.mark.parametrize("name", ["/etc/notes.md", "../notes.md", "a/../../notes.md", "C:\\notes.md", "..\\notes.md"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    refused, item = read_paths([packed(tmp_path / "x.zip", {name: "# A\n", "b.md": "# B\n"})])
    assert isinstance(refused, Refused)
    assert "leads out" in refused.reason
    assert isinstance(item, SourceItem)
    assert item.item.id == "b.md#b"


def test_an_archive_in_an_archive_is_refused_with_what_to_do(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a.md", "# A\n")
    (refused,) = read_paths([packed(tmp_path / "Export.zip", {"part-1.zip": inner.getvalue()})])
    assert isinstance(refused, Refused)
    assert refused.path.endswith("Export.zip: part-1.zip")
    assert refused.reason == "is an archive in an archive"
    assert refused.fix


def test_a_member_that_expands_too_far_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "limits", lambda: ReadLimits(member_bytes=1024 * 1024))
    path = packed(tmp_path / "bomb.zip", {"a.jsonl": b" " * 40_000_000, "b.txt": "fine\n" * 20_000})
    bomb, *fine = read_paths([path])
    assert isinstance(bomb, Refused)
    assert "expands" in bomb.reason
    assert fine
    assert all(isinstance(record, SourceItem) for record in fine)
    with path.open("rb") as file, archives.Archive.opened(file) as archive:
        with pytest.raises(UnreadableFileError, match="expands"), archive.open("a.jsonl") as member:
            while member.read(65536):
                pass
        with archive.open("b.txt") as member:
            assert member.read(5) == b"fine\n"
            member.seek(0)
            assert member.readline() == b"fine\n"


def test_members_that_expand_too_far_together_are_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "limits", lambda: ReadLimits(archive_bytes=300_000, archive_expansion=1))
    path = packed(tmp_path / "bomb.zip", {f"{n}.txt": "fine\n" * 20_000 for n in range(4)})
    records = list(read_paths([path]))
    [refused] = [record for record in records if isinstance(record, Refused)]
    assert (refused.path, refused.reason) == (f"{path}: 3.txt", "is in a .zip that expands to over 300000 bytes")
    assert refused.fix


@pytest.mark.parametrize(("method", "at"), [(zipfile.ZIP_DEFLATED, 35), (zipfile.ZIP_LZMA, 10_000)])
def test_a_broken_member_is_refused_alone(tmp_path: Path, method: int, at: int) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.txt", random.Random(1).randbytes(20_000).hex())
        archive.writestr("b.txt", "fine")
    data = bytearray(path.read_bytes())
    data[at : at + 100] = b"\xff" * 100
    path.write_bytes(data)
    broken, fine = read_paths([path])
    assert isinstance(broken, Refused)
    assert "cannot be unpacked" in broken.reason
    assert isinstance(fine, SourceItem)


def test_too_many_members_and_a_broken_archive_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "x.zip", {f"{n}.md": "# A\n" for n in range(3)})
    monkeypatch.setattr(archives, "limits", lambda: ReadLimits(archive_files=2))
    (refused,) = read_paths([path])
    assert isinstance(refused, Refused)
    assert (refused.reason, bool(refused.fix)) == ("has 3 files, over 2", True)
    path.write_bytes(path.read_bytes()[:-30])
    (broken,) = read_paths([path])
    assert isinstance(broken, Refused)
    assert "cannot be read" in broken.reason


def test_a_file_finds_those_beside_it_and_none_outside(tmp_path: Path) -> None:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    for name in ("out.json", "root/users.json", "root/sub/day.json", "root/sub/other.json"):
        (tmp_path / name).write_text("{}")
    on_disk = SourceFile(tmp_path / "root/sub/day.json", "sub/day.json", "c")
    path = packed(tmp_path / "x.zip", {"users.json": "{}", "sub/day.json": "{}", "sub/other.json": "{}"})
    with path.open("rb") as file, archives.Archive.opened(file) as archive:
        archive.names = ()  # nothing goes through all names for one: an export has a hundred thousand
        packed_file = SourceFile(path, "sub/day.json", "c", archive=archive, member="sub/day.json")
        for source in (on_disk, packed_file):
            users, other = source.beside("../users.json"), source.beside("other.json")
            assert users is not None
            assert other is not None
            assert (users.name, users.text(), other.name) == ("users.json", "{}", "sub/other.json")
            assert source.beside("../../out.json") is None
            assert source.beside("none.json") is None
            with source.on_disk() as place:
                assert place.read_bytes() == b"{}"
