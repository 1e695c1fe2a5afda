"""Cases: what a file may say, what is wrong with an answer, and how requests follow from the answers before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from typer.testing import CliRunner

from vicw_bench.cases.judge import judge
from vicw_bench.cases.model import Case, Right, load_cases
from vicw_bench.cases.run import lines_of, summary
from vicw_bench.cases.service import Outcome, is_of_retrieval, replay
from vicw_bench.cli import app
from vicw_bench.sets import BenchDataError
from vicw_ingest.app import create_ingest_app
from vicw_retrieval.app import create_retrieval_app
from vicw_shared.settings import HookSettings, LimitSettings, OidcSettings, ServerSettings

ANSWER = {
    "results": [{"id": "a", "uid": "u1", "duplicates": []}, {"id": None, "uid": "u2"}, {"id": "c", "uid": "u3"}],
    "text": "Ana moved.",
    "degraded": [],
}


@pytest.mark.parametrize(
    ("right", "problem"),
    [
        ({"first": ["u2", "a"]}, None),
        ({"first": ["a", "c"]}, "c not among the first 2 (a, u2, c)"),
        ({"among": {"3": ["c", "a"]}}, None),
        ({"among": {"2": ["c"]}}, "c not among the first 2 (a, u2, c)"),
        ({"at_least": {"2": ["a", "c", "x"]}}, None),
        ({"at_least": {"2": ["a", "x"]}}, "1 of a, x, not 2 or more"),
        ({"before": [["a", "c"], ["c", "x"]]}, None),
        ({"before": [["c", "a"]]}, "c not before a (a, u2, c)"),
        ({"before": [["x", "a"]]}, "x not before a (a, u2, c)"),
        ({"absent": ["x"]}, None),
        ({"absent": ["a"]}, "a among the results (a, u2, c)"),
        ({"results": 3}, None),
        ({"results": 0}, "3 results (a, u2, c), not 0"),
        ({"text_contains": ["moved"], "text_lacks": ["Ben"]}, None),
        ({"text_contains": ["Ben"]}, "text lacks 'Ben'"),
        ({"text_lacks": ["Ana"]}, "text contains 'Ana'"),
        ({"fields": {"results[0].uid": "u1", "results[1].id": None}}, None),
        ({"fields": {"results[0].uid": "u2"}}, "results[0].uid is 'u1', not 'u2'"),
        ({"fields": {"results[9].uid": None}}, "results[9].uid is missing, not None"),
        ({"fields": {"text[0]": "A"}}, "text[0] is missing, not 'A'"),
        ({"present": ["results[2].id"]}, None),
        ({"present": ["results[0].duplicates"]}, "results[0].duplicates is missing or empty"),
        ({"any_of": [{"first": ["c"]}, {"first": ["a"]}]}, None),
        (
            {"any_of": [{"first": ["c"]}, {"results": 1}]},
            "c not among the first 1 (a, u2, c) / 3 results (a, u2, c), not 1",
        ),
        ({"status": 422}, "status 200, not 422"),
    ],
)
def test_an_answer_is_judged_by_all_that_is_right_about_it(right: dict[str, Any], problem: str | None) -> None:
    assert judge(Right.model_validate(right), 200, ANSWER) == ([problem] if problem else [])


@pytest.mark.parametrize("answer", [None, [], "text", {"results": None}, {"results": "abc"}])
def test_an_answer_of_another_form_is_wrong(answer: Any) -> None:
    right = Right.model_validate({"first": ["a"], "fields": {"results[0].id": "a"}, "text_contains": ["a"]})
    assert len(judge(right, 200, answer)) == 3
    assert judge(Right(text_lacks=("a",)), 200, answer) == ["the answer has no text"]


def test_an_error_is_wrong_unless_it_is_right() -> None:
    assert judge(Right(), 422, {}) == ["status 422, not a success"]
    assert judge(Right(status=422, fields={"errors[0].field": "q"}), 422, {"errors": [{"field": "q"}]}) == []


def write(folder: Path, name: str, **case: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps(case))


def test_cases_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write(tmp_path, name, requests=[{"path": "/retrieve", "right": {"results": 0}}], source="somewhere")
    (tmp_path / "notes.txt").write_text("no case")
    cases = load_cases(tmp_path)
    assert [case.id for case in cases] == ["a", "b", "c"], "without an id a case has the name of its file"
    assert all(case.judged for case in cases)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "Expecting property name"),
        ("[]", "the file should be an object"),
        ('{"requests": []}', "requests is empty"),
        ('{"requests": [{"path": "retrieve"}]}', "requests[0].path"),
        ('{"requests": [{"path": "/x", "method": "CLI"}]}', "requests[0].method"),
        ('{"requests": [{"path": "/x"}], "right": {"frist": ["a"]}}', "right.frist extra inputs"),
        ('{"requests": [{"path": "/x"}], "right": {"any_of": [{"frist": []}]}}', "right.any_of[0].frist"),
    ],
)
def test_a_file_that_is_no_case_is_named_with_its_field(tmp_path: Path, content: str, named: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BenchDataError) as refused:
        load_cases(tmp_path)
    assert str(tmp_path / "x.json") in str(refused.value)
    assert named in str(refused.value)


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchDataError, match="holds no case"):
        load_cases(tmp_path)


class Echo:
    """A server that stores under made-up uids, later, and answers with what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.polls = 0
        self.job_ends = "done"
        self.hurried = 0

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        self.asked.append((request.method, request.raw_path, body))
        if request.path == "/ingest":
            return web.json_response({"job": "j 1", "items": [{"uid": "u/1"}]}, status=202)
        if request.path.startswith("/ingest/jobs/"):
            self.polls += 1
            return web.json_response({"status": "running" if self.polls < 3 else self.job_ends})
        if self.hurried:
            self.hurried -= 1
            return web.json_response({"results": [{"id": "hurried", "uid": "u8"}], "degraded": ["graph"]})
        return web.json_response({"results": [{"id": "r", "uid": "u9"}], "body": body}, status=200)


