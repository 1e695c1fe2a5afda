"""``vicw hook``: it starts in a moment, and whatever goes wrong it prints nothing, in time."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from pathlib import Path
from threading import Thread

import pytest

from support.clients.hook_command import ANSWER, PATIENT, Requests, event, run, transcript
from vicw_shared.settings import HookSettings
from vicw_standalone.agent_hooks import hook
from vicw_standalone.agent_hooks.connect import HOOKS

pytestmark = pytest.mark.usefixtures("checkout")

_HEAVY = {"typer", "rich", "click", "pydantic", "httpx", "numpy", "fastapi", "structlog", "vicw_client", "asyncio"}


def seconds_held(silent: socket.socket) -> float:
    """Return how long the next client waits for an answer that never comes."""
    connection, _ = silent.accept()
    started = time.monotonic()
    with connection, contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
    return time.monotonic() - started


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
    assert body == {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Which port?"}


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
    monkeypatch.setattr(
        "support.clients.hook_command.PATIENCE", hook.OFFLOAD_SECONDS - 10
    )  # the time limit of a silent connection
    prompt = event("UserPromptSubmit", tmp_path, prompt="Which port?")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        held: list[float] = []
        listening = Thread(target=lambda: held.append(seconds_held(silent)))
        listening.start()
        done = run(prompt, "claude-code", "--url", address)
        listening.join(hook.OFFLOAD_SECONDS)
        assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert held[0] < 1.5 + 1, "the second is for a busy machine"
    done = run(prompt, "claude-code", "--url", address, "--verbose", *PATIENT)
    assert (done.stdout, done.returncode) == ("", 0)
    assert "vicw hook: " in done.stderr


@pytest.mark.process
def test_a_server_that_takes_no_connection_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.clients.hook_command.PATIENCE", hook.OFFLOAD_SECONDS - 10)
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
    assert 2 * HookSettings().deadline_ms / 1000 <= hook.RECALL_SECONDS < 1.5 < agents


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
