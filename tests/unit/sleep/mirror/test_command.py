"""``vicw mirror``: what it prints, its exit codes, and that it works beside a server."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from support.clients.served import serve_store
from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory, settings_for
from vicw_shared.errors import SettingsError
from vicw_shared.settings import MirrorSettings
from vicw_sleep.mirror.relocation import MANIFEST
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    async def fill() -> None:
        async with open_memory(store, vectors=False) as memory:
            await memory.ingest({"id": "a", "text": "The king sleeps."}, {"text": "Nobody's."})

    asyncio.run(fill())
    # Loggers keep what they were given first: here a stream that ends with the command.
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)
    return store


async def erase(store: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        await memory.standalone.graph.erasures.count_erasure()


def mirror(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["mirror", *words, "--data-dir", str(store)])


def test_mirror_build_sync_and_status_print_counts(filled: Path, tmp_path: Path) -> None:
    path = ("--path", str(tmp_path / "m"))
    assert mirror(filled, "status", *path).exit_code == 1
    built = mirror(filled, "build", *path)
    assert (built.exit_code, built.stdout) == (0, "2 items; 4 pages written\n")
    assert mirror(filled, "sync", *path).stdout == "2 items; 0 pages written\n"
    status = mirror(filled, "status", *path)
    assert (status.exit_code, status.stdout) == (0, "2 items on 4 pages\n")


def test_mirror_status_gives_the_reason_for_a_rebuild(filled: Path, tmp_path: Path) -> None:
    path = ("--path", str(tmp_path / "m"))
    mirror(filled, "build", *path)
    other = mirror(filled, "status", *path, "--viewer", "Ana")
    told = "it shows what is public, not what 'Ana' may see; a run for this viewer "
    assert (other.exit_code, other.stdout.splitlines()[1:]) == (
        1,
        [f"{told}(VICW_MIRROR_VIEWER, --viewer) rebuilds it"],
    )
    assert mirror(filled, "sync", *path, "--viewer", "*").stdout == "2 items; 4 pages written\n"
    assert "it shows everything, not what is public; " in mirror(filled, "status", *path).stdout
    mirror(filled, "build", *path)
    asyncio.run(erase(filled))
    erased = mirror(filled, "status", *path)
    assert erased.stdout.splitlines()[-1] == "data was erased since it was built; the next run rebuilds it"
    mirror(filled, "sync", *path)
    assert mirror(filled, "status", *path).exit_code == 0
    (tmp_path / "m" / MANIFEST).unlink()
    lost = mirror(filled, "status", *path)
    assert (lost.exit_code, lost.stdout.splitlines()[-1]) == (
        1,
        "its list of pages cannot be read; the next run rebuilds it",
    )
    assert mirror(filled, "sync", *path).stdout == "2 items; 4 pages written\n", "to look at it has mended nothing"
    assert mirror(filled, "status", *path).exit_code == 0


def test_mirror_without_a_path_or_a_store_is_refused(filled: Path, tmp_path: Path) -> None:
    nowhere = mirror(filled, "build")
    assert nowhere.exit_code == 2
    assert "VICW_MIRROR_PATH" in nowhere.stderr
    empty = CliRunner().invoke(app, ["mirror", "build", "--path", str(tmp_path / "m"), "--data-dir", str(tmp_path)])
    assert "holds no store" in str(empty.exception)


@pytest.mark.parametrize("command", ["build", "sync", "status"])
def test_mirror_refuses_the_root_of_a_disk(filled: Path, command: str) -> None:
    done = CliRunner().invoke(app, ["mirror", command, "--path", "/", "--data-dir", str(filled)])
    assert done.exit_code != 0
    assert isinstance(done.exception, SystemExit | SettingsError), done.exception
    assert "Name a folder that only the mirror uses" in done.output + str(done.exception)


def files_below(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("command", ["build", "sync"])
def test_mirror_refuses_an_unknown_tenant_and_writes_nothing(filled: Path, tmp_path: Path, command: str) -> None:
    refused = mirror(filled, command, "--path", str(tmp_path / "m"), "--tenant", "nosuch")
    assert refused.exit_code == 2
    assert "Nothing of tenant 'nosuch' is stored; there is 'default'. Name one with --tenant" in refused.stderr
    assert list(tmp_path.iterdir()) == []
    mirror(filled, "build", "--path", str(tmp_path / "m"))
    before = files_below(tmp_path)
    again = mirror(filled, command, "--path", str(tmp_path / "m"), "--tenant", "nosuch")
    assert (again.exit_code, "Nothing of tenant 'nosuch'" in again.stderr) == (2, True)
    assert files_below(tmp_path) == before


@pytest.mark.parametrize("command", ["build", "sync"])
def test_a_tenant_whose_items_were_retracted_has_an_empty_mirror(store: Path, tmp_path: Path, command: str) -> None:
    async def fill() -> None:
        async with open_memory(store, vectors=False) as memory:
            await memory.ingest({"id": "a", "text": "The king sleeps."})
            assert await memory.retract("a") == ["retracted"]

    asyncio.run(fill())
    done = mirror(store, command, "--path", str(tmp_path / "m"))
    assert (done.exit_code, done.stdout[:8]) == (0, "0 items;"), done.output


def test_the_mirror_of_a_tenant_that_was_erased_is_emptied(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_EMBEDDER", "none")
    path = ("--path", str(tmp_path / "m"))
    mirror(filled, "build", *path)
    forgotten = CliRunner().invoke(app, ["forget", "tenant", "default", "-y", "--data-dir", str(filled)])
    assert forgotten.exit_code == 0, forgotten.output
    done = mirror(filled, "sync", *path)
    assert (done.exit_code, done.stdout[:8]) == (0, "0 items;"), done.output
    assert mirror(filled, "build", *path).exit_code == 0
    assert mirror(filled, "build", "--path", str(tmp_path / "other")).exit_code == 2, "nobody knows of it any more"


async def test_a_server_keeps_the_mirror_of_a_tenant_that_has_nothing_yet(store: Path, tmp_path: Path) -> None:
    settings = MirrorSettings(path=tmp_path / "m", tenant="later", poll_seconds=0.05)
    standalone = Standalone(replace(settings_for(store), mirror=settings), HashEmbedder())
    await standalone.open()
    standalone.start_indexer()
    memory, until = Memory(standalone, HashEmbedder()), time.monotonic() + 20
    memory.tenant = "later"
    try:
        while not (tmp_path / "m").is_dir():
            assert time.monotonic() < until
            await asyncio.sleep(0.05)
        await memory.ingest({"text": "first words"})
        while not any("first words" in file.read_text("utf-8") for file in (tmp_path / "m").rglob("*.md")):
            assert time.monotonic() < until
            await asyncio.sleep(0.05)
    finally:
        await standalone.close()


async def test_a_server_keeps_its_mirror_up_to_date(store: Path, tmp_path: Path) -> None:
    settings = MirrorSettings(path=tmp_path / "m", poll_seconds=0.05)
    standalone = Standalone(replace(settings_for(store), mirror=settings), HashEmbedder())
    await standalone.open()
    standalone.start_indexer()
    memory = Memory(standalone, HashEmbedder())
    try:
        for text in ("first words", "then others"):
            await memory.ingest({"text": text})
            until = time.monotonic() + 20
            while not any(text in file.read_text("utf-8") for file in (tmp_path / "m").rglob("*.md")):
                assert time.monotonic() < until
                await asyncio.sleep(0.05)
    finally:
        await standalone.close()


async def test_a_mirror_that_cannot_be_kept_stops_no_server(store: Path, tmp_path: Path) -> None:
    (tmp_path / "m").write_text("mine")
    settings = MirrorSettings(path=tmp_path / "m", poll_seconds=0.05)
    standalone = Standalone(replace(settings_for(store), mirror=settings), HashEmbedder())
    await standalone.open()
    standalone.start_indexer()
    await asyncio.sleep(0.3)
    memory = Memory(standalone, HashEmbedder())
    await memory.ingest({"text": "still here"})
    await standalone.close()
    assert (tmp_path / "m").read_text() == "mine"


def test_mirror_does_and_says_the_same_beside_a_server(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [
        ("status", "--path", "{}/m"),
        ("build", "--path", "{}/m", "--viewer", "*"),
        ("sync", "--path", "{}/m"),
        ("sync", "--path", "{}/m"),
        ("status", "--path", "{}/m", "--viewer", "Ana"),
        ("build", "--path", "{}/n", "--tenant", "nosuch"),
        ("sync",),
    ]

    def run_all(folder: Path) -> list[tuple[int, str, str]]:
        done = [mirror(filled, *(word.format(folder) for word in one)) for one in words]
        return [(one.exit_code, one.stdout, one.stderr) for one in done]

    monkeypatch.setenv("VICW_EMBEDDER", "none")
    alone = run_all(tmp_path / "alone")
    with serve_store(filled):
        assert run_all(tmp_path / "served") == alone
    assert [code for code, _, _ in alone] == [1, 0, 0, 0, 1, 2, 2]
    assert files_below(tmp_path / "served").keys() == files_below(tmp_path / "alone").keys()


def test_only_the_owner_of_a_served_store_writes_a_mirror(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_EMBEDDER", "none")
    with serve_store(filled) as served:
        url = served.standalone.data_dir.read_address(filled)
        refused = httpx.post(f"{url}/admin/mirror/build", json={"path": str(tmp_path / "m")}, trust_env=False)
        assert refused.status_code in {401, 403}
    assert not (tmp_path / "m").exists()
