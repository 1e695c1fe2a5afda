"""What is no place for a mirror is refused in plain words; what fails half-way leaves the mirror as it was."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.documents.mirror_pages import assert_consistent, everything, mirror_of, pages
from support.stores.memory import Memory, open_memory
from vicw_shared.errors import SettingsError, StateConflictError, StorageFullError
from vicw_sleep.mirror.folder import MirrorFolder
from vicw_sleep.mirror.relocation import MANIFEST, MARKER


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store) as opened:
        await opened.ingest(*({"id": f"i{n}", "text": f"word{n} is said", "tags": [f"t{n % 3}"]} for n in range(30)))
        yield opened


def names_in_folder(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir())


async def refusal(memory: Memory, path: Path) -> str:
    with pytest.raises(SettingsError) as refused:
        await mirror_of(memory, path).build()
    with pytest.raises(SettingsError):
        await mirror_of(memory, path).sync()
    assert "VICW_MIRROR_PATH" in refused.value.detail
    assert str(path) in refused.value.detail
    return refused.value.detail


async def test_a_file_as_mirror_path_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "m").write_text("mine")
    assert "is a file" in await refusal(memory, tmp_path / "m")
    assert (tmp_path / "m").read_text() == "mine"


@pytest.mark.parametrize("leads_somewhere", [True, False])
async def test_a_symbolic_link_as_mirror_path_is_refused(memory: Memory, tmp_path: Path, leads_somewhere: bool) -> None:
    if leads_somewhere:
        (tmp_path / "real").mkdir()
    (tmp_path / "m").symlink_to(tmp_path / "real")
    assert "symbolic link" in await refusal(memory, tmp_path / "m")
    assert not (tmp_path / "real").exists() or not list((tmp_path / "real").iterdir())


async def test_a_folder_not_created_by_the_mirror_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/thesis.md").write_text("years of work")
    assert "contains other files" in await refusal(memory, tmp_path / "m")
    (tmp_path / "m" / MARKER).write_text("no marker of ours")
    await refusal(memory, tmp_path / "m")
    assert (tmp_path / "m/thesis.md").read_text() == "years of work"


async def test_the_mirror_of_another_tenant_is_refused(memory: Memory, tmp_path: Path) -> None:
    await mirror_of(memory, tmp_path / "m").build()
    before = pages(tmp_path / "m")
    memory.tenant = "other"
    assert "another store or tenant" in await refusal(memory, tmp_path / "m")
    assert pages(tmp_path / "m") == before


async def test_the_mirror_of_another_store_is_refused(memory: Memory, store: Path, tmp_path: Path) -> None:
    async with open_memory(store.with_name("other")) as other:
        await other.ingest({"id": "i0", "text": "of the other store"})
        await mirror_of(other, tmp_path / "m").build()
        assert other.tenant == memory.tenant
    before = pages(tmp_path / "m")
    assert "another store or tenant" in await refusal(memory, tmp_path / "m")
    assert pages(tmp_path / "m") == before


@pytest.mark.parametrize("is_mirror", [True, False])
async def test_a_mount_point_as_mirror_path_is_refused(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_mirror: bool
) -> None:
    if is_mirror:
        await mirror_of(memory, tmp_path / "m").build()
    else:
        (tmp_path / "m").mkdir()
    before = pages(tmp_path / "m")
    monkeypatch.setattr(Path, "is_mount", lambda path: path == tmp_path / "m")
    assert "is where a volume is mounted" in await refusal(memory, tmp_path / "m")
    assert pages(tmp_path / "m") == before
    assert names_in_folder(tmp_path) == [".m.vicw-lock", "m"]


async def test_a_foreign_folder_beside_the_mirror_is_not_removed(memory: Memory, tmp_path: Path) -> None:
    await mirror_of(memory, tmp_path / "m").build()
    (tmp_path / ".m.vicw-building").mkdir()
    (tmp_path / ".m.vicw-building/mine.txt").write_text("mine")
    with pytest.raises(SettingsError, match="did not create"):
        await mirror_of(memory, tmp_path / "m").build()
    assert (tmp_path / ".m.vicw-building/mine.txt").read_text() == "mine"


async def test_a_read_only_mirror_path_is_refused(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "mkdir", denied)
    assert "cannot be written (Read-only file system" in await refusal(memory, tmp_path / "m")


@pytest.mark.parametrize("after", [0, 1, 3])
async def test_a_full_disk_leaves_the_mirror_as_it_was(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    before = pages(tmp_path / "m")
    await memory.ingest(*({"id": f"i{n}", "text": f"word{n} is changed", "tags": [f"t{n % 3}"]} for n in range(30)))
    opens, written = Path.open, 0

    def full(target: Path, mode: str = "r", *how: Any, **named: Any) -> Any:
        nonlocal written
        written += mode == "wb"
        if mode == "wb" and written > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opens(target, mode, *how, **named)

    monkeypatch.setattr(Path, "open", full)
    for work in (mirror.sync, mirror.build):
        written = 0
        with pytest.raises(StorageFullError, match="VICW_MIRROR_PATH"):
            await work()
        assert pages(tmp_path / "m") == before
    monkeypatch.undo()
    await mirror.sync()
    assert "is said" not in everything(tmp_path / "m")
    assert_consistent(tmp_path / "m")
    assert (await memory.check()).violations == []


async def test_a_locked_mirror_refuses_a_second_writer(memory: Memory, tmp_path: Path) -> None:
    with MirrorFolder(tmp_path / "m").locked(), pytest.raises(StateConflictError, match="another process"):
        await mirror_of(memory, tmp_path / "m").build()


async def test_symbolic_links_inside_a_mirror_are_not_followed(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    (tmp_path / "away").mkdir()
    (tmp_path / "m/@ctx/#t0").rename(tmp_path / "moved")
    (tmp_path / "m/@ctx/#t0").symlink_to(tmp_path / "away")
    await memory.ingest({"id": "new", "text": "new", "tags": ["t0"]})
    (tmp_path / "my.md").write_text("mine")
    shown = next(file for file in (tmp_path / "m/@ctx/#t1").iterdir() if file.name.startswith("ctx_"))
    shown.unlink()
    shown.symlink_to(tmp_path / "my.md")
    assert (await mirror.sync()).edited == []
    assert list((tmp_path / "away").iterdir()) == []
    assert (tmp_path / "my.md").read_text() == "mine"
    assert not (tmp_path / "m/.vicw-edits").exists()
    assert_consistent(tmp_path / "m")


async def test_a_rebuild_keeps_the_notes_and_settings_of_a_reader(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    for name in (".obsidian/app.json", "my note.md", "@ctx/#t0/beside.md", "own/folder/x.txt"):
        (tmp_path / "m" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / name).write_text(name)
    await mirror.build()
    for name in (".obsidian/app.json", "my note.md", "@ctx/#t0/beside.md", "own/folder/x.txt"):
        assert (tmp_path / "m" / name).read_text() == name
    assert names_in_folder(tmp_path) == [".m.vicw-lock", "m"]


_CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore
from vicw_shared.model import EdgeRegistry
from vicw_sleep.mirror import folder
from vicw_sleep.mirror.service import Mirror

store, mirror, way, where, after = sys.argv[1:]
count = 0
def dying(real):
    def call(*args, **kwargs):
        global count
        count += 1
        if count > int(after):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    return call

if where == "write":
    folder._write = dying(folder._write)
elif where == "exchange":
    folder._exchanged = dying(folder._exchanged)
elif where == "removing":
    remove = folder.remove
    def removing(left):
        os.unlink = dying(os.unlink)
        remove(left)
    folder.remove = removing
elif where == "marking":
    Path.replace = dying(Path.replace)
elif where == "two renames":
    folder._exchanged = lambda *_: False
    Path.rename = dying(Path.rename)
else:
    folder.move_foreign_files = dying(folder.move_foreign_files)

async def main():
    graph = SqliteGraphStore(DataDir(Path(store)), EdgeRegistry.with_core_types(), beside=True)
    await getattr(Mirror(graph, Path(mirror), "default"), way)()

asyncio.run(main())
"""


