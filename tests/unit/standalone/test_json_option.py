"""Every command that prints a result prints it as JSON, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner, Result

from support.clients.served import keep_logs, serve_store
from vicw_standalone.cli import app
from vicw_stores.data_dir import DataDir

WITHOUT = {
    "serve": "runs until it is stopped",
    "mcp": "speaks MCP on its standard output",
    "hook": "answers as the agent wants it",
    "connect": "asks, and tells of files that it changes",
    "disconnect": "asks, and tells of files that it changes",
    "model pull": "a download, whose result is a file",
    "model use": "changes a setting",
}
"""Commands that print no result of which a program could make use."""
MEASURE = "bench"
"""Commands that measure for minutes: their tests are in `unit/bench`."""
LINES = {"keys list", "sleep log", "events", "ingest"}
"""Commands that print an object a line, as it comes."""


def _commands(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    group.list_commands(_CONTEXT)
    for name in tuple(group.commands):
        command = group.resolve_command(_CONTEXT, [name])[1]
        if isinstance(command, TyperGroup):
            yield from _commands(command, (*path, name))
        else:
            assert command is not None
            yield " ".join((*path, name)), {option for one in command.params for option in one.opts}


_ROOT = typer.main.get_group(app)
_CONTEXT = typer.Context(_ROOT)
COMMANDS = dict(_commands(_ROOT))


def test_each_command_that_prints_a_result_takes_the_option() -> None:
    assert {name for name, options in COMMANDS.items() if "--json" not in options} == set(WITHOUT)


class Place:
    """A server of a store, the commands that reach it by its data directory, and what is stored."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def post(self, path: str, **body: Any) -> Any:
        return httpx.post(f"{self.url}{path}", json=body, timeout=60).raise_for_status().json()

    def get(self, path: str, **query: Any) -> Any:
        return httpx.get(f"{self.url}{path}", params=query, timeout=60).raise_for_status().json()

    def run(self, command: str, *words: str) -> Result:
        return CliRunner().invoke(app, [*command.split(), *words, "--json"])

    def parsed(self, command: str, *words: str) -> Any:
        """Return what a command prints, by a parser of JSON."""
        done = self.run(command, *words)
        assert done.exit_code == 0, f"{command}: {done.output}{done.exception!r}"
        if command in LINES:
            return [json.loads(line) for line in done.stdout.splitlines()]
        return json.loads(done.stdout)


