"""Each command says and does the same beside a server that has the data directory open, and without one."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from support.clients.served import command, keep_logs, serve_store
from support.clients.sleep_command import without_model
from support.stores.memory import open_memory
from unit.standalone.test_reconcile_and_expire_commands import corrupt_points, fill


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    asyncio.run(fill(store))
    without_model(monkeypatch)
    keep_logs(monkeypatch)
    return store


COMMANDS = [
    "check",
    "sleep reconcile --dry-run",
    "sleep reconcile",
    "check",
]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_commands_do_and_say_the_same_beside_a_server(filled: Path, tmp_path: Path, host: str) -> None:
    asyncio.run(corrupt_points(filled))
    twin = tmp_path / "twin"
    shutil.copytree(filled, twin)
    alone = [command(twin, *words.split()) for words in COMMANDS]
    with serve_store(filled, host) as served:
        for words, other in zip(COMMANDS, alone, strict=True):
            done = command(filled, *words.split())
            assert (done.exit_code, done.stdout, done.stderr) == (other.exit_code, other.stdout, other.stderr), words
            served.settle()


def test_commands_beside_a_process_that_is_no_server_are_refused(filled: Path) -> None:
    async def while_open(words: str) -> None:
        async with open_memory(filled):
            done = await asyncio.to_thread(command, filled, *words.split())
            assert (done.exit_code, "in use by another VICW process" in done.stderr) == (2, True), done.output

    for words in dict.fromkeys(COMMANDS):
        asyncio.run(while_open(words))


def test_a_named_server_is_used_with_the_key_of_the_environment(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_store(filled) as served:
        url = served.standalone.data_dir.read_address(filled)
        assert url is not None
        assert command(tmp_path / "none", "check", "--url", url).exit_code == 0
        monkeypatch.setenv("VICW_API_KEY", "wrong")
        refused = command(tmp_path / "none", "check", "--url", url)
        assert (refused.exit_code, f"The server at {url} refuses" in refused.stderr) == (2, True)
        assert command(filled, "check").exit_code == 0, "the owner needs no key"
    gone = command(tmp_path / "none", "check", "--url", url)
    assert (gone.exit_code, f"{url} does not answer" in gone.stderr) == (2, True)
    assert command(filled, "check", "--url", url, "--platform").exit_code == 2
