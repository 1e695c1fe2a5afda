"""What ``vicw retrieve`` prints, against a server that answers as it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from vicw_client import VicwClient
from vicw_standalone.cli import app

NOTHING = {
    "intent": {"domain": "general", "confidence": 0.0, "domain_source": "none", "filtered": False},
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
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.answer


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def vicw(server: Server, monkeypatch: pytest.MonkeyPatch) -> Vicw:
    """Run the command in this process, connected to ``server``."""

    def connect(url: str | None, retry: Any = None) -> VicwClient:
        return VicwClient(url, retry=retry, transport=httpx.MockTransport(server))

    monkeypatch.setattr("vicw_client.VicwClient", connect)
    monkeypatch.setattr("vicw_standalone.cli.retrieve.post", lambda path, body, url: None)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_a_refused_query_is_printed_with_field_reason_and_fix(server: Server, vicw: Vicw) -> None:
    wrong = {"field": "limit", "problem": "is over 200", "fix": "Send 200 or less"}
    document = {"type": "t", "title": "t", "status": 422, "detail": "limit: is over 200. Send 200 or less"}
    server.answer = httpx.Response(422, json={**document, "errors": [wrong]})
    assert vicw("retrieve", "q", "--limit", "999").stderr == "error: limit: is over 200. Send 200 or less\n"
    blank = vicw("retrieve", " ")
    assert (blank.exit_code, blank.stdout) == (1, "")
    assert blank.stderr.startswith("error: query: is empty or holds only white space")
    assert blank.stderr.endswith(". Send some text, or leave the field out if it is optional\n")


def item(status: str, *masked: str) -> dict[str, Any]:
    return {
        "masked": [{"field": f"items[0].tags[{n}]", "kind": kind} for n, kind in enumerate(masked)],
        "id": None,
        "uid": "1",
        "status": status,
        "label": "Entity",
        "flow_id": None,
        "flow_step": None,
        "nodes": [],
    }


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        (["created", "unchanged"], "1 request is still being indexed"),
        (["unchanged", "unchanged"], None),
    ],
)
def test_ingest_without_waiting_reports_requests_still_being_indexed(
    server: Server, vicw: Vicw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statuses: list[str], told: str | None
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(len(statuses)):
        (notes / f"{number}.txt").write_text(f"note {number}")
    stored = {"context": "notes", "context_uid": "u", "domain": "general", "job": "j"}
    server.answer = httpx.Response(202, json={**stored, "items": [item(status) for status in statuses]})
    done = vicw("ingest", str(notes), "--no-wait")
    assert done.exit_code == 0, done.stderr
    assert ("being indexed" in done.stdout) == (told is not None)
    assert (told or "") in done.stdout


def test_ingest_reports_the_number_of_items_with_masked_secrets(
    server: Server, vicw: Vicw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(3):
        (notes / f"{number}.txt").write_text(f"note {number}")
    stored = {"context": "notes", "context_uid": "u", "domain": "general"}
    items = [item("created", "password", "password"), item("created", "npm-token", "password"), item("created")]
    server.answer = httpx.Response(201, json={**stored, "items": items})
    done = vicw("ingest", str(notes))
    assert done.exit_code == 0, done.stderr
    assert "secrets masked in 2 items: password\n" in done.stdout
    assert "secrets masked in 1 item: npm-token\n" in done.stdout


@pytest.mark.parametrize("shape", [[], ["--text"], ["--json"]])
def test_an_empty_answer_names_the_filters_on_stderr(server: Server, vicw: Vicw, shape: list[str]) -> None:
    server.answer = httpx.Response(200, json=NOTHING)
    filters = ["--context", "Fantasy Novle", "--domain", "prose", "--tag", "a", "--tag", "b"]
    asked = vicw("retrieve", "q", *filters, *shape)
    assert asked.exit_code == 0
    assert "Nothing found with --context 'Fantasy Novle' --domain prose --tag a --tag b. Check" in asked.stderr
    assert "Nothing found" not in asked.stdout, "it is no evidence"
    assert "Nothing found\n" in vicw("retrieve", "q", *shape).stderr


def test_retrieve_sends_the_floor_and_says_that_nothing_is_likely(server: Server, vicw: Vicw) -> None:
    server.answer = httpx.Response(200, json=NOTHING | {"answered": "nothing", "relevance": 0.01})
    asked = vicw("retrieve", "q", "--min-relevance", "0.4")
    assert json.loads(server.requests[-1].content)["min_relevance"] == 0.4
    assert "nothing is known of this (relevance 0.01)" in asked.stderr
    server.answer = httpx.Response(200, json=NOTHING | {"answered": "unsure", "relevance": 0.3})
    assert "unsure whether this answers it (relevance 0.30)" in vicw("retrieve", "q").stderr
    server.answer = httpx.Response(200, json=NOTHING | {"answered": "likely", "relevance": 0.9})
    assert "relevance" not in vicw("retrieve", "q").stderr
    assert vicw("retrieve", "q", "--min-relevance", "2").exit_code == 2


def test_retrieve_sends_the_filter_and_names_it_if_nothing_passes(server: Server, vicw: Vicw) -> None:
    server.answer = httpx.Response(200, json=NOTHING)
    asked = vicw("retrieve", "q", "--filter", '{"metadata.house": {"gte": 3}}')
    assert json.loads(server.requests[-1].content)["filter"] == {"metadata.house": {"gte": 3}}
    assert """Nothing found with --filter '{"metadata.house": {"gte": 3}}'. Check""" in asked.stderr
    for wrong, problem in (("{", "no JSON"), ("3", "no JSON object")):
        refused = vicw("retrieve", "q", "--filter", wrong)
        assert (refused.exit_code, f"--filter: {problem}" in refused.stderr) == (2, True)


def test_retrieve_sends_conditions_and_the_cursor(server: Server, vicw: Vicw) -> None:
    server.answer = httpx.Response(200, json=NOTHING)
    window = ("--since", "2026-01-10", "--until", "2026-02-01T12:00:00")
    asked = vicw("retrieve", "q", "--speaker", "Ana", "--user", "u7", *window, "--cursor", "abc")
    sent = json.loads(server.requests[-1].content)
    assert {name: sent[name] for name in ("speaker", "user", "since", "until", "cursor")} == {
        "speaker": "Ana",
        "user": "u7",
        "since": "2026-01-10T00:00:00Z",
        "until": "2026-02-01T12:00:00Z",
        "cursor": "abc",
    }
    assert "with --speaker Ana --user u7. Check" in asked.stderr


def test_retract_sends_a_filter_until_nothing_passes_it(
    vicw: Vicw, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [5, 3, 1]
    seen: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        selected = left.pop(0)
        items = [{"id": f"i{n}", "uid": "u", "status": "retracted"} for n in range(min(2, selected))]
        return httpx.Response(200, json={"context": None, "items": items, "selected": selected})

    monkeypatch.setattr(Server, "__call__", lambda _, request: answer(request))
    told = vicw("items", "retract", "--filter", '{"tags": {"any": ["a"]}, "not": {"id": {"in": ["b"]}}}')
    assert (told.exit_code, told.stdout.splitlines()[-1]) == (0, "5 items retracted")
    assert [one["filter"] for one in seen] == [{"tags": {"any": ["a"]}, "not": {"id": {"in": ["b"]}}}] * 3
    left[:] = [5]
    told = vicw("retract", "--filter", "{}", "--all", "--context", "c", "--dry-run")
    would = [f"would be retracted i{n}" for n in range(2)]
    assert told.stdout.splitlines() == [*would, "nothing was changed: 5 items would be retracted"]
    assert (seen[-1]["all"], seen[-1]["context"], seen[-1]["dry_run"]) == (True, "c", True)
    for wrong in (("a", "--filter", "{}"), (), ("--filter", '{"labl": 1}')):
        assert vicw("retract", "--context", "c", *wrong).exit_code == 2, wrong


def test_retract_prints_the_status_of_each_id_and_fails_on_unknown(server: Server, vicw: Vicw) -> None:
    items = [{"id": "a[b]", "uid": "u", "status": "retracted"}, {"id": "b\x1b", "uid": "u", "status": "already"}]
    server.answer = httpx.Response(200, json={"context": "c", "items": items})
    told = vicw("retract", "--context", "c", "a[b]", "b")
    assert (told.exit_code, told.stdout) == (0, "retracted a[b]\nalready   b\ufffd\n")
    told = vicw("retract", "--context", "c", "a[b]", "b", "--dry-run")
    assert told.stdout == "would be retracted a[b]\nalready   b\ufffd\nnothing was changed\n"
    unknown: dict[str, Any] = {"context": "c", "items": [{"id": "z", "uid": None, "status": "unknown"}]}
    server.answer = httpx.Response(200, json=unknown)
    assert vicw("retract", "--context", "c", "z").exit_code == 1
    assert vicw("retract", "z").exit_code == 2, "an id says nothing without its context"
    uid = "6f3f1b4e-9a53-5d0e-8a52-3c9f0f7a1d11"
    server.answer = httpx.Response(200, json={"context": None, "items": [unknown["items"][0] | {"id": None}]})
    told = vicw("retract", uid, "--dry-run")
    assert (told.exit_code, told.stdout.splitlines()[0]) == (1, f"unknown   {uid}")
    assert json.loads(server.requests[-1].content) == {"uids": [uid], "ended_at": None, "dry_run": True}


def test_retract_sends_ended_at_with_its_time_zone(vicw: Vicw, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    items = {"context": "c", "items": []}

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.content)
        return httpx.Response(200, json=items)

    monkeypatch.setattr(Server, "__call__", lambda _, request: answer(request))
    assert vicw("retract", "--context", "c", "--ended-at", "2026-02-01T00:00:00", "a").exit_code == 0
    assert b'"ended_at":"2026-02-01T00:00:00Z"' in seen[0]
