"""Requests that are broken as such: bytes, JSON, sizes, headers, methods; and questions that look like syntax."""

from __future__ import annotations

import json
import uuid

import httpx
import pytest

from support.api.problems import post, problem_of, refused, stores_nothing
from support.processes.server import Server

pytestmark = pytest.mark.process

_JSON = {"Content-Type": "application/json"}
_ITEM = '{"context": "raw", "items": [{"text": "raw text", %s}]}'


def send(http: httpx.Client, body: bytes, path: str = "/ingest", **headers: str) -> httpx.Response:
    return http.post(path, content=body, headers={**_JSON, **headers})


@pytest.mark.parametrize("path", ["/ingest", "/items/retract", "/retrieve"])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"context": "a", "items": [{"text": "b"}]',
        b'{"context": "a" "items": []}',
        b"{'context': 'a'}",
        b"null",
        b"[]",
        b'"text"',
        b"1",
        b"true",
        b"\xff\xfe{}",
        b'{"context": "\xc3\x28"}',
        b'{"query": "\xed\xa0\x80"}',
        b'{"query": "caf\xe9"}',
        "\ufeff{}".encode(),
        b'{"query": "a\x00b"}',
        b'{"query": "a\nb"}',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
    ids=lambda body: repr(body[:24]) if isinstance(body, bytes) else None,
)
def test_a_body_that_is_no_json_object_is_refused(server: Server, http: httpx.Client, path: str, body: bytes) -> None:
    with stores_nothing(server):
        problem = problem_of(send(http, body, path), 422, "invalid-input")
    assert [error["field"] for error in problem["errors"]] == ["body"]


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ('"importance": NaN', "body"),
        ('"importance": Infinity', "body"),
        ('"importance": -Infinity', "body"),
        ('"metadata": {"a": NaN}', "body"),
        ('"metadata": {"a": [-Infinity]}', "body"),
        ('"importance": 1e400', "body"),
        ('"metadata": {"a": 1e400}', "body"),
        ('"metadata": {"a": [{"b": -1e400}]}', "body"),
        ('"flow_step": 1e400', "body"),
        pytest.param(f'"flow_step": {"9" * 10_000}', "body", id="an int of 10000 digits"),
        pytest.param(f'"metadata": {{"a": {"9" * 10_000}}}', "body", id="an int of 10000 digits in metadata"),
        pytest.param(f'"flow_step": {"9" * 4_000}', "items[0].flow_step", id="an int of 4000 digits"),
        pytest.param(f'"importance": {"9" * 4_000}', "items[0].importance", id="a share of 4000 digits"),
    ],
)
def test_nan_infinity_and_oversized_numbers_are_refused(
    server: Server, http: httpx.Client, field: str, named: str
) -> None:
    with stores_nothing(server):
        problem = problem_of(send(http, (_ITEM % field).encode()), 422, "invalid-input")
    assert [error["field"] for error in problem["errors"]] == [named]


@pytest.mark.parametrize("depth", [99, 100, 300, 600, 950, 1200, 5000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":[', "]}")], ids=["lists", "objects"])
def test_deeply_nested_metadata_is_refused_or_returned_unchanged(
    server: Server, http: httpx.Client, depth: int, opening: str, closing: str
) -> None:
    token = f"deep{uuid.uuid4().hex}"
    times = depth // len(closing)
    metadata = f'{{"a": {opening * times}{closing * times}}}'
    body = f'{{"context": "deep", "items": [{{"text": "{token}", "metadata": {metadata}}}]}}'
    if depth < 100:
        assert send(http, body.encode()).status_code == 201
        found = post(http, "/retrieve", {"query": token, "context": "deep", "channels": ["bm25"], "limit": 1})
        assert found.json()["results"][0]["metadata"] == json.loads(metadata)
        return
    with stores_nothing(server):
        problem = problem_of(send(http, body.encode()), 422, "invalid-input")
    assert problem["errors"][0]["field"] in {"body", "items[0].metadata"}