@pytest.fixture
async def echo() -> AsyncIterator[tuple[Echo, httpx.AsyncClient]]:
    server = Echo()
    application = web.Application()
    application.router.add_route("*", "/{any:.*}", server.answer)
    async with TestServer(application) as running, httpx.AsyncClient(base_url=str(running.make_url("/"))) as client:
        yield server, client


async def outcome_of(client: httpx.AsyncClient, *requests: dict[str, Any], **case: Any) -> Outcome:
    given = Case.model_validate({"id": "x", "requests": requests, **case})
    (outcome,) = [outcome async for outcome in replay([given], client)]
    return outcome


async def test_requests_are_filled_from_the_answer_before_once_it_is_found(
    echo: tuple[Echo, httpx.AsyncClient],
) -> None:
    server, client = echo
    outcome = await outcome_of(
        client,
        {"path": "/ingest", "body": {"items": [{"text": "x"}]}},
        {"path": "/retract", "body": {"ids": ["<uid of the answer>", "a <items[0].uid of the answer>"]}},
        {"method": "GET", "path": "/items/<results[0].uid of the answer>?of=<body.ids[0] of the answer>"},
    )
    polled = [one for one in server.asked if one[1] == "/ingest/jobs/j%201"]
    assert len(polled) == 3, "the next request waits until what was stored is found"
    assert server.asked[4:] == [
        ("POST", "/retract", {"ids": ["u/1", "a u/1"]}),
        ("GET", "/items/u9?of=u%2F1", None),
    ]
    assert outcome.right is None, "nothing says what is right"
    assert lines_of(outcome)[:2] == ["shown  x", "       came back: status 200, r"]


