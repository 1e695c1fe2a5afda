"""What a newcomer does on the first day, over the real command and the real server with the real model."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.processes.server import VICW, Server, require_clean, run, temporary_directory
from vicw_client import VicwClient

pytestmark = pytest.mark.process

CHAT = [
    ("Ana", "Morning! The nightly build is red again."),
    ("Ben", "I saw. Somebody bumped the numpy pin yesterday evening."),
    ("Ana", "That is why the wheel no longer compiles on the old runner."),
    ("Ben", "I will roll the pin back and open a ticket for a newer runner image."),
    ("Ana", "Thanks. By the way, my sister Carla moves to Lisbon in March."),
    ("Ben", "Lovely, tell her to try the pastries in Belém."),
]
STORY = """# The Lantern Keeper

On the island of Orla lived a keeper who lit the lantern every evening.

## The storm

One night a storm broke the great window, and the lantern went out.
A ship with red sails ran onto the rocks below.

## The morning after

The keeper rowed out alone and brought nineteen sailors ashore.
"""
CODE = '''"""Reads settings."""


def load_settings(path):
    """Parse the settings file and apply defaults."""
    return {"retries": 3}


class RetryPolicy:
    """Waits longer after each failure."""

    def delay(self, attempt):
        return 2 ** attempt
'''


@pytest.fixture(scope="module")
def day(models_dir: Path) -> Iterator[Server]:
    """A server that has been told a chat, a story and some code by ``vicw ingest``."""
    with temporary_directory() as folder:
        server = Server(folder / "data", models_dir)
        server.start()
        items = [
            {
                "id": f"t{n}",
                "context": "team chat",
                "domain": "general",
                "flow_id": "monday",
                "subtype": "message",
                "speaker": speaker,
                "timestamp": f"2025-03-03T09:{n:02}:00Z",
                "text": text,
            }
            for n, (speaker, text) in enumerate(CHAT)
        ]
        (folder / "chat.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
        (folder / "tale").mkdir()
        (folder / "tale" / "lantern.md").write_text(STORY)
        (folder / "src").mkdir()
        (folder / "src" / "settings.py").write_text(CODE)
        for arguments in (["chat.jsonl"], ["tale", "--domain", "story", "--flow", "lantern"], ["src"]):
            done = command(server, "ingest", str(folder / arguments[0]), *arguments[1:])
            assert done.returncode == 0, done.stdout + done.stderr
        yield server
        assert server.stop() == 0
        require_clean(server)


def command(server: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = server.environment | {"VICW_URL": server.url, "XDG_STATE_HOME": str(server.data_dir) + ".state"}
    return subprocess.run([VICW, *arguments], capture_output=True, text=True, env=environment, timeout=90, check=False)


def ask(server: Server, query: str, **fields: Any) -> dict[str, Any]:
    answer = httpx.post(f"{server.url}/retrieve", json={"query": query, **fields}, timeout=30)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_chat_answer_has_the_turn_its_neighbours_and_its_proof(day: Server) -> None:
    answer = ask(day, "Why does the wheel not compile?", limit=3)
    first = answer["results"][0]
    assert (first["id"], first["speaker"], first["context"]) == ("t2", "Ana", "team chat")
    nodes = {node["uid"]: node for node in answer["graph"]["nodes"]}
    edges = {
        (e["type"], nodes[e["source"]]["id"] or nodes[e["source"]]["name"], nodes[e["target"]]["id"])
        for e in answer["graph"]["edges"]
    }
    assert ("NEXT", "t1", "t2") in edges
    assert ("NEXT", "t2", "t3") in edges
    assert ("INITIATED", "Ana", "t2") in edges
    proof = next(e for e in answer["graph"]["edges"] if e["type"] == "EVIDENCED_BY" and e["source"] == first["uid"])
    assert nodes[proof["target"]]["text"] == CHAT[2][1] == first["text"]
    assert "before: Ben: I saw. Somebody bumped the numpy pin" in answer["text"]
    assert answer["degraded"] == []


def test_story_and_code_questions_return_one_domain_each(day: Server) -> None:
    story = ask(day, "What happened to the ship with red sails?", limit=3)
    assert story["results"][0]["id"].endswith("lantern.md#the-storm")
    assert {r["domain"] for r in story["results"]} == {"creative"}
    assert "nineteen sailors" in story["text"], "what came next is in the text"
    code = ask(day, "How long does the retry policy wait after a failure?", limit=3)
    assert "RetryPolicy" in code["results"][0]["id"]
    assert {r["domain"] for r in code["results"]} == {"coding"}


def test_the_cli_prints_answers_and_a_repeated_ingest_is_unchanged(day: Server) -> None:
    shown = command(day, "retrieve", "Where does Carla move to?", "--limit", "1")
    assert shown.returncode == 0, shown.stderr
    assert "my sister Carla moves to Lisbon" in shown.stdout
    assert "NEXT" in shown.stdout
    asked = json.loads(command(day, "retrieve", "Where does Carla move to?", "--json").stdout)
    assert asked["results"][0]["id"] == "t4"
    assert "\n[1] team chat · " in "\n" + command(day, "retrieve", "Carla", "--text").stdout
    folder = day.data_dir.parent
    again = command(day, "ingest", str(folder / "src"), "--again")
    assert again.returncode == 0
    assert "unchanged" in again.stdout


def test_the_cli_exits_with_1_or_2_on_refusals_and_missing_servers(day: Server) -> None:
    broken = day.data_dir.parent / "broken.jsonl"
    broken.write_text('{"text": "fine", "context": "x"}\n{"text": \n')
    done = command(day, "ingest", str(broken))
    assert done.returncode == 1
    assert "broken.jsonl:2" in done.stderr
    started = time.monotonic()
    for arguments, code, says in (
        (["retrieve", "x", "--url", "http://127.0.0.1:9"], 1, "vicw serve"),
        (["ingest", str(broken), "--url", "http://127.0.0.1:9"], 2, "vicw serve"),
        (["ingest", str(broken), "--url", "ftp://somewhere"], 2, "is not an address"),
        (["retrieve", "x", "--url", "http://[::1"], 2, "is not an address"),
    ):
        nobody = subprocess.run([VICW, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert (nobody.returncode, "Traceback" in nobody.stderr) == (code, False), nobody.stderr
        assert says in nobody.stderr
    assert time.monotonic() - started < 30, "an import is patient with a busy server, not with none"
    assert "query" in command(day, "retrieve", "").stderr
    nowhere = command(day, "ingest", "")
    assert (nowhere.returncode, "is empty" in nowhere.stderr) == (2, True), "not the folder that one stands in"
    assert command(day, "ingest", str(broken.with_name("no such file"))).returncode == 2


def test_reindex_of_a_missing_store_fails_and_creates_none(day: Server) -> None:
    typo = day.data_dir.parent / "typo"
    refused = command(day, "reindex", "--data-dir", str(typo))
    assert (refused.returncode, "holds no store" in refused.stderr) == (1, True)
    assert not typo.exists()


def test_readyz_reports_the_store_and_the_passages_waiting(day: Server) -> None:
    said = httpx.get(f"{day.url}/readyz").json()
    assert (len(said["store"]), said["passages_waiting"]) == (32, 0)


def test_the_cli_strips_control_characters_from_stored_text(day: Server) -> None:
    with VicwClient(day.url) as client:
        client.ingest(
            context="hostile", items=[{"text": "a volcano \x1b]0;owned\x07 erupts \x9b2J", "name": "\x1b[31mred"}]
        )
    shown = command(day, "retrieve", "volcano erupts", "--context", "hostile")
    assert "volcano" in shown.stdout
    assert not {"\x1b", "\x07", "\x9b"} & set(shown.stdout)


def test_docs_openapi_metrics_and_help_are_served(day: Server) -> None:
    with VicwClient(day.url) as client:
        assert client.ready()
    assert httpx.get(f"{day.url}/docs").status_code == 200
    paths = httpx.get(f"{day.url}/openapi.json").json()["paths"]
    assert {"/ingest", "/retrieve", "/ingest/jobs/{job}", "/healthz", "/readyz", "/metrics"} <= paths.keys()
    assert "vicw_retrieve_channel_seconds" in httpx.get(f"{day.url}/metrics").text
    for arguments in (["--help"], ["serve", "--help"], ["ingest", "--help"], ["model", "--help"], ["bench", "--help"]):
        shown = command(day, *arguments)
        assert shown.returncode == 0
        assert "Usage" in shown.stdout
    assert oct(day.data_dir.stat().st_mode)[-3:] == "700"


def test_doctor_passes_beside_a_running_server(day: Server) -> None:
    report = run(day, "doctor")
    assert report.returncode == 0, report.stdout
    assert "in use by another VICW process" in report.stdout
