"""The folder of uploaded files: whose it is, what is removed of it, and that nothing else is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from vicw_ingest.file_import.places import UploadPlaces
from vicw_ingest.file_import.upload_folder import UploadFolder
from vicw_shared.errors import StorageFullError
from vicw_shared.settings import ImportSettings

LOCK = "vicw-uploads.lock"
DEAD = "0123456789abcdef0123456789abcdef"


def places_in(folder: Path) -> UploadPlaces:
    return UploadPlaces(ImportSettings(jobs=1), folder, lambda: None)


def left_by_a_dead_process(folder: Path, deep: int = 0) -> Path:
    dead = folder / DEAD
    dead.mkdir(parents=True)
    (dead / LOCK).touch(0o600)
    make_deep(dead, deep)
    (dead / "private.md").write_text("secret")
    return dead


def make_deep(folder: Path, deep: int) -> None:
    """Make so many folders in each other, which no call with a path can."""
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        for _ in range(deep):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.fchdir(here)
        os.close(here)


def remove_deep(folder: Path) -> None:
    """Move what is in each other up, for who removes the folder after the test."""
    while (inner := folder / "d" / "d").exists():
        inner.rename(folder / "up")
        (folder / "d").rmdir()
        (folder / "up").rename(folder / "d")


async def test_files_of_a_killed_process_go_when_the_next_starts(tmp_path: Path) -> None:
    folder = tmp_path / "imports"
    dead = left_by_a_dead_process(folder)
    places, other = places_in(folder), places_in(folder)
    await places.open()
    async with places.place("a") as place:
        assert not dead.exists()
        (place.files / "a.md").touch()
        await other.open()
        assert (place.files / "a.md").exists(), "those of a process that lives stay"
        assert place.folder.stat().st_mode & 0o077 == 0
    assert not place.folder.exists()
    await places.close()
    await other.close()
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such folders")
async def test_what_cannot_be_removed_neither_keeps_the_server_from_starting_nor_a_place_taken(tmp_path: Path) -> None:
    folder = tmp_path / "imports"
    dead = left_by_a_dead_process(folder, deep=1200)
    places = places_in(folder)
    try:
        await places.open()
        async with places.place("a") as place:
            make_deep(place.files, 1200)
        async with places.place("a"):
            pass
    finally:
        remove_deep(dead)
        remove_deep(place.files)
        await places.close()


def test_only_folders_of_uploads_are_removed(tmp_path: Path) -> None:
    for name, lock in (("project", LOCK), ("project", "lock"), (DEAD, "lock"), ("f" * 32, "")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "work.md").touch()
        if lock:
            (tmp_path / name / lock).touch()
    linked = tmp_path / ("e" * 32)
    linked.symlink_to(left_by_a_dead_process(tmp_path / "elsewhere"), target_is_directory=True)
    UploadFolder(tmp_path).remove_leftovers()
    assert len(list(tmp_path.glob("*/work.md"))) == 3
    assert (linked / "private.md").exists()


def test_a_folder_that_vanished_is_made_again(tmp_path: Path) -> None:
    uploads = UploadFolder(tmp_path / "imports")
    first = uploads.make("a").parent
    uploads.remove(first)
    assert uploads.make("b").is_dir()
    uploads.close()


@pytest.mark.skipif(sys.platform == "win32", reason="it has no owners of this kind")
def test_a_folder_that_another_user_made_among_temporary_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "vicw-imports").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(StorageFullError, match="another user"):
        UploadFolder(tmp_path / "vicw-imports").make("a")