def test_metadata_is_returned_unchanged(http: httpx.Client) -> None:
    token = f"kept{uuid.uuid4().hex}"
    metadata = {
        "": "", "int": 2**70, "float": 1e-300, "zero": -0.0, "nested": {"a": [1, None, True, {"é": "\U0001f600"}]},
        "quote": "'; DROP TABLE node; --", "cypher": "`}) DETACH DELETE n //", "u2028": "\u2028",
    }  # fmt: skip
    item = {"id": "i\u200d ' \" ` \\ %s {} \U0001f600", "text": token, "metadata": metadata}
    assert post(http, "/ingest", {"context": "meta", "items": [item]}).status_code == 201
    result = post(http, "/retrieve", {"query": token, "context": "meta", "limit": 1}).json()["results"][0]
    assert result["metadata"] == metadata
    assert result["id"] == item["id"]


def test_timestamps_at_the_ends_of_the_calendar_are_stored(http: httpx.Client) -> None:
    times = [
        "0001-01-01T00:00:00Z",
        "0001-01-01T23:00:00-01:00",
        "9999-12-31T23:59:59.999999Z",
        "9999-12-31T00:00:00+14:00",
    ]
    items = [{"id": f"t{n}", "text": f"Calendar end {n}", "timestamp": time} for n, time in enumerate(times)]
    assert post(http, "/ingest", {"context": "calendar", "items": items}).status_code == 201
    results = post(http, "/retrieve", {"query": "calendar end", "context": "calendar"}).json()["results"]
    told = {result["id"]: result["timestamp"] for result in results}
    assert told == {
        "t0": "0001-01-01T00:00:00Z",
        "t1": "0001-01-02T00:00:00Z",
        "t2": "9999-12-31T23:59:59.999999Z",
        "t3": "9999-12-30T10:00:00Z",
    }


def test_a_text_of_50_megabytes_is_refused(server: Server, http: httpx.Client) -> None:
    body = json.dumps({"context": "big", "items": [{"text": "a b " * (50 * 2**18)}]}).encode()
    with stores_nothing(server):
        assert "VICW_MAX_BODY_BYTES" in problem_of(send(http, body), 413, "too-large")["detail"]
        # Without a Content-Length it is noticed while it comes in.
        parts = (body[start : start + 2**20] for start in range(0, len(body), 2**20))
        answer = http.post("/ingest", content=parts, headers=_JSON)
        assert "VICW_MAX_BODY_BYTES" in problem_of(answer, 413, "too-large")["detail"]


def test_a_text_over_its_limit_is_refused_with_the_setting(server: Server, http: httpx.Client) -> None:
    with stores_nothing(server):
        problem = refused(http, "/ingest", {"context": "big", "items": [{"text": "ab " * 400_000}]})
    assert problem["errors"][0]["field"] == "items[0].text"
    assert "VICW_MAX_TEXT_CHARS" in problem["errors"][0]["fix"]


def test_a_hundred_thousand_items_are_refused(server: Server, http: httpx.Client) -> None:
    body = {"context": "many", "items": [{"text": f"item {n}"} for n in range(100_000)]}
    with stores_nothing(server):
        problem = refused(http, "/ingest", body)
    assert problem["errors"][0]["field"] == "items"
    assert "VICW_MAX_ITEMS" in problem["errors"][0]["fix"]


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/xml", "nonsense", "a/json;b=c"]
)
def test_a_body_of_another_content_type_is_refused_with_the_fix(
    server: Server, http: httpx.Client, kind: str | None
) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    with stores_nothing(server):
        answer = http.post("/ingest", content=b'{"context": "kind", "items": [{"text": "a"}]}', headers=headers)
        problem = problem_of(answer, 422, "invalid-input")
    assert "application/json" in problem["errors"][0]["fix"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/ingest", 405),
        ("PUT", "/ingest", 405),
        ("DELETE", "/retrieve", 405),
        ("GET", "/retrieve", 405),
        ("POST", "/healthz", 405),
        ("POST", "/", 405),
        ("GET", "/nowhere", 404),
        ("GET", "/ingest/../../etc/passwd", 404),
        ("GET", "/%00", 404),
        ("GET", "/%ff%fe", 404),
        ("GET", "/ingest/jobs/none", 404),
        ("GET", "/ingest/jobs/%00", 404),
        ("GET", "/ingest/jobs/%ed%a0%80", 404),
        ("GET", "/ingest/jobs/' OR 1=1 --", 404),
    ],
)
def test_a_wrong_method_or_path_is_a_problem_document(http: httpx.Client, method: str, path: str, status: int) -> None:
    slug = "not-found" if status == 404 else "http-405"
    answer = http.request(method, path)
    problem = problem_of(answer, status, slug)
    if status == 405:
        right = {"/healthz": "GET", "/": "GET"}.get(path, "POST")
        assert problem["detail"] == f"{method} is not allowed at {path}. Send {right}"
        assert answer.headers["allow"] == right


