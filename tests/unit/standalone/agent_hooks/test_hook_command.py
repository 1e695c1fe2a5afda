"""``vicw hook``: it starts in a moment, and whatever goes wrong it prints nothing, in time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from select import select
from threading import Event, Thread
from typing import Any

import pytest

from support.processes.server import eventually
from vicw_core.hook_events import TURNS_HEADER
from vicw_shared.settings import HookSettings
from vicw_standalone.agent_hooks import hook
from vicw_standalone.agent_hooks.connect import HOOKS

ANSWER = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "<vicw-memory>…"}}
PATIENCE = 120.0
"""Seconds that a slow machine may take."""
PATIENT = ("--seconds", str(PATIENCE))
_HEAVY = {"typer", "rich", "click", "pydantic", "httpx", "numpy", "fastapi", "structlog", "vicw_client", "asyncio"}


class Requests(list[tuple[str, dict[str, Any]]]):
    """What a server was sent: paths with bodies."""

    url = ""
    wants_turns = False
    refused_word = ""

    def __init__(self) -> None:
        self.may_answer = Event()
        self.may_answer.set()
        self.ended: list[str] = []
        """Requests whose sender has gone before the answer."""


@pytest.fixture
def requests() -> Iterator[Requests]:
    seen = Requests()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, body))
            if body.get("event") == "turns" and not seen.may_answer.is_set():
                while not seen.may_answer.wait(0.05):
                    if select([self.connection], [], [], 0)[0]:
                        seen.ended.append(self.path)
                        return
            is_refused = bool(seen.refused_word) and seen.refused_word in json.dumps(body)
            answer = {"detail": "turns[0].text: is refused"} if is_refused else {}
            sent = json.dumps(ANSWER if self.path.startswith("/hooks/claude") else answer).encode()
            self.send_response(422 if is_refused else 200)
            self.send_header("Content-Length", str(len(sent)))
            if seen.wants_turns:
                self.send_header(TURNS_HEADER, "yes")
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("", 0), Handler)
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
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    out, err = process.communicate(sent, timeout=PATIENCE)
    with contextlib.suppress(ProcessLookupError):  # what an agent does to the hooks that are left
        os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


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
    done = run(prompt, "claude-code", "--url", requests.url, *PATIENT)
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
    done = run(prompt, "claude-code", "--url", requests.url, *PATIENT, program=program)
    modules = set(json.loads(done.stderr))
    assert not modules & _HEAVY
    assert not {name for name in modules if name.startswith(("vicw_ingest", "vicw_retrieval", "vicw_stores"))}


@pytest.mark.process
def test_a_server_that_is_away_or_silent_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PATIENCE", hook.OFFLOAD_SECONDS - 10)  # the time limit of a silent connection
    prompt = event("UserPromptSubmit", tmp_path, prompt="Which port?")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = run(prompt, "claude-code", "--url", address, "--seconds", "0.5")
        assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    done = run(prompt, "claude-code", "--url", address, "--verbose", *PATIENT)
    assert (done.stdout, done.returncode) == ("", 0)
    assert "vicw hook: " in done.stderr


@pytest.mark.process
def test_a_server_that_takes_no_connection_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PATIENCE", hook.OFFLOAD_SECONDS - 10)
    prompt = event("UserPromptSubmit", tmp_path, prompt="Which port?")
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        address = f"http://127.0.0.1:{full.getsockname()[1]}"
        done = run(prompt, "claude-code", "--url", address, "--verbose", *PATIENT)
    assert (done.stdout, done.stderr, done.returncode) == ("", "vicw hook: timed out\n", 0)


def test_a_recall_ends_before_the_agent_does_and_after_the_server() -> None:
    agents = min(seconds for events in HOOKS.values() for seconds in events.values())
    assert HookSettings().deadline_ms / 1000 + 1 < hook.RECALL_SECONDS < agents


@pytest.mark.process
def test_what_is_known_in_time_is_printed_as_a_whole(tmp_path: Path) -> None:
    program = "import time\nfrom vicw_standalone.__main__ import main; main(); time.sleep(3); print('printed')"
    off = event("UserPromptSubmit", tmp_path, prompt="Which port? #vicw-off")
    assert run(off, "claude-code", "--seconds", "2", program=program).stdout == "printed\n"


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
    assert stored[0] == "/hooks/session"
    assert [turn["id"] for turn in stored[1]["turns"]] == ["u0", "u2"]
    assert {name: stored[1][name] for name in ("event", "context", "session", "source")} == {
        "event": "turns",
        "context": "alpha",
        "session": "s1",
        "source": "codex",
    }
    assert compacted == ("/hooks/session", {"event": "compact", "context": "alpha", "session": "s1"})
    assert asked[0] == "/hooks/codex?context=alpha"
    assert asked[1].keys() == {"hook_event_name", "session_id", "prompt"}
    assert token not in json.dumps(requests)


def test_a_turn_that_is_refused_costs_no_other(tmp_path: Path, requests: Requests) -> None:
    requests.refused_word = "Fridays"
    again = tmp_path / "again"
    again.mkdir()
    path = transcript(tmp_path, *(f"Step {number}." for number in range(4)), "We deploy on Fridays.", "Done.")
    path.write_text(path.read_text() + transcript(again, "Step 0, again.").read_text())
    end = event("PreCompact", tmp_path, transcript_path=str(path))
    url = requests.url.replace("127.0.0.1", "127.0.0.2")
    assert hook.answer_event(end, "codex", "alpha", url, captures=True) == {
        "systemMessage": "VICW: turn u4 cannot be stored: turns[0].text: is refused"
    }
    taken = [body["turns"] for _, body in requests if "turns" in body and "Fridays" not in json.dumps(body)]
    texts = [item["text"] for items in taken for item in items]
    assert sorted(texts) == ["Done.", "Step 0, again.", "Step 1.", "Step 2.", "Step 3."]


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there the agent waits")
def test_turns_are_sent_where_the_server_cannot_read_them_and_the_agent_does_not_wait(
    tmp_path: Path, requests: Requests
) -> None:
    requests.wants_turns = True  # such as one in a container, which is called by a name of this machine
    requests.may_answer.clear()
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, *("One.", "Two.") * 60)))
    done = run(end, "codex", "--url", requests.url, "--context", "alpha")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    eventually(lambda: len(requests), lambda count: count == 2, PATIENCE, "the first turns arrive")
    assert requests.ended == [], "it has not ended with the agent's hooks"
    requests.may_answer.set()
    eventually(lambda: len(requests), lambda count: count == 3, PATIENCE, "the other turns arrive")
    sent = [item["text"] for _, body in requests[1:] for item in body["turns"]]
    assert sent == ["One.", "Two."] * 60


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there the agent waits")
def test_turns_that_nobody_takes_are_not_sent_for_ever(tmp_path: Path, requests: Requests) -> None:
    requests.wants_turns = True
    requests.may_answer.clear()
    program = (
        "from vicw_standalone.agent_hooks import hook; hook._APART_SECONDS = 2\n"
        "from vicw_standalone.__main__ import main; main()"
    )
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, "One.")))
    run(end, "codex", "--url", requests.url, "--context", "alpha", program=program)
    eventually(lambda: requests.ended, bool, hook.OFFLOAD_SECONDS - 10, "it ends")


def test_without_processes_of_its_own_the_turns_are_sent_before_the_end(
    tmp_path: Path, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests.wants_turns = True
    monkeypatch.delattr(os, "fork")
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, "One.")))
    assert hook.answer_event(end, "codex", "alpha", requests.url, captures=True) == {}
    assert [path for path, _ in requests][1:] == ["/hooks/session"]
