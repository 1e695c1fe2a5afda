"""What ``vicw retrieve`` prints, against a server that answers as it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from vicw_client import VicwClient
from vicw_standalone.cli import app, ask

NOTHING = {
    "intent": {"domain": "general", "confidence": 0.0, "evidence": "none", "filtered": False},
    "results": [],
    "graph": {},
    "text": "",
    "took_ms": {"total": 1.0},
}

type Vicw = Callable[..., Result]


class Server:
    """Gives every question the same answer."""

    def __init__(self) -> None:
        self.answer = httpx.Response(500)

    def __call__(self, _: httpx.Request) -> httpx.Response:
        return self.answer


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def vicw(server: Server, monkeypatch: pytest.MonkeyPatch) -> Vicw:
    """Run the command in this process, connected to ``server``."""

    def connect(url: str | None, retry: Any = None) -> VicwClient:
        return VicwClient(url, retry=retry, transport=httpx.MockTransport(server))

    monkeypatch.setattr(ask, "VicwClient", connect)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_a_refused_question_is_told_with_field_reason_and_fix(server: Server, vicw: Vicw) -> None:
    wrong = {"field": "limit", "problem": "is over 200", "fix": "Send 200 or less"}
    document = {"type": "t", "title": "t", "status": 422, "detail": "limit: is over 200. Send 200 or less"}
    server.answer = httpx.Response(422, json={**document, "errors": [wrong]})
    assert vicw("retrieve", "q", "--limit", "999").stderr == "error: limit: is over 200. Send 200 or less\n"
    blank = vicw("retrieve", " ")
    assert (blank.exit_code, blank.stdout) == (1, "")
    assert blank.stderr.startswith("error: query: is empty or holds only white space")
    assert blank.stderr.endswith(". Send some text, or leave the field out if it is optional\n")


@pytest.mark.parametrize("shape", [[], ["--text"], ["--json"]])
def test_where_nothing_is_found_the_filters_are_named(server: Server, vicw: Vicw, shape: list[str]) -> None:
    server.answer = httpx.Response(200, json=NOTHING)
    filters = ["--context", "Fantasy Novle", "--domain", "prose", "--tag", "a", "--tag", "b"]
    asked = vicw("retrieve", "q", *filters, *shape)
    assert asked.exit_code == 0
    assert "Nothing found with --context 'Fantasy Novle' --domain prose --tag a --tag b. Check" in asked.stderr
    assert "Nothing found" not in asked.stdout, "it is no evidence"
    assert "Nothing found\n" in vicw("retrieve", "q", *shape).stderr
