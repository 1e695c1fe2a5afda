from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from vicw_core import files


@pytest.fixture(params=["posix", "windows"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The system whose locks are used; those of Windows are made of the other's."""
    name: str = request.param
    if name == "windows":
        flock = fcntl.flock

        def locking(file: int, mode: int, size: int) -> None:
            assert (mode, size, os.lseek(file, 0, os.SEEK_CUR)) == (2, 1, 1 << 30)
            flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

        module = ModuleType("msvcrt")
        vars(module).update(locking=locking, LK_NBLCK=2)
        monkeypatch.setitem(sys.modules, "msvcrt", module)
        monkeypatch.setattr(files, "fcntl", None)
    return name


def test_a_locked_file_is_refused_to_others_until_it_is_closed(system: str, tmp_path: Path) -> None:
    first, second = (files.open_lock_file(tmp_path / "lock") for _ in range(2))
    files.lock(first)
    files.write_whole(first, b"one\ntwo\n")
    for shared in (False, True):
        with pytest.raises(OSError):
            files.lock(second, shared=shared)
    assert files.read_start(second, 512) == b"one\ntwo\n", "what is locked can be read"
    os.close(first)
    files.lock(second)
    files.write_whole(second, b"1")
    assert (tmp_path / "lock").read_bytes() == b"1", "what was longer is gone"
    os.close(second)


def test_a_lock_file_is_its_owners_and_never_behind_a_link(tmp_path: Path) -> None:
    os.close(files.open_lock_file(tmp_path / "lock"))
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "lock")
    with pytest.raises(OSError):
        files.open_lock_file(tmp_path / "link")
    with pytest.raises(FileNotFoundError):
        files.open_lock_file(tmp_path / "none", create=False)


def test_folders_are_synced_where_they_can_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.sync_folder(tmp_path)
    with pytest.raises(FileNotFoundError):
        files.sync_folder(tmp_path / "none")
    files.sync_all()
    monkeypatch.delattr(os, "O_DIRECTORY")
    monkeypatch.delattr(os, "sync")
    files.sync_folder(tmp_path / "none")
    files.sync_all()