@pytest.mark.crash
@pytest.mark.parametrize(
    ("way", "where", "after"),
    [
        *(("build", "write", n) for n in (0, 1, 4, 7)),
        ("build", "exchange", 0),
        ("build", "two renames", 0),
        ("build", "two renames", 1),
        ("build", "moving", 0),
        *(("build", "removing", n) for n in (1, 4)),
        *(("build", "marking", n) for n in (0, 1)),
        *(("sync", "write", n) for n in (0, 2)),
    ],
)
async def test_a_killed_run_leaves_a_mirror_that_is_whole_or_repaired(
    memory: Memory, tmp_path: Path, way: str, where: str, after: int
) -> None:
    mirror, path = mirror_of(memory, tmp_path / "m"), tmp_path / "m"
    await mirror.build()
    (path / "my note.md").write_text("mine\n")
    before = everything(path)
    await memory.ingest(*({"id": f"i{n}", "text": f"word{n} is changed", "tags": [f"t{n % 3}"]} for n in range(30)))
    store = memory.standalone.settings.storage.data_dir
    child = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", _CHILD, str(store), str(path), way, where, str(after)], check=False
    )
    assert child.returncode == -signal.SIGKILL
    if path.exists():
        texts = pages(path)
        shown = "".join(texts.values())
        assert ("is said" in shown) != ("is changed" in shown), "the old one or the new one, never half of each"
        assert all(text.endswith("\n") for text in texts.values()), "each page is whole"
    done = await mirror.sync()
    assert done.edited == [], "what a dead run wrote is nobody's edit"
    after_all = everything(path)
    assert "is said" not in after_all
    assert after_all != before
    assert (path / "my note.md").read_text() == "mine\n"
    (path / "my note.md").unlink()
    assert_consistent(path)
    await mirror_of(memory, tmp_path / "fresh").build()
    assert pages(path) == pages(tmp_path / "fresh")
    assert json.loads((path / MARKER).read_text())["whole"]


@pytest.mark.parametrize("loss", ["gone", "garbage"])
async def test_a_mirror_whose_manifest_is_lost_is_built_anew(memory: Memory, tmp_path: Path, loss: str) -> None:
    mirror, manifest = mirror_of(memory, tmp_path / "m"), tmp_path / "m" / MANIFEST
    await mirror.build()
    for name in ("picture.png", "my note.md", "@ctx/my note.md", "@ctx/#t0/beside.md"):
        (tmp_path / "m" / name).write_bytes(b"mine\n")
    if loss == "gone":
        manifest.unlink()
    else:
        manifest.write_bytes(b"no manifest\xff\n" * 1000)
    assert (await mirror.sync()).built
    await memory.retract("i0")
    manifest.unlink()
    await mirror.sync()
    assert "word0 " not in everything(tmp_path / "m")
    for name in ("picture.png", "my note.md", "@ctx/my note.md", "@ctx/#t0/beside.md"):
        assert (tmp_path / "m" / name).read_bytes() == b"mine\n"
        (tmp_path / "m" / name).unlink()
    assert_consistent(tmp_path / "m")
