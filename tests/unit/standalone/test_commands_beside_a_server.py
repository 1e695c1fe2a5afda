"""Each command says and does the same beside a server that has the data directory open, and without one."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import pytest
from typer.testing import Result

from support.clients.served import command, serve_store
from support.clients.sleep_command import without_model
from support.stores.memory import open_memory
from unit.standalone.test_reconcile_and_expire_commands import corrupt_points, fill
from unit.standalone.test_sleep_command import fill_with_turns


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store with Events to consolidate, an item that expires, and wrong points."""

    async def fill_all() -> None:
        async with open_memory(store) as memory:
            await fill_with_turns(memory)
        await fill(store)
        await corrupt_points(store)

    asyncio.run(fill_all())
    without_model(monkeypatch)
    monkeypatch.setenv("VICW_SLEEP_PAUSED", "true")  # the server does nothing by itself
    return store


COMMANDS = [
    "check",
    "sleep reconcile --dry-run",
    "sleep reconcile",
    "check",
    "sleep status",
    "sleep log",
    "sleep consolidate --hours 0 --dry-run",
    "sleep consolidate --hours 0 --limit 2",
    "sleep log",
    "sleep log --json --task consolidate",
    "sleep log --refused",
    "sleep undo STEP",
    "sleep undo STEP",
    "sleep undo none",
    "sleep dream --hours 0 --dry-run",
    "sleep dream --hours 0 --quiet",
    "sleep wipe",
    "sleep resolve --dry-run",
    "sleep resolve",
    "sleep expire --dry-run",
    "sleep expire",
    "jobs list",
    "jobs list --json --llm",
    "jobs show none",
    "jobs replay --all",
    "jobs replay",
    "jobs replay 00000000-0000-4000-8000-000000000000",
    "keys create --tenant ana --right admin",
    "keys list",
    "keys revoke none",
    "forget item stays --dry-run",
    "forget item none --dry-run",
    "forget capacity --items 3 --dry-run",
    "check",
]


def _said(done: Result) -> tuple[int, str, str]:
    """Return what a command says, without the moment and without keys."""
    for pattern, name in (
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\.\d+\+00:00)?", "TIME"),
        (r"vicw_[0-9a-f]{12}_\S+", "KEY"),
        (r"\(0\.\d\d, ", "(CERTAINTY, "),  # counts of words include removed points until an index is opened again
        (r"\b[0-9a-f]{12}\b(?!-)", "ID"),
    ):
        done = Result(
            done.runner,
            re.sub(pattern, name, done.stdout).encode(),
            re.sub(pattern, name, done.stderr).encode(),
            b"",
            None,
            done.exit_code,
            None,
        )
    return done.exit_code, done.stdout, done.stderr


def _run_all(store: Path, between: Callable[[], None]) -> list[tuple[str, tuple[int, str, str]]]:
    said = []
    for words in COMMANDS:
        if "STEP" in words:
            logged = command(store, "sleep", "log", "--json", "--task", "consolidate").stdout.splitlines()
            words = words.replace("STEP", min(json.loads(line)["id"] for line in logged))
        said.append((words, _said(command(store, *words.split()))))
        between()
    return said


def test_what_is_listed_or_checked_can_be_had_as_json(filled: Path) -> None:
    assert command(filled, "keys", "create", "--tenant", "ana", "--note", "of [bold]Ana").exit_code == 0
    (key,) = map(json.loads, command(filled, "keys", "list", "--json").stdout.splitlines())
    assert (key["tenant"], key["note"], key["revoked_at"]) == ("ana", "of [bold]Ana", None)
    status = json.loads(command(filled, "sleep", "status", "--json").stdout)
    assert (status["last_step_at"], status["recent"]["done"]) == (None, 0)
    checked = command(filled, "check", "--json")
    assert (checked.exit_code, bool(json.loads(checked.stdout)["violations"])) == (1, True), "points are wrong"
    assert json.loads(command(filled, "check", "--last", "--json").stdout)["compared"] is None


@pytest.mark.timeout(600)
def test_commands_do_and_say_the_same_beside_a_server(filled: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(filled, twin)
    alone = _run_all(twin, lambda: None)
    assert {code for _, (code, _, _) in alone} == {0, 1, 2}
    with serve_store(filled) as served:
        beside = _run_all(filled, served.settle)
    for (words, expected), (_, said) in zip(alone, beside, strict=True):
        assert said == expected, "\n".join([words, *unified_diff(expected[1].splitlines(), said[1].splitlines())])


def test_the_owner_of_the_data_directory_needs_no_key(filled: Path) -> None:
    with serve_store(filled, "0.0.0.0"):
        assert command(filled, "sleep", "reconcile").exit_code == 0
        key = command(filled, "keys", "create", "--right", "admin")
        assert key.stdout.startswith("vicw_")
        assert command(filled, "check").exit_code == 0


def test_commands_beside_a_process_that_is_no_server_are_refused(filled: Path) -> None:
    async def while_open(words: str) -> None:
        async with open_memory(filled):
            done = await asyncio.to_thread(command, filled, *words.split())
            assert (done.exit_code, "in use by another VICW process" in done.stderr) == (2, True), done.output

    for words in ("check", "sleep reconcile", "sleep consolidate", "sleep log", "jobs list", "keys list"):
        asyncio.run(while_open(words))


def test_a_named_server_is_used_with_the_key_of_the_environment(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_store(filled) as served:
        url = served.standalone.data_dir.read_address(filled)
        assert url is not None
        for words in ("reconcile", "consolidate --dry-run", "dream --dry-run", "resolve --dry-run", "log"):
            done = command(tmp_path / "none", "sleep", *words.split(), "--url", url)
            assert done.exit_code == 0, done.output
        monkeypatch.setenv("VICW_API_KEY", "wrong")
        refused = command(tmp_path / "none", "sleep", "reconcile", "--url", url)
        assert (refused.exit_code, f"The server at {url} refuses" in refused.stderr) == (1, True)
        assert command(filled, "check").exit_code == 0, "the owner needs no key"
    gone = command(tmp_path / "none", "sleep", "reconcile", "--url", url)
    assert (gone.exit_code, f"{url} does not answer" in gone.stderr) == (1, True)
    assert command(filled, "sleep", "reconcile", "--url", url, "--platform").exit_code == 2