@pytest.mark.parametrize("key", [b"", b"k" * 256], ids=["empty", "too long"])
def test_an_empty_or_too_long_idempotency_key_is_refused(server: Server, http: httpx.Client, key: bytes) -> None:
    body = json.dumps({"context": "key", "items": [{"text": "keyed"}]}).encode()
    with stores_nothing(server):
        answer = http.post(
            "/ingest", content=body, headers=[(b"Content-Type", b"application/json"), (b"Idempotency-Key", key)]
        )
        problem = problem_of(answer, 422, "invalid-input")
    assert "key" in problem["errors"][0]["field"].lower()


@pytest.mark.parametrize("prefix", ["", "caf\xe9 "], ids=["ASCII", "not ASCII"])
def test_an_idempotency_key_belongs_to_one_request(server: Server, http: httpx.Client, prefix: str) -> None:
    key = {"Idempotency-Key": prefix + str(uuid.uuid4())}
    first = post(http, "/ingest", {"context": "key", "items": [{"text": "once"}]}, **key)
    with stores_nothing(server):
        again = post(http, "/ingest", {"context": "key", "items": [{"text": "once"}]}, **key)
        problem_of(post(http, "/ingest", {"context": "key", "items": [{"text": "twice"}]}, **key), 409, "conflict")
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-123", True), ("x" * 128, True), ("x" * 129, False), ("tab\there", False), ("", False)]
)
def test_a_valid_request_id_is_returned(http: httpx.Client, given: str, kept: bool) -> None:
    for answer in (
        http.get("/healthz", headers={"X-Request-ID": given}),
        http.get("/nowhere", headers={"X-Request-ID": given}),
        post(http, "/retrieve", {"query": 1}, **{"X-Request-ID": given}),
    ):
        told = answer.headers["x-request-id"]
        assert (told == given) is kept
        assert told


@pytest.mark.parametrize(
    "query",
    [
        "what who when where why how",
        "the of and to in",
        'AND OR NOT ( " *',
        '"',
        "NEAR(a b, 5)",
        "name:* AND text:[a TO z]~2^3 -x +y \\",
        "' OR '1'='1'; DROP TABLE node; --",
        "MATCH (n) DETACH DELETE n //",
        "$param {a: 1} `backtick`",
        "{{7*7}} ${jndi:ldap://x} %s %n <script>",
        "\U0001f600\U0001f3fd\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u0301\u0301\u0301",
        "مرحبا 你好 שלום \u202eabc",
        "?!…,.;:-_",
        "\U0010ffff\ufffe",
    ],
)
def test_query_text_is_never_interpreted_as_syntax(http: httpx.Client, query: str) -> None:
    answer = post(http, "/retrieve", {"query": query, "explain": True})
    assert answer.status_code == 200, answer.text
    assert set(answer.json()["degraded"]) <= {"pending"}


def test_a_long_query_is_answered(http: httpx.Client) -> None:
    words = " ".join(f"word{n}" for n in range(5000))
    answer = post(http, "/retrieve", {"query": words})
    assert answer.status_code == 200, answer.text
