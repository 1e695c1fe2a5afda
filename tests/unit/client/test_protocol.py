"""Both clients against one fake server: the same calls, the same outcome."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any
from urllib.parse import unquote_plus

import httpx
import pytest

from vicw_client import (
    AsyncVicwClient,
    BadRequestError,
    ConflictError,
    JobFailedError,
    JobTimeoutError,
    NotFoundError,
    PreconditionFailedError,
    Retry,
    RetryLaterError,
    ServerFaultError,
    ServerUnreachableError,
    TimedOutError,
    TooLargeError,
    UnexpectedAnswerError,
    VicwClient,
)
from vicw_shared.wire.filters import Filter
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, Item

type Handler = Callable[[httpx.Request], httpx.Response]
type Call = Callable[..., Any]

FAST = Retry(attempts=3, first_seconds=0.0, longest_seconds=0.0)
STORED: dict[str, Any] = {
    "context": "c",
    "context_uid": "u",
    "domain": "general",
    "items": [
        {
            "id": "a",
            "uid": "1",
            "status": "created",
            "label": "Entity",
            "flow_id": None,
            "flow_step": None,
            "nodes": [],
        }
    ],
}
FOUND = {
    "intent": {"domain": "general", "confidence": 0.0, "domain_source": "none", "filtered": False},
    "results": [],
    "graph": {},
    "text": "",
    "took_ms": {"total": 1.0},
}


def job(status: str) -> dict[str, Any]:
    return {
        "job": "j/1",
        "status": status,
        "created_at": "2026-01-19T10:00:00Z",
        "items": 1,
        "passages_waiting": 4 if status == "running" else 0,
        "result": None if status == "running" else STORED,
    }


def problem(status: int, **more: Any) -> dict[str, Any]:
    return {"type": "urn:vicw:problem:x", "title": "t", "status": status, "detail": "d", **more}


def call_sync(handler: Handler, method: str, *args: Any, **kwargs: Any) -> Any:
    with VicwClient("http://vicw.test", retry=FAST, transport=httpx.MockTransport(handler)) as client:
        return attrgetter(method)(client)(*args, **kwargs)


def call_async(handler: Handler, method: str, *args: Any, **kwargs: Any) -> Any:
    async def run() -> Any:
        transport = httpx.MockTransport(handler)
        async with AsyncVicwClient("http://vicw.test", retry=FAST, transport=transport) as client:
            return await attrgetter(method)(client)(*args, **kwargs)

    return asyncio.run(run())


@pytest.fixture(params=[call_sync, call_async])
def call(request: pytest.FixtureRequest) -> Call:
    chosen: Call = request.param
    return chosen


def test_ingest_sends_given_fields_and_omits_defaults(call: Call) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(201, json=STORED)

    when = datetime(2026, 1, 19, 10, tzinfo=UTC)
    response = call(handler, "ingest", context="c", items=[{"text": "hello", "timestamp": when}])
    assert response.items[0].id == "a"
    assert json.loads(seen[0].content) == {
        "context": "c",
        "items": [{"text": "hello", "timestamp": "2026-01-19T10:00:00Z"}],
    }
    assert seen[0].headers["Idempotency-Key"]


@pytest.mark.parametrize(
    ("given", "named", "where"),
    [(["u/1"], {}, "/items/u%2F1"), ([], {"context": "c & d", "id": "a#1"}, "/items?context=c+%26+d&id=a%231")],
)
def test_patch_sends_nulls_and_the_version_it_is_for(
    call: Call, given: list[Any], named: dict[str, Any], where: str
) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if request.headers.get("If-Match") == '"1"':
            return httpx.Response(412, json={"type": "t", "title": "t", "status": 412, "detail": "has version 2"})
        return httpx.Response(200, json={"context": "c", "version": 3, "item": STORED["items"][0]})

    answer = call(handler, "patch", *given, **named, if_match=2, tags=["x"], expires_at=None)
    assert (answer.version, seen[0].method, seen[0].url.raw_path.decode()) == (3, "PATCH", where)
    assert json.loads(seen[0].content) == {"tags": ["x"], "expires_at": None}
    assert seen[0].headers["If-Match"] == '"2"'
    with pytest.raises(PreconditionFailedError, match="has version 2"):
        call(handler, "patch", *given, **named, if_match=1)


def test_questions_and_changes_are_sent_with_typed_filters_and_cursors(call: Call) -> None:
    seen: list[tuple[str, Any]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append((request.url.path, json.loads(request.content)))
        if request.url.path == "/items/retract":
            return httpx.Response(200, json={"context": None, "items": [], "selected": 3, "dry_run": True})
        return httpx.Response(404, json={"type": "t", "title": "t", "status": 404, "detail": "No item passes"})

    chosen = Filter.model_validate({"not": {"tags": "draft"}, "speaker": {"in": ["Ana"]}})
    sent = {"not": {"tags": {"any": ["draft"]}}, "speaker": {"in": ["Ana"]}}
    assert call(handler, "retract", filter=chosen, dry_run=True).selected == 3
    for name, fields in (("forget", {"filter": chosen, "all": True}), ("retrieve", {"query": "q", "cursor": "c"})):
        with pytest.raises(NotFoundError):
            call(handler, name, **fields)
    with pytest.raises(NotFoundError):
        call(handler, "retrieve", query="q", metadata={"house": 3}, since=datetime(2026, 1, 19, 10, tzinfo=UTC))
    assert seen == [
        ("/items/retract", {"filter": sent, "dry_run": True}),
        ("/forget", {"filter": sent, "all": True}),
        ("/retrieve", {"query": "q", "cursor": "c"}),
        ("/retrieve", {"query": "q", "metadata": {"house": {"eq": 3}}, "since": "2026-01-19T10:00:00Z"}),
    ]


def test_items_and_contexts_are_asked_with_typed_filters(call: Call) -> None:
    seen: list[str] = []
    item = {
        **dict.fromkeys(("uid", "context", "domain", "subtype", "name"), "x"),
        "label": "Event",
        "version": 1,
        "told_at": "2026-01-01T00:00:00Z",
        "created_at": "2026-01-01T00:00:00Z",
    }

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(unquote_plus(request.url.raw_path.decode()))
        if request.url.path == "/contexts":
            return httpx.Response(200, json={"contexts": [], "next": "d"})
        if request.url.path == "/stats":
            counts = dict.fromkeys(("items", "retired", "contexts", "passages", "chars", "vectors", "waiting"), 4)
            return httpx.Response(200, json={**counts, "labels": {}, "domains": {}, "days": []})
        return httpx.Response(200, json=item if "id" in request.url.params else {"items": [item], "next": "more"})

    page = call(handler, "items", filter={"metadata.house": {"gte": 3}}, tag=("a", "b"), limit=5, cursor=None)
    assert (page.items[0].uid, page.next) == ("x", "more")
    chosen = Filter.model_validate({"not": {"tags": "draft"}})
    call(handler, "items", filter=chosen, since=datetime(2026, 1, 19, 10, tzinfo=UTC))
    assert call(handler, "item", context="c & d", id="a#1").version == 1
    assert call(handler, "contexts", prefix="c").next == "d"
    assert call(handler, "stats", days=3, viewer="u").vectors == 4
    assert seen == [
        '/items?filter={"metadata.house":{"gte":3}}&tag=a&tag=b&limit=5',
        '/items?since=2026-01-19T10:00:00Z&filter={"not":{"tags":{"any":["draft"]}}}',
        "/items?context=c & d&id=a#1",
        "/contexts?prefix=c",
        "/stats?viewer=u&days=3",
    ]
    for wrong in ({"filter": {"colour": 1}}, {"order": "size"}):
        with pytest.raises(BadRequestError, match=next(iter(wrong))):
            call(handler, "items", **wrong)
    assert len(seen) == 5, "nothing was sent"


def test_people_and_timelines_are_asked_with_typed_parameters(call: Call) -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path.decode())
        pages: dict[str, Any] = {
            "/users": {"users": []},
            "/people/a%2F1/profile": {"uid": "a/1", "name": "n", "statements": []},
        }
        answer = pages.get(seen[-1].partition("?")[0], {"items": []})
        return httpx.Response(200, json={**answer, "complete": True, "next": "user:b"})

    assert call(handler, "users", prefix="u", context="c").next == "user:b"
    assert call(handler, "profile", "a/1", limit=3, viewer="v").complete
    assert call(handler, "timeline", "mail/2026 #1", order="happened", flow="f", limit=2).items == ()
    assert seen == [
        "/users?context=c&prefix=u",
        "/people/a%2F1/profile?viewer=v&limit=3",
        "/contexts/mail%2F2026%20%231/timeline?order=happened&flow=f&limit=2",
    ]
    with pytest.raises(BadRequestError, match="order"):
        call(handler, "timeline", "c", order="importance")


def test_forget_is_sent_once_and_watched(call: Call) -> None:
    seen: list[httpx.Request] = []
    numbers = dict.fromkeys(("items", "contexts", "people", "mentioned"), 1)
    running = {"erasure": "e/1", "status": "running", "selected": numbers, "created_at": "2026-01-01T00:00:00Z"}

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(202 if "user" in request.content.decode() else 503, json=running)

    assert call(handler, "forget", user="u", wait=False).status == "running"
    assert json.loads(seen[0].content) == {"user": "u", "wait": False}
    with pytest.raises(RetryLaterError):
        call(handler, "forget", items=["a"])
    assert len(seen) == 2
    with pytest.raises(RetryLaterError):
        call(handler, "erasure", "e/1")
    assert seen[-1].url.raw_path.decode() == "/forget/e%2F1"


def test_audit_asks_for_a_page(call: Call) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"records": [], "next": None})

    assert call(handler, "audit", after="a=", limit=3).next is None
    assert seen[0].url.raw_path.decode() == "/audit?after=a%3D&limit=3"


def test_feedback_and_the_sleep_cycle_have_their_paths(call: Call) -> None:
    seen: list[tuple[str, str, Any]] = []
    step = {
        "id": "s",
        "task": "dream",
        "outcome": "undone",
        "at": "2026-01-19T10:00:00Z",
        "subject": "u",
        "undo_until": None,
        "context": None,
        "reason": None,
    }
    answers: dict[str, Any] = {
        "/feedback": {"uid": "u", "context": "c", "useful": 0, "wrong": 1},
        "/feedback?": {"items": [], "next": None},
        "/sleep": {"jobs": [], "steps": [step], "next": None},
        "/sleep/undo": step,
        "/sleep/run": {"job": "dream"},
        "/check": {"compared": None, "drift": None, "rebuilding": None, "passages_waiting": 2},
    }

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append((request.method, unquote_plus(str(request.url.query, "ascii")), request.content))
        return httpx.Response(200, json=answers[request.url.path + "?" * (seen[-1][1] == "verdict=wrong")])

    assert call(handler, "list_feedback", verdict="wrong").next is None
    assert call(handler, "feedback", item="u", verdict="wrong", query="Where?").wrong == 1
    assert call(handler, "sleep", task="dream", limit=3, after=None).steps[0].outcome == "undone"
    assert call(handler, "undo", "s").id == "s"
    assert call(handler, "run_job", "dream").job == "dream"
    assert call(handler, "check").passages_waiting == 2
    assert [(method, query) for method, query, _ in seen] == [
        ("GET", "verdict=wrong"),
        ("POST", ""),
        ("GET", "task=dream&limit=3"),
        ("POST", ""),
        ("POST", ""),
        ("GET", ""),
    ]
    assert [json.loads(body) for _, _, body in seen if body] == [
        {"item": "u", "verdict": "wrong", "query": "Where?"},
        {"step": "s"},
        {"job": "dream"},
    ]
    with pytest.raises(BadRequestError, match="verdict"):
        call(handler, "feedback", item="u", verdict="fine", query="Where?")


def test_ingest_sends_the_nulls_of_a_patch(call: Call) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(201, json=STORED)

    call(handler, "ingest", context="c", items=[{"id": "a", "merge": True, "tags": None, "metadata": {"k": None}}])
    assert json.loads(seen[0].content)["items"] == [{"id": "a", "merge": True, "tags": None, "metadata": {"k": None}}]


THING: dict[str, Any] = {
    "uid": "u",
    "label": "Entity",
    "subtype": "person",
    "name": "Ana",
    "context": "c",
    "domain": "general",
    "created_at": "2026-01-19T10:00:00Z",
    "degree": 0,
    "canonical": "u",
}


@pytest.mark.parametrize(
    ("method", "given", "named", "path", "body"),
    [
        ("entities", ["c & d"], {}, "GET /entities?context=c+%26+d", None),
        (
            "entities",
            ["c"],
            {"subtype": "person", "prefix": "an", "after": "u", "limit": 2},
            "GET /entities?context=c&subtype=person&prefix=an&after=u&limit=2",
            None,
        ),
        ("entity", ["u/1"], {}, "GET /entities/u%2F1", None),
        (
            "entity_candidates",
            ["c", "d"],
            {"threshold": 0.9},
            "GET /entities/candidates?context=c&context=d&threshold=0.9",
            None,
        ),
        ("merge", ["a", "b"], {}, "POST /entities/merge", {"entity": "a", "into": "b"}),
        ("split", ["a"], {}, "POST /entities/split", {"entity": "a"}),
        ("split", ["a", "b"], {}, "POST /entities/split", {"entity": "a", "apart_from": "b"}),
        ("rename", ["a/b", "Ana"], {}, "POST /entities/a%2Fb/rename", {"name": "Ana"}),
    ],
)
def test_entity_methods_send_their_path_and_body(
    call: Call, method: str, given: list[str], named: dict[str, Any], path: str, body: dict[str, str] | None
) -> None:
    seen: list[httpx.Request] = []
    answers = {
        "entities": {"entities": [THING]},
        "entity": THING,
        "entity_candidates": {"candidates": [], "examined": 0, "complete": True},
    }

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=answers.get(method, {"entity": THING, "changed": True}))

    call(handler, method, *given, **named)
    (asked,) = seen
    assert f"{asked.method} {asked.url.raw_path.decode()}" == path
    assert (json.loads(asked.content) if asked.content else None) == body


def test_retract_is_retried_with_the_same_request(call: Call) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if len(seen) == 1:
            raise httpx.ReadError("broken", request=request)
        return httpx.Response(200, json={"context": "c", "items": [{"id": "a", "uid": None, "status": "unknown"}]})

    assert call(handler, "retract", context="c", ids=["a"]).items[0].status == "unknown"
    assert [(r.method, r.url.path, json.loads(r.content)) for r in seen] == [
        ("POST", "/items/retract", {"context": "c", "ids": ["a"]})
    ] * 2


def test_ingest_accepts_a_request_model_and_an_idempotency_key(call: Call) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert request.headers["Idempotency-Key"] == "mine"
        return httpx.Response(201, json=STORED)

    request = IngestRequest(context="c", items=(Item(text="hello"),))
    assert call(handler, "ingest", request, idempotency_key="mine").context == "c"
    with pytest.raises(TypeError, match="not both"):
        call(handler, "ingest", request, context="c")


def test_ingest_retries_use_one_idempotency_key(call: Call) -> None:
    keys: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            raise httpx.ReadError("broken", request=request)
        if len(keys) == 2:
            return httpx.Response(429, json=problem(429), headers={"Retry-After": "1"})
        return httpx.Response(201, json=STORED)

    assert call(handler, "ingest", context="c", items=[{"text": "x"}]).context == "c"
    assert len(keys) == 3
    assert len(set(keys)) == 1


@pytest.mark.parametrize(
    ("status", "error", "tries"),
    [
        (400, BadRequestError, 1),
        (401, BadRequestError, 1),
        (404, NotFoundError, 1),
        (409, ConflictError, 1),
        (413, TooLargeError, 1),
        (429, RetryLaterError, 3),
        (500, ServerFaultError, 1),
        (503, RetryLaterError, 3),
        (507, RetryLaterError, 1),
        (302, UnexpectedAnswerError, 1),
    ],
)
@pytest.mark.parametrize("with_document", [True, False])
def test_http_statuses_map_to_client_errors(
    call: Call, status: int, error: type[Exception], tries: int, with_document: bool
) -> None:
    count = 0

    def handler(request: httpx.Request) -> httpx.Response:
        nonlocal count
        count += 1
        if with_document:
            return httpx.Response(status, json=problem(status), headers={"Retry-After": "7"})
        return httpx.Response(status, text="<html>")

    with pytest.raises(error) as raised:
        call(handler, "retrieve", query="q")
    assert type(raised.value) is error
    assert count == tries
    if isinstance(raised.value, RetryLaterError):
        assert raised.value.retry_after == (7.0 if with_document else None)


GRAPH_ANSWER = {"start": ["1"], "nodes": [], "edges": [], "complete": False, "took_ms": {"graph": 1.0}, "newer": 1}


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("find", {"name": "ana"}),
        ("walk", {"start": ("ana",), "types": {"include": ("CAUSED",)}, "viewer": {"user": "ben"}}),
        *((question, {"node": "ana"}) for question in ("about", "person", "users", "history", "merges")),
        ("flow", {"flow": "f"}),
    ],
)
def test_each_graph_question_has_its_own_path(call: Call, question: str, fields: dict[str, Any]) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []

    def graph(request: httpx.Request) -> httpx.Response:
        seen.append((request.url.path, json.loads(request.content)))
        return httpx.Response(200, json=GRAPH_ANSWER)

    answer = call(graph, f"graph.{question}", **fields)
    assert (answer.start, answer.complete) == (("1",), False)
    assert seen == [(f"/graph/{question}", json.loads(json.dumps(fields)))], "defaults are the server's to choose"
    with pytest.raises(BadRequestError):
        call(graph, f"graph.{question}", **fields, limit=0)
    assert len(seen) == 1, "found wrong before it was sent"


def test_a_service_that_lacks_the_path_is_named_with_the_setting(call: Call) -> None:
    def elsewhere(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404, json=problem(404))

    with pytest.raises(NotFoundError, match=r"http://vicw\.test/retrieve answered 404: d\. .*VICW_RETRIEVE_URL"):
        call(elsewhere, "retrieve", query="q")
    with pytest.raises(NotFoundError, match=r"http://vicw\.test/graph/walk answered 404: d\. .*VICW_RETRIEVE_URL"):
        call(elsewhere, "graph.walk", start=("a",))
    with pytest.raises(NotFoundError, match=r"http://vicw\.test/ingest answered 404: d\. .*VICW_URL, or by --url"):
        call(elsewhere, "ingest", context="c", items=[{"text": "x"}])
    with pytest.raises(NotFoundError, match=r"^d$"):
        call(elsewhere, "job", "j")


@pytest.mark.parametrize(
    ("cause", "error", "tries"),
    [
        (httpx.ConnectError, ServerUnreachableError, 3),
        (httpx.ConnectTimeout, ServerUnreachableError, 3),
        (httpx.RemoteProtocolError, ServerUnreachableError, 3),
        (httpx.ReadTimeout, TimedOutError, 1),
        (httpx.DecodingError, UnexpectedAnswerError, 1),
    ],
)
def test_transport_errors_map_to_client_errors(
    call: Call, cause: type[httpx.RequestError], error: type[Exception], tries: int
) -> None:
    count = 0

    def handler(request: httpx.Request) -> httpx.Response:
        nonlocal count
        count += 1
        raise cause("no", request=request)

    with pytest.raises(error, match=r"http://vicw\.test") as raised:
        call(handler, "job", "j")
    assert type(raised.value) is error
    assert isinstance(raised.value.__cause__, cause)
    assert count == tries


def test_wrong_fields_are_named_by_the_server_and_by_the_client(call: Call) -> None:
    wrong = [{"field": "items[0].text", "problem": "is empty", "fix": "Say something"}]

    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(422, json=problem(422, errors=wrong, later_field=1))

    with pytest.raises(BadRequestError) as raised:
        call(handler, "ingest", context="c", items=[{"text": "x"}])
    assert raised.value.problem.errors[0].fix == "Say something"
    with pytest.raises(BadRequestError) as raised:
        call(handler, "ingest", context="c", items=[{"text": "x"}, {"text": " "}])
    assert [e.field for e in raised.value.problem.errors] == ["items[1].text"]
    assert str(raised.value).startswith("items[1].text: is empty or holds only white space")
    assert str(raised.value).endswith(". Send some text, or leave the field out if it is optional")
    with pytest.raises(BadRequestError, match=r"^query: is empty"):
        call(handler, "retrieve", query=" ")


def test_fields_of_a_newer_server_are_accepted_but_not_another_service(call: Call) -> None:
    newer = {**FOUND, "intent": {**FOUND["intent"], "mood": "curious"}, "more": 1}  # type: ignore[dict-item]
    assert call(lambda _: httpx.Response(200, json=newer), "retrieve", query="q").text == ""
    for body in (b"<html>", b"{}", b""):
        with pytest.raises(UnexpectedAnswerError, match="RetrieveResponse"):
            call(lambda _, body=body: httpx.Response(200, content=body), "retrieve", query="q")


def test_wait_for_polls_a_job_until_it_is_done(call: Call) -> None:
    states = iter(["running", "running", "done"])

    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.raw_path == b"/ingest/jobs/j%2F1"
        return httpx.Response(200, json=job(next(states)))

    assert call(handler, "wait_for", "j/1", 10.0).items[0].uid == "1"
    stored = IngestResponse.model_validate(STORED)
    assert call(handler, "wait_for", stored) is stored


def test_a_done_job_without_a_result_is_an_unexpected_answer(call: Call) -> None:
    done = {**job("done"), "result": None}
    with pytest.raises(UnexpectedAnswerError, match="lacks the result"):
        call(lambda _: httpx.Response(200, json=done), "wait_for", "j", 10.0)


def test_a_failed_job_names_its_failures(call: Call) -> None:
    failure = {"id": "i1", "uid": "1", "passage": "p", "tries": 30, "error": "refused", "dead": True}
    failed = {**job("failed"), "passages_failed": 2, "failures": [failure]}
    with pytest.raises(JobFailedError, match="2 passages were given up; of i1: refused") as raised:
        call(lambda _: httpx.Response(200, json=failed), "wait_for", "j", 10.0)
    assert raised.value.status.failures[0].passage == "p"


def test_wait_for_stops_at_its_deadline(call: Call) -> None:
    with pytest.raises(JobTimeoutError, match="4 passages"):
        call(lambda _: httpx.Response(200, json=job("running")), "wait_for", "j", 0.05)


def test_ready_returns_false_with_a_reason_when_the_server_is_down(call: Call) -> None:
    def down(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    assert call(lambda _: httpx.Response(200, json={}), "ready")
    failing = {"status": "not ready", "failing": {"embedding": "is starting", "graph": "is locked"}}
    waiting = call(lambda _: httpx.Response(503, json=failing), "ready")
    assert not waiting
    assert waiting.detail == "embedding: is starting; graph: is locked"
    for body in (problem(503), {"detail": "d", "failing": 1, **problem(503)}):
        assert call(lambda _, body=body: httpx.Response(503, json=body), "ready").detail == "d"
    assert "refused" in call(down, "ready").detail
    with pytest.raises(NotFoundError):
        call(lambda _: httpx.Response(404), "ready")


def test_pauses_grow_are_bounded_and_obey_retry_after() -> None:
    most = Retry(first_seconds=0.5, longest_seconds=3.0, jitter=lambda: 1.0)
    assert [most.pause(n, None).seconds for n in range(4)] == [0.5, 1.0, 2.0, 3.0]
    least = Retry(longest_seconds=3.0, jitter=lambda: 0.0)
    assert least.pause(0, None).seconds == 0.0
    assert least.pause(0, 2.0).seconds == 2.0
    assert least.pause(0, 3600.0).seconds == 3.0
