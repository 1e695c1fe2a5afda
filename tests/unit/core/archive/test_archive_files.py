"""The files of an export: written by one at a time, forgotten back to a place; and which uids there are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.archive.manifest import Manifest
from vicw_core.archive.reader import ArchiveReader
from vicw_core.archive.rows import COUNTERS, CounterRow
from vicw_core.archive.uids import UidIndex
from vicw_core.archive.writer import ArchiveWriter
from vicw_shared.errors import StateConflictError
from vicw_shared.ports import ModelIdentity

MODEL = ModelIdentity("m", 4, "", 1)


def manifest() -> Manifest:
    return Manifest(created_at=datetime(2026, 1, 1, tzinfo=UTC), program="test", model=MODEL)


def row(value: int) -> CounterRow:
    return CounterRow(tenant="t", context="c", flow=None, value=value)


def test_only_one_writer_at_a_time_may_write_an_export(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path / "e") as writer:
        with pytest.raises(StateConflictError, match="Another process writes"), ArchiveWriter(tmp_path / "e"):
            pass
        writer.write("counters.jsonl", COUNTERS, [row(1)])
        writer.finish(manifest(), 4)
    assert [path.name for path in tmp_path.iterdir()] == ["e"]
    with ArchiveWriter(tmp_path / "e") as writer:
        writer.write("counters.jsonl", COUNTERS, [row(2)])
        writer.finish(manifest(), 4)
    assert [one.value for _, one in ArchiveReader(tmp_path / "e").rows("counters.jsonl", COUNTERS)] == [2]
    assert sorted(path.name for path in (tmp_path / "e").iterdir()) == ["counters.jsonl", "embeddings", "manifest.json"]


def test_files_of_a_killed_export_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".e.partial/embeddings").mkdir(parents=True)
    (tmp_path / ".e.partial/edges.jsonl").write_text("half")
    with ArchiveWriter(tmp_path / "e") as writer:
        writer.write("counters.jsonl", COUNTERS, [row(1)])
        assert writer.finish(manifest(), 4).files.keys() == {"counters.jsonl"}
    assert not (tmp_path / "e/edges.jsonl").exists()


def test_foreign_files_are_not_removed_with_an_export(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path / "e") as writer:
        writer.finish(manifest(), 4)
    (tmp_path / "e/.DS_Store").touch()
    with ArchiveWriter(tmp_path / "e") as writer:
        writer.finish(manifest(), 4)
    for name in ("e/.git", ".e.partial", ".e.replaced"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "letter").write_text("dear")
        with pytest.raises(StateConflictError, match=r"move (that|it) away"), ArchiveWriter(tmp_path / "e"):
            pass
        assert (tmp_path / name / "letter").read_text() == "dear"
        (tmp_path / name).rename(tmp_path / "away")
        (tmp_path / name).symlink_to(tmp_path / "away")
        with pytest.raises(StateConflictError), ArchiveWriter(tmp_path / "e"):
            pass
        assert (tmp_path / "away/letter").read_text() == "dear"
        (tmp_path / name).unlink()
        (tmp_path / "away/letter").unlink()
        (tmp_path / "away").rmdir()


def test_an_interrupted_move_keeps_the_previous_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ArchiveWriter(tmp_path / "e") as writer:
        writer.write("counters.jsonl", COUNTERS, [row(1)])
        writer.finish(manifest(), 4)
    rename = Path.rename

    def dying(self: Path, target: Path) -> Path:
        if self.name == ".e.partial":
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", dying)
        with pytest.raises(KeyboardInterrupt), ArchiveWriter(tmp_path / "e") as writer:
            writer.finish(manifest(), 4)
    assert not (tmp_path / "e").exists()
    with pytest.raises(KeyError), ArchiveWriter(tmp_path / "e"):
        raise KeyError
    assert [one.value for _, one in ArchiveReader(tmp_path / "e").rows("counters.jsonl", COUNTERS)] == [1]


def test_an_export_into_a_mount_point_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "e").mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda self: self.name == "e")
    with pytest.raises(StateConflictError, match="name a folder inside it"), ArchiveWriter(tmp_path / "e"):
        pass


def test_rewind_discards_rows_written_since_a_position(tmp_path: Path) -> None:
    ids = [str(UUID(int=n)) for n in range(9)]
    rows = np.eye(9, 4, dtype=np.float32)
    with ArchiveWriter(tmp_path / "e") as writer:
        nothing = writer.position()
        writer.write("counters.jsonl", COUNTERS, [row(0)])
        writer.embed("chunks", ids[:2], rows[:2])
        writer.rewind(nothing)
        writer.write("counters.jsonl", COUNTERS, [row(1), row(2)])
        writer.embed("chunks", ids[:3], rows[:3])
        place = writer.position()
        writer.write("counters.jsonl", COUNTERS, [row(3)])
        writer.embed("chunks", ids[3:], rows[3:])
        writer.embed("statements", ids, rows)
        writer.rewind(place)
        writer.embed("chunks", ids[5:6], rows[5:6])
        made = writer.finish(manifest(), 4)
    assert {name: entry.rows for name, entry in made.files.items()} == {
        "counters.jsonl": 2,
        "embeddings/chunks.npy": 4,
        "embeddings/chunks.ids.json": 4,
    }
    reader = ArchiveReader(tmp_path / "e")
    reader.verify()
    found, vectors = reader.vectors("chunks")
    assert found == [*ids[:3], ids[5]] == json.loads((tmp_path / "e/embeddings/chunks.ids.json").read_text("utf-8"))
    assert (np.load(tmp_path / "e/embeddings/chunks.npy") == vectors).all()
    assert (vectors == rows[[0, 1, 2, 5]]).all()


UIDS = st.builds(lambda high, low: str(UUID(int=(high << 64) + low)), st.integers(0, 3), st.integers(0, 3))
"""Few, so that they share halves, and meet."""


@given(st.lists(st.lists(st.tuples(UIDS, st.integers(0, 9)))), st.lists(UIDS))
def test_the_uid_index_finds_uids_with_their_numbers(parts: list[list[tuple[str, int]]], wanted: list[str]) -> None:
    index, known, seen = UidIndex(), dict[str, int](), list[str]()
    for part in parts:
        index.add([uid for uid, _ in part], [number for _, number in part])
        for uid, number in part:
            known.setdefault(uid, number)
            seen.append(uid)
        assert index.find(wanted).tolist() == [known.get(uid, -1) for uid in wanted]
    assert len(index) == len(seen)
