"""A scripted agent with hooks: on its second day it recalls what was said on the first; another project does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import Server, await_indexed, eventually, run

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

DAY_1 = [
    ("user", "The nightly backup fails since Tuesday. Can you find out why?"),
    ("assistant", "The backup job runs out of memory: the archive is built in RAM before it is written."),
    ("user", "Then stream it. And note that the backup host is called greenland, port 2222."),
    ("assistant", "Done: the archive is streamed now, and I use greenland on port 2222."),
    ("user", "Please write the release notes for version four."),
    ("assistant", "I have written the release notes: faster search and a new export."),
]


class Agent:
    """An agent of a project: it writes a transcript, and runs its hook at each event."""

    def __init__(self, server: Server, folder: Path, session: str, **variables: str) -> None:
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.session = session
        home = folder.parent / "home"
        self.transcript = home / "projects" / folder.name / f"{session}.jsonl"
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.environment = server.environment | {"VICW_DATA_DIR": str(server.data_dir)} | variables
        self._said = 0

    def says(self, speaker: str, text: str) -> None:
        self._said += 1
        line = {
            "type": speaker,
            "uuid": f"{self.session}-{self._said}",
            "sessionId": self.session,
            "timestamp": f"2026-11-02T08:{self._said:02}:00.000Z",
            "message": {"role": speaker, "content": [{"type": "text", "text": text}]},
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def hook(self, event: str, **fields: Any) -> str:
        """Run the hook of an event; return what is added to the context."""
        answer = self.answer(event, **fields)
        return str(answer["hookSpecificOutput"]["additionalContext"]) if answer else ""

    def answer(self, event: str, **fields: Any) -> dict[str, Any]:
        """Run the hook of an event, as a settings file says it; return what it prints, which may be nothing."""
        sent = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder),
            "permission_mode": "default",
            "hook_event_name": event,
        }
        done = subprocess.run(
            [sys.executable, "-m", "vicw_standalone", "hook", "claude-code", "--verbose", "--seconds", "40"],
            input=json.dumps(sent | fields),
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=90,
            check=True,
        )
        assert done.stderr == ""
        printed: dict[str, Any] = json.loads(done.stdout or "{}")
        return printed


def test_the_second_day_recalls_the_first_and_another_project_nothing(serve: Serve, tmp_path: Path) -> None:
    server = serve(CLAUDE_CONFIG_DIR=str(tmp_path / "home"), VICW_HOOKS_DEADLINE_MS="20000")
    server.start()
    first = Agent(server, tmp_path / "alpha", "day-1")
    assert first.hook("SessionStart", source="startup") == ""
    for speaker, text in DAY_1:
        if speaker == "user":
            assert first.hook("UserPromptSubmit", prompt=text) == ""
        first.says(speaker, text)
    assert first.hook("PreCompact", trigger="auto") == ""
    assert first.hook("SessionEnd", reason="clear") == ""
    await_indexed(server)

    question = "On which host and port is the backup stored?"
    second = Agent(server, tmp_path / "alpha", "day-2")
    recalled = second.hook("UserPromptSubmit", prompt=question)
    assert "> Then stream it. And note that the backup host is called greenland, port 2222." in recalled
    assert "user · claude-code · id day-1-3]" in recalled, "it is the user who said it"
    assert "greenland, port 2222" not in second.hook("UserPromptSubmit", prompt=question), "never twice"
    assert second.hook("UserPromptSubmit", prompt="Write a haiku about the moon over Kyoto.") == ""

    other = Agent(server, tmp_path / "beta", "day-2b")
    assert other.hook("SessionStart", source="startup") == ""
    assert other.hook("UserPromptSubmit", prompt=question) == ""

    items = httpx.get(f"{server.url}/items", params={"context": "alpha"}, trust_env=False).json()["items"]
    assert sorted((item["speaker"], item["text"]) for item in items) == sorted(DAY_1)
    assert server.stop() == 0


def test_a_server_with_keys_at_another_address_is_sent_the_turns(serve: Serve, tmp_path: Path) -> None:
    """It opens no transcript, though it is of the same user; secrets do not reach it."""
    home, token = str(tmp_path / "home"), "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    server = serve(CLAUDE_CONFIG_DIR=home, VICW_HOST="0.0.0.0", VICW_HOOKS_DEADLINE_MS="20000")
    server.start()
    url = server.url.replace("0.0.0.0", "127.0.0.2")
    key = run(server, "keys", "create", "--right", "retrieve", "--right", "ingest").stdout.strip()
    first = Agent(server, tmp_path / "alpha", "day-1", VICW_URL=url, VICW_API_KEY=key)
    for speaker, text in DAY_1[:4]:
        first.says(speaker, text)
    first.says("user", f"Push it with {token}, please.")
    assert first.answer("PreCompact", trigger="auto") == {}
    for speaker, text in DAY_1[4:]:
        first.says(speaker, text)
    assert first.answer("SessionEnd", reason="clear") == {}

    def asked(path: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {key}"}
        answer: dict[str, Any] = httpx.get(f"{url}{path}", headers=headers, trust_env=False).json()
        return answer

    def stored() -> list[tuple[str, str]]:
        return [(item["speaker"], item["text"]) for item in asked("/items?context=alpha")["items"]]

    eventually(lambda: len(stored()), lambda count: count == len(DAY_1) + 1, 90, "the turns after the end are stored")
    assert set(DAY_1) < set(stored()) and token not in str(stored())
    eventually(lambda: asked("/readyz").get("passages_waiting"), lambda count: count == 0, 60, "nothing waits")
    question = "On which host and port is the backup stored?"
    second = Agent(server, tmp_path / "alpha", "day-2", VICW_URL=url, VICW_API_KEY=key)
    assert "> Then stream it. And note that the backup host is called greenland" in second.hook(
        "UserPromptSubmit", prompt=question
    )

    stranger = Agent(server, tmp_path / "alpha", "day-3", VICW_URL=url, VICW_API_KEY="vicw_no_key")
    for event in ("SessionStart", "UserPromptSubmit", "PreCompact"):
        stranger.says("user", question)
        (message,) = stranger.answer(event, prompt=question, source="startup").values()
        assert message.startswith("VICW: nothing is ") and "Set VICW_API_KEY, where the agent starts" in message
    assert len(stored()) == len(DAY_1) + 1
    assert token not in server.log
    assert server.stop() == 0
