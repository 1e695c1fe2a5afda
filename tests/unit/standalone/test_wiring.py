"""What a memory does when its directory is not as it left it."""

from __future__ import annotations

import asyncio
import fcntl
import shutil
import stat
from pathlib import Path

import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory, settings_for
from vicw_runtime.operations import Opening
from vicw_shared.errors import DataDirError, DataDirInUseError, MissingRecordError, ModelMismatchError
from vicw_standalone.stores.opening import open_stores
from vicw_standalone.wiring import Standalone
from vicw_stores.data_dir import DataDir


async def test_another_file_of_the_same_model_is_refused_and_reindex_suggested(store: Path) -> None:
    async with open_memory(store, HashEmbedder()):
        pass
    with pytest.raises(ModelMismatchError, match="vicw reindex") as refused:
        await Standalone(settings_for(store), HashEmbedder(digest="another file")).open()

    assert "file another file" in refused.value.detail
    assert "VICW_EMBEDDING_MODEL" not in refused.value.detail, "the name is the same: it would change nothing"


async def test_an_index_whose_making_was_killed_is_made_again(store: Path) -> None:
    half_made = store / "vectors.new" / "passages" / "segments"
    half_made.mkdir(parents=True)
    (store / "models").mkdir()
    (half_made / "torn").write_bytes(b"\0" * 100)

    async with open_memory(store) as memory:
        await memory.ingest({"id": "a", "text": "an apple"})
        assert await memory.found("apple") == ["a"]
    assert not (store / "vectors.new").exists()


def test_a_directory_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("private")
    tmp_path.chmod(0o755)

    with pytest.raises(DataDirError, match="other files"):
        DataDir(tmp_path).open()

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert [entry.name for entry in tmp_path.iterdir()] == ["letters"]


async def test_jobs_run_again_after_a_caller_went_away_while_they_were_being_stopped(store: Path) -> None:
    async def use(standalone: Standalone) -> None:
        async with standalone.memory().without_jobs():
            raise AssertionError("the caller is gone")

    def jobs() -> list[asyncio.Task[object]]:
        return [task for task in asyncio.all_tasks() if task.get_name() == "jobs" and not task.done()]

    async with open_memory(store) as memory:
        before = jobs()
        assert len(before) == 1
        caller = asyncio.create_task(use(memory.standalone))
        await asyncio.sleep(0)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert len(jobs()) == 1
        assert jobs() != before


def test_who_only_asks_which_server_has_a_directory_keeps_no_process_from_opening_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one"
    with DataDir(path):
        pass
    asking = (path / "vicw.lock").open()
    fcntl.flock(asking, fcntl.LOCK_SH)
    monkeypatch.setattr("vicw_stores.data_dir.time.sleep", lambda seconds: asking.close())
    with DataDir(path), pytest.raises(DataDirInUseError):
        DataDir(path).open()


async def test_a_new_directory_for_which_everything_was_refused_is_removed_unless_another_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = DataDir(tmp_path / "one")
    close = DataDir.close

    def close_and_let_in(data_dir: DataDir) -> None:
        close(data_dir)
        if data_dir is not other:
            other.open()

    for lets_in in (True, False):
        with monkeypatch.context() as patch, pytest.raises(MissingRecordError):
            if lets_in:
                patch.setattr(DataDir, "close", close_and_let_in)
            async with open_stores(settings_for(other.path), Opening.NEW):
                raise MissingRecordError("nothing to import")
        assert other.path.exists() == lets_in
        close(other)
        shutil.rmtree(other.path, ignore_errors=True)