@pytest.fixture
def place(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    keep_logs(monkeypatch)
    for name in ("VICW_URL", "VICW_RETRIEVE_URL", "VICW_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VICW_DATA_DIR", str(store))
    monkeypatch.setenv("VICW_WEBHOOKS_ENABLED", "true")
    monkeypatch.setenv("VICW_WEBHOOKS_ALLOW_PRIVATE", "true")
    monkeypatch.setenv("VICW_MIRROR_PATH", str(tmp_path / "mirror"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with serve_store(store):
        serving = DataDir.read_server(store)
        assert serving is not None
        yield Place(serving.url, tmp_path)


def test_what_a_command_prints_is_json(place: Place) -> None:
    turns = [
        {"id": "a", "speaker": "Amy", "user": "amy-7", "text": "I told Bob that the second safe is empty."},
        {"id": "b", "speaker": "Bob", "user": "bob-2", "text": "The ferry to the island leaves at noon."},
        {"id": "c", "speaker": "Bob", "text": "The ferry to the island leaves at one.", "about": ["Amy"]},
    ]
    job = place.post("/ingest", context="port", items=turns, wait=False)["job"]
    for spare in ("spare", "third"):
        place.post("/ingest", context=spare, items=[{"id": "x", "text": f"A trunk of maps, {spare}.", "user": "cid-1"}])
    note = place.folder / "note.md"
    note.write_text("# Buoys\n\nThe buoy is red.\n")
    people = [one["uid"] for one in place.get("/entities", context="port", subtype="person")["entities"]]
    user = place.get("/entities", context="port", subtype="user")["entities"][0]["uid"]
    item = place.get("/items", context="port", id="a")["uid"]
    export, backups = place.folder / "export", place.folder / "backups"
    tried: dict[str, Any] = {}

    def run(command: str, *words: str) -> Any:
        tried[command] = place.parsed(command, *words)
        return tried[command]

    run("ingest", str(note), "--context", "notes")
    run("retrieve", "When does the ferry leave?")
    assert {one["id"] for one in run("items list", "port")} == {"a", "b", "c"}
    assert run("items show", item)["id"] == "a"
    assert run("items edit", "a", '{"tags": ["safe"]}', "--context", "port")["version"] == 2
    assert run("items supersede", "c", "b", "--context", "port")["changed"] is True
    assert run("items feedback", "a", "useful", "--query", "safe?", "--context", "port")["useful"] == 1
    for command in ("contexts", "users", "audit", "feedback", "stats", "check", "jobs list"):
        run(command)
    run("timeline", "port")
    assert run("jobs show", job)["job"] == job
    assert run("jobs replay", "--all") == {"due": 0}
    assert run("events", "--no-follow") == []
    hook = run("webhooks create", "http://127.0.0.1:9/")["id"]
    assert run("webhooks rotate", hook)["id"] == hook
    assert run("webhooks replay", hook) == {"count": 0}
    for command in ("webhooks list", "webhooks dead"):
        run(command, *([hook] if command.endswith("dead") else []))
    assert run("webhooks delete", hook) == {"id": hook}
    run("entities list", "port")
    run("entities show", people[0])
    run("entities profile", people[0])
    run("entities candidates", "port")
    assert run("entities merge", people[0], people[1])["changed"] is True
    assert run("entities split", people[0])["changed"] is True
    assert run("entities rename", people[0], "Amelia")["entity"]["name"] == "Amelia"
    run("entities identify", user, people[1], "--not")
    run("graph show", "--context", "port")
    run("graph find", "ferry", "--context", "port")
    assert run("keys create")["token"]
    key = run("keys list")[0]["id"]
    assert run("keys revoke", key) == {"id": key}
    assert {one["name"] for one in run("model list")}
    place.run("doctor")  # it ends with 1 where a machine has a problem
    tried["doctor"] = json.loads(place.run("doctor").stdout)
    assert run("mirror build")["items"] > 0
    run("mirror sync")
    assert run("mirror status")["items"] > 0
    assert "items" in run("sleep consolidate", "--dry-run")
    for command in ("dream", "resolve", "expire", "reconcile"):
        run(f"sleep {command}", "--dry-run")
    run("sleep wipe")
    run("sleep log")
    run("sleep status")
    run("reindex", "--status")
    assert run("export", "--to", str(export))["path"] == str(export)
    run("backup", "--to", str(backups), "--keep", "1")
    assert run("import", str(export), "--check")["valid"] is True
    assert run("retract", "b", "--context", "port", "--dry-run")["items"][0]["status"] == "retracted"
    assert run("items retract", "--filter", '{"context": "notes"}')["dry_run"] is False
    assert run("forget capacity", "--items", "100", "--dry-run")["erased"] == 0
    assert run("forget user", "cid-1", "--context", "spare", "--yes")["erasures"][0]["proven"] is True
    assert run("forget item", "x", "--context", "third", "--dry-run")["selected"][0]["items"] == {"third": 1}
    assert run("forget person", "Bob", "--yes")["erasures"][0]["proven"] is True
    for command, name in (("context", "port"), ("tenant", "default")):
        run(f"forget {command}", name, "--yes")
    run("forget resume")
    untried = {"sleep undo", "restore", "forget import"}  # below, and those that need another store
    measured = {name for name in COMMANDS if name.startswith(f"{MEASURE} ")}
    assert set(tried) == set(COMMANDS) - set(WITHOUT) - measured - untried


def test_what_is_restored_and_given_up_is_json(store: Path, tmp_path: Path, place: Place) -> None:
    place.post("/ingest", context="port", items=[{"id": "a", "text": "The buoy is red."}])
    export = tmp_path / "export"
    place.parsed("export", "--to", str(export))
    other = str(tmp_path / "other")
    assert place.parsed("restore", str(export), "--data-dir", other)["nodes"] > 0
    assert place.run("sleep undo", "none").exit_code == 1
    refused = place.run("forget import", "--data-dir", other, "--yes")
    assert (refused.exit_code, refused.stdout) == (1, ""), "nothing to give up, and no half of an answer"
