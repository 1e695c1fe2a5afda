"""``vicw entities`` against a server that runs."""

from __future__ import annotations

import json
import subprocess

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import VICW, Server

pytestmark = pytest.mark.process
ITEMS = [
    {"text": "I moved to Oslo.", "speaker": "Ana Souza"},
    {"text": "So did I.", "speaker": "Souza Ana"},
    {"text": "Nobody slept.", "tags": ["sea"]},
    {"text": "Ben lost his job.", "about": ["Ben"], "sensitivity": "personal"},
    {"text": "Good morning.", "speaker": "Benny", "user": "u-17"},
]


def vicw(server: Server, *arguments: str, code: int = 0) -> str:
    """Run the command on the server; return what it printed."""
    command = [str(VICW), "entities", *arguments, "--url", server.url]
    done = subprocess.run(command, capture_output=True, text=True, env=server.environment, timeout=90, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_the_entities_command_merges_splits_renames_and_identifies(serve: Serve) -> None:
    server = serve()
    server.start()
    body = {"context": "chat", "extract": "none", "items": ITEMS}
    httpx.post(f"{server.url}/ingest", json=body, timeout=60, trust_env=False).raise_for_status()

    listed = {one["name"]: one for one in json.loads(vicw(server, "list", "chat", "--json"))}
    assert list(listed) == ["Ana Souza", "Ben", "Benny", "sea", "Souza Ana", "u-17"]
    ana, souza = listed["Ana Souza"]["uid"], listed["Souza Ana"]["uid"]
    assert vicw(server, "list", "chat", "so").split(" person")[0] == "Souza Ana"
    assert "1 edge" in vicw(server, "list", "chat", "--subtype", "tag")

    proposed = vicw(server, "candidates", "chat")
    assert "0.95 same words in another order" in proposed
    assert ana in proposed and souza in proposed
    assert "merged into Ana Souza" in vicw(server, "merge", souza, ana)
    assert "includes Souza Ana" in vicw(server, "show", ana)
    assert vicw(server, "candidates", "chat") == ""
    assert "merged into" not in vicw(server, "split", souza)
    assert "also Ana Souza" in vicw(server, "rename", ana, "Ana")
    assert json.loads(vicw(server, "show", ana, "--json"))["aliases"] == ["Ana Souza"]

    user, ben = listed["u-17"]["uid"], listed["Ben"]["uid"]
    question = {"query": "who lost a job?", "viewer": {"user": "u-17"}}

    def told() -> bool:
        answer = httpx.post(f"{server.url}/retrieve", json=question, timeout=60, trust_env=False)
        return "lost his job" in answer.text

    assert not told()
    assert "u-17" in vicw(server, "identify", user, ben)
    assert told()
    vicw(server, "identify", user, ben, "--not")
    assert not told()
    assert "Name an entity of subtype 'user'" in vicw(server, "identify", ben, ben, code=1)

    assert "No named entity has the uid x" in vicw(server, "show", "x", code=1)
    assert "is not merged" in vicw(server, "split", souza, code=1)
    assert server.stop() == 0
    assert "Is the server running?" in vicw(server, "show", ana, code=1)