async def test_what_cannot_be_sent_or_found_is_wrong(echo: tuple[Echo, httpx.AsyncClient]) -> None:
    server, client = echo
    lost = await outcome_of(client, {"path": "/a"}, {"path": "/<nothing of the answer>"}, right={"results": 1})
    assert (lost.right, lost.problems) == (False, ("the answer before has no nothing",))
    server.job_ends = "failed"
    failed = await outcome_of(client, {"path": "/ingest"}, {"path": "/retrieve"}, right={"results": 1})
    assert failed.problems == ("request 1: what was stored is not found: its job is failed",)
    async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as nobody:
        away = await outcome_of(nobody, {"path": "/retrieve"}, right={"results": 1})
    assert away.right is False
    assert away.problems


async def test_a_wrong_answer_is_asked_for_again_while_it_is_degraded(
    echo: tuple[Echo, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = echo
    monkeypatch.setattr("vicw_bench.cases.service.PAUSE_SECONDS", 0.0)
    server.hurried = 2
    late = await outcome_of(client, {"path": "/retrieve"}, right={"first": ["r"]})
    assert (late.problems, len(server.asked)) == ((), 3)
    server.hurried = 99
    never = await outcome_of(client, {"path": "/retrieve"}, right={"first": ["r"]})
    assert (never.right, len(server.asked)) == (False, 3 + 6)
    right = await outcome_of(client, {"path": "/retrieve"}, right={"first": ["hurried"]})
    assert (right.right, len(server.asked)) == (True, 3 + 6 + 1)


async def test_questions_go_to_the_retrieval_service(echo: tuple[Echo, httpx.AsyncClient]) -> None:
    server, client = echo
    case = Case.model_validate({"id": "x", "requests": [{"path": "/retrieve"}, {"path": "/graph/walk"}]})
    async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as ingest:
        (outcome,) = [outcome async for outcome in replay([case], ingest, client)]
    assert outcome.problems == ()
    assert [path for _, path, _ in server.asked] == ["/retrieve", "/graph/walk"]


async def test_the_command_prints_what_is_wrong_and_fails(echo: tuple[Echo, httpx.AsyncClient], tmp_path: Path) -> None:
    _, client = echo
    write(tmp_path, "a", requests=[{"path": "/retrieve"}], title="Found", right={"first": ["r"]})
    write(tmp_path, "b", requests=[{"path": "/retrieve"}], title="Lost", expect="x, of course", right={"first": ["x"]})
    write(tmp_path, "c", requests=[{"path": "/retrieve"}])
    arguments = ["cases", str(tmp_path), "--url", str(client.base_url), "--json", str(tmp_path / "out" / "o.json")]
    (tmp_path / "out").mkdir()
    done = await asyncio.to_thread(CliRunner().invoke, app, arguments)
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "right  a  Found",
        "wrong  b  Lost",
        "       x not among the first 1 (r)",
        "       came back: status 200, r",
        "       right is: x, of course",
        "shown  c",
        "       came back: status 200, r",
        "1 of 2 right, 1 shown, not judged",
    ]
    rows = json.loads((tmp_path / "out" / "o.json").read_text())["cases"]
    assert [(row["id"], row["right"]) for row in rows] == [("a", True), ("b", False), ("c", None)]
    (tmp_path / "b.json").unlink()
    assert (await asyncio.to_thread(CliRunner().invoke, app, arguments[:4])).exit_code == 0


def test_the_summary_counts_what_was_judged() -> None:
    assert summary([]) == "0 of 0 right"


def test_each_operation_is_asked_of_the_service_that_has_it() -> None:
    settings = SimpleNamespace(
        server=ServerSettings(), limits=LimitSettings(), oidc=OidcSettings(), hooks=HookSettings()
    )
    wiring: Any = SimpleNamespace(settings=settings, queue=SimpleNamespace(probe=None))
    of_both = {"/healthz", "/readyz", "/metrics"}
    for app_of, retrieves in ((create_ingest_app, False), (create_retrieval_app, True)):
        for path, operations in app_of(wiring).openapi()["paths"].items():
            for method in operations if path not in of_both else ():
                assert is_of_retrieval(method.upper(), f"{path}?context=c") is retrieves, (method, path)
