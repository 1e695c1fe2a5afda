"""What the README and the first hour tell a newcomer to type gives what they show."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.processes.server import VICW, Server, temporary_directory
from vicw_client import VicwClient

pytestmark = pytest.mark.process
_ROOT = Path(__file__).parents[2]
README = (_ROOT / "README.md").read_text("utf-8")
QUICKSTART = (_ROOT / "docs" / "quickstart.md").read_text("utf-8")
_CALL = re.compile(r"curl -s localhost:8080(/\w+) -H 'content-type: application/json' -d '(.*?)'", re.DOTALL)
_SHOWN = re.compile(r"^```\n(\[1\] .*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def server(models_dir: Path) -> Iterator[Server]:
    """One server for both pages, as a newcomer who reads one after the other has it."""
    with temporary_directory() as folder:
        running = Server(folder / "data", models_dir)
        running.start()
        try:
            yield running
        finally:
            code = running.stop()
        assert code == 0


def test_the_readme_requests_give_the_answer_shown(server: Server) -> None:
    found = _send(server, README, ["/ingest", "/retrieve"])
    assert _lines(found["text"]) == _lines(_shown(README))
    assert "why: " in found["text"], "with its cause"


def test_the_readme_names_make_serve_first_and_the_test_command() -> None:
    first, *_ = re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert first == "make serve\n"
    assert "```sh\nmake test\n```" in README


def test_the_readme_client_snippet_prints_the_evidence(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.setenv("VICW_URL", server.url)
    exec(shown, {"VicwClient": VicwClient})
    assert "The build broke after the upgrade." in capsys.readouterr().out


def test_the_quickstart_diagram_equals_graph_show_output(server: Server) -> None:
    _send(server, README, ["/ingest", "/retrieve"])
    (arguments,) = re.findall(r"^vicw (graph show .*)$", QUICKSTART, re.MULTILINE)
    (shown,) = re.findall(r"^```mermaid\n(.*?)^```$", QUICKSTART, re.DOTALL | re.MULTILINE)
    command = [str(VICW), *arguments.split(), "--url", server.url]
    drawn = subprocess.run(command, capture_output=True, text=True, env=server.environment, timeout=60, check=False)
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stdout == shown


def test_the_quickstart_question_finds_the_scene_and_no_code(server: Server) -> None:
    found = _send(server, QUICKSTART, ["/ingest", "/ingest", "/retrieve"])
    assert _lines(found["text"]) == _lines(_shown(QUICKSTART))
    assert {result["domain"] for result in found["results"]} == {"creative"}


def _send(server: Server, page: str, paths: list[str]) -> Any:
    """Send a page's requests in their order; return the last answer."""
    calls = _CALL.findall(page.split("## As services")[0])
    assert [path for path, _ in calls] == paths
    for path, body in calls:
        answer = httpx.post(server.url + path, json=json.loads(body), timeout=60)
        assert answer.is_success, answer.text
    return answer.json()


def _shown(page: str) -> str:
    (shown,) = _SHOWN.findall(page)
    return str(shown)


def _lines(text: str) -> list[str]:
    """The lines without the time of storing, which is a different one each day."""
    stored_at = r"(?<=· The Betrayal) · \d{4}-\d\d-\d\d \d\d:\d\d"
    return [re.sub(stored_at, "", line).strip() for line in text.strip().splitlines()]
