"""What the README tells a newcomer to type gives what the README shows."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import VICW

pytestmark = pytest.mark.process
README = Path(__file__).parents[2] / "README.md"
_CALL = re.compile(r"curl -s localhost:8080(/\w+) .*?-d '(.*?)'", re.DOTALL)
_SHOWN = re.compile(r"^```\n(\[1\] .*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_readme_quick_start_gives_the_answer_shown(serve: Serve) -> None:
    text = README.read_text("utf-8")
    calls = _CALL.findall(text.split("## As services")[0])
    assert [path for path, _ in calls] == ["/ingest", "/ingest", "/retrieve", "/ingest"]
    server = serve()
    server.start()
    for path, body in calls[:3]:
        answer = httpx.post(server.url + path, json=json.loads(body), timeout=60)
        assert answer.is_success, answer.text
    found = answer.json()
    shown = _SHOWN.search(text)
    assert shown is not None

    def without_time(lines: str) -> list[str]:
        return [re.sub(r" · \d{4}-\d\d-\d\d \d\d:\d\d", "", line).strip() for line in lines.strip().splitlines()]

    assert without_time(found["text"]) == without_time(shown[1])
    assert {result["domain"] for result in found["results"]} == {"creative"}
    assert server.stop() == 0


def test_the_readme_diagram_equals_graph_show_output(serve: Serve) -> None:
    text = README.read_text("utf-8").split("## As services")[0]
    path, body = _CALL.findall(text)[3]
    (arguments,) = re.findall(r"^\.venv/bin/vicw (graph show .*)$", text, re.MULTILINE)
    (shown,) = re.findall(r"^```mermaid\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    server = serve()
    server.start()
    assert httpx.post(server.url + path, json=json.loads(body), timeout=60).is_success
    command = [str(VICW), *arguments.split(), "--url", server.url]
    drawn = subprocess.run(command, capture_output=True, text=True, env=server.environment, timeout=60, check=False)
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stdout == shown
    assert server.stop() == 0
