"""``vicw hook``: it starts in a moment, and whatever goes wrong it prints nothing, in time."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from support.processes.server import eventually
from vicw_standalone.agent_hooks import hook

ANSWER = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "<vicw-memory>…"}}
_HEAVY = {"typer", "rich", "click", "pydantic", "httpx", "numpy", "fastapi", "structlog", "vicw_client", "asyncio"}


class Requests(list[tuple[str, dict[str, Any]]]):
    """What a server was sent: paths with bodies."""

    url = ""
    status = 200
    wants_turns = False


@pytest.fixture
def requests() -> Iterator[Requests]:
    seen = Requests()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, body))
            sent = json.dumps(ANSWER if self.path.startswith("/hooks/claude") else {}).encode()
            self.send_response(seen.status)
            self.send_header("Content-Length", str(len(sent)))
            if seen.wants_turns:
                self.send_header(hook.TURNS_HEADER, "yes")
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    seen.url = f"http://127.0.0.1:{server.server_port}"
    yield seen
    server.shutdown()
    server.server_close()


def run(event: Any, *arguments: str, program: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VICW_")}
    start = program or "from vicw_standalone.__main__ import main; main()"
    command = [sys.executable, "-c", f"import sys; sys.argv = ['vicw', 'hook', *{arguments!r}]\n{start}"]
    sent = event if isinstance(event, str) else json.dumps(event)
    environment = clean | variables
    return subprocess.run(command, input=sent, capture_output=True, text=True, timeout=30, env=environment, check=False)


def event(name: str, folder: Path, **fields: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": "s1", "cwd": str(folder), "model": "m", **fields}


def transcript(folder: Path, *texts: str) -> Path:
    path = folder / "s1.jsonl"
    lines = [
        {"type": "user", "uuid": f"u{number}", "timestamp": "2026-11-02T08:00:00Z", "message": {"content": text}}
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.process
def test_the_answer_of_the_server_is_printed(tmp_path: Path, requests: Requests) -> None:
    (tmp_path / "alpha" / ".git").mkdir(parents=True)
    inside = tmp_path / "alpha" / "src"
    inside.mkdir()
    prompt = event("UserPromptSubmit", inside, prompt="Which port?")
    done = run(prompt, "claude-code", "--url", requests.url, "--seconds", "20")
    assert (json.loads(done.stdout), done.stderr, done.returncode) == (ANSWER, "", 0)
    ((path, body),) = requests
    assert path == "/hooks/claude-code?context=alpha"
    assert body == {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "prompt": "Which port?",
        "cwd": str(inside),
    }


@pytest.mark.process
def test_it_imports_nothing_heavy(tmp_path: Path, requests: Requests) -> None:
    program = (
        "from vicw_standalone.__main__ import main; main()\n"
        "import json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    prompt = event("UserPromptSubmit", tmp_path, prompt="Which port?")
    done = run(prompt, "claude-code", "--url", requests.url, "--seconds", "20", program=program)
    modules = set(json.loads(done.stderr))
    assert not modules & _HEAVY
    assert not {name for name in modules if name.startswith(("vicw_ingest", "vicw_retrieval", "vicw_stores"))}


@pytest.mark.process
def test_a_server_that_is_away_or_silent_costs_little_time(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        prompt = event("UserPromptSubmit", tmp_path, prompt="Which port?")
        begun = time.monotonic()
        done = run(prompt, "claude-code", "--url", address)
        assert time.monotonic() - begun < 5
        assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    done = run(prompt, "claude-code", "--url", address, "--verbose", "--seconds", "20")
    assert (done.stdout, done.returncode) == ("", 0)
    assert "vicw hook: " in done.stderr


@pytest.mark.process
@pytest.mark.parametrize("sent", ["", "no json", "[]", "{}", '{"hook_event_name": "UserPromptSubmit"}'])
def test_an_event_that_cannot_be_read_is_passed_over(sent: str) -> None:
    done = run(sent, "claude-code", "--url", "http://127.0.0.1:9")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.process
def test_switched_off_nothing_is_sent(tmp_path: Path, requests: Requests) -> None:
    prompt = event("UserPromptSubmit", tmp_path, prompt="Which port? #vicw-off")
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, "One.")))
    run(prompt, "claude-code", "--url", requests.url)
    run(end, "claude-code", "--no-capture", "--url", requests.url)
    run(event("PostToolUse", tmp_path), "claude-code", "--url", requests.url)
    (tmp_path / ".vicw-off").touch()
    run(event("SessionStart", tmp_path, source="startup"), "claude-code", "--url", requests.url)
    assert requests == []


def test_to_another_machine_the_turns_are_sent_without_secrets(tmp_path: Path, requests: Requests) -> None:
    url = requests.url.replace("127.0.0.1", "127.0.0.2")  # not one of the names of this machine
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = transcript(tmp_path, f"Use {token} to push.", "Not this. #vicw-off", "And then deploy.")
    path.write_text(path.read_text() + "broken\n")
    events = (
        event("PreCompact", tmp_path, transcript_path=str(path)),
        event("UserPromptSubmit", tmp_path, prompt=f"Is {token} valid?"),
    )
    answers = [hook.answer_event(sent, "codex", "alpha", url, captures=True) for sent in events]
    assert answers[0] == {
        "systemMessage": "VICW: 1 lines of the transcript could not be read: line 4 is not JSON",
    }
    (stored, compacted, asked) = requests
    assert stored[0] == "/ingest"
    assert [item["id"] for item in stored[1]["items"]] == ["u0", "u2"]
    assert {item["source"] for item in stored[1]["items"]} == {"codex"}
    assert compacted == ("/hooks/session", {"event": "compact", "context": "alpha", "session": "s1"})
    assert asked[0] == "/hooks/codex?context=alpha"
    assert asked[1].keys() == {"hook_event_name", "session_id", "prompt"}
    assert token not in json.dumps(requests)


@pytest.mark.process
def test_turns_are_sent_where_the_server_cannot_read_them_and_the_agent_does_not_wait(
    tmp_path: Path, requests: Requests
) -> None:
    requests.wants_turns = True  # such as one in a container, which is called by a name of this machine
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, "One.", "Two.")))
    done = run(end, "codex", "--url", requests.url, "--context", "alpha")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    eventually(lambda: len(requests), lambda count: count == 2, 20, "the turns arrive")
    assert requests[1][0] == "/ingest"
    assert [item["text"] for item in requests[1][1]["items"]] == ["One.", "Two."]
