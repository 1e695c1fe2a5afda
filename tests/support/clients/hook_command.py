"""``vicw hook`` as an agent runs it, and a server that records what it is sent."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from select import select
from threading import Event, Thread
from typing import Any

from vicw_core.hook_events import OWNER_HEADER, TURNS_HEADER

ANSWER = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "<vicw-memory>…"}}
PATIENCE = 120.0
"""Seconds that a slow machine may take."""
PATIENT = ("--seconds", str(PATIENCE))


class Requests(list[tuple[str, dict[str, Any]]]):
    """What a server was sent: paths with bodies."""

    url = ""
    wants_turns = False
    refused_word = ""

    def __init__(self) -> None:
        self.may_answer = Event()
        self.may_answer.set()
        self.owner_tokens: list[str | None] = []
        self.ended: list[str] = []
        """Requests whose sender has gone before the answer."""


@contextmanager
def recording_server() -> Iterator[Requests]:
    """Yield what the server is sent; it answers at once."""
    seen = Requests()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, body))
            seen.owner_tokens.append(self.headers[OWNER_HEADER])
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
    """Run the command with an event on its standard input, and end what it leaves behind, as an agent does."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VICW_")}
    clean["VICW_DATA_DIR"] = os.environ["VICW_DATA_DIR"]
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
