"""``vicw forget --copies``: exports and backups are searched wherever in the folder they are, and however broken."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from unit.standalone.test_forget_command import uids as uids
from unit.standalone.test_forget_command import vicw


def _backup(store: Path, folder: Path, *how: str) -> Path:
    assert vicw(store, "backup", "--to", folder, *how).exit_code == 0
    (backup,) = folder.iterdir()
    return backup


def _interrupted_export(store: Path, folder: Path) -> Path:
    """Leave what a kill leaves of an export: no manifest, under another name."""
    assert vicw(store, "export", "--to", folder / "export").exit_code == 0
    half = (folder / "export").rename(folder / ".export.partial")
    (half / "manifest.json").unlink()
    return half


def test_forget_finds_copies_of_every_kind_at_any_depth(uids: dict[str, str], store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    made = [
        _backup(store, folder / "2026" / "may"),
        _backup(store, folder / "2026" / "june", "--compress"),
        _interrupted_export(store, folder),
        Path(shutil.copytree(store, folder / "copied")),
    ]
    done = vicw(store, "forget", "item", "s", "-y", "--copies", folder)
    assert done.exit_code == 1, done.output
    told = "\n".join(f"still found in the copy {copy}" for copy in sorted(made))
    assert f"copies searched: 4\n{told}\nnot proven" in done.stdout
    folder.rename(tmp_path / "elsewhere")
    folder.mkdir()
    again = vicw(store, "forget", "resume")
    assert again.exit_code == 0, again.output
    assert "copies searched: 0\nproven: nothing is left" in again.stdout


def test_forget_does_not_search_the_open_data_directory_as_a_copy(
    uids: dict[str, str], store: Path, tmp_path: Path
) -> None:
    backup = _backup(store, tmp_path / "backups")
    assert vicw(store, "restore", backup, "--replace").exit_code == 0
    (aside,) = (path for path in store.iterdir() if path.name.startswith("replaced-"))
    (tmp_path / "link").symlink_to(store)
    done = vicw(store, "forget", "item", "s", "-y", "--copies", tmp_path, "--copies", store)
    told = "\n".join(f"still found in the copy {copy}" for copy in sorted([aside, backup]))
    assert f"copies searched: 2\n{told}\nnot proven" in done.stdout


def test_an_unreadable_folder_of_copies_prevents_the_erasure_proof(
    uids: dict[str, str], store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "copies" / "private"
    private.mkdir(parents=True)
    (tmp_path / "copies" / "loop").symlink_to("loop")
    exists, walk = Path.exists, Path.walk

    def allowed(path: Path) -> Path:
        if path.name == "private" or path.parent.name == "private":
            raise PermissionError(13, "Permission denied", str(path))
        return path

    monkeypatch.setattr(Path, "exists", lambda self, **how: exists(allowed(self), **how))
    monkeypatch.setattr(Path, "walk", lambda self, **how: walk(allowed(self), **how))
    done = vicw(store, "forget", "item", "s", "-y", "--copies", tmp_path / "copies")
    assert f"copies searched: 1\n{private} cannot be read: " in done.stdout, done.output
    assert done.exit_code == 1


def test_a_broken_copy_prevents_the_erasure_proof(uids: dict[str, str], store: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    backup = _backup(store, tmp_path / "backups", "--compress")
    broken.mkdir()
    names = [".vicw-20260501T000000Z.tar.gz.partial", "vicw-20260501T000000Z.tar.gz"]
    for name in names:
        (broken / name).write_bytes(backup.read_bytes()[:500])
    done = vicw(store, "forget", "item", "s", "-y", "--copies", broken)
    assert done.exit_code == 1
    for name in names:
        assert f"\n{broken / name} cannot be read: " in done.stdout, done.output
    assert "not proven" in done.stdout
    assert vicw(store, "forget", "item", "n1", "-y").exit_code == 0, "others are proven"
    shutil.rmtree(broken)
    assert "proven: nothing is left" in vicw(store, "forget", "resume").stdout
