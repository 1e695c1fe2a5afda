"""Examples of the OpenAPI documents: each operation has them, they fit their schemas, and a fresh server takes them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx
import jsonschema_rs
import pytest

from support.stores.memory import Memory
from vicw_ingest.app import create_ingest_app
from vicw_retrieval.app import create_retrieval_app
from vicw_shared.settings import HookSettings, LimitSettings, OidcSettings, ServerSettings
from vicw_standalone.app import create_standalone_app

type Json = dict[str, Any]

NEEDS_NO_EXAMPLE = {"boolean", "integer"}
"""Parameters of these types have a default, or say their bounds."""
TAKES_AWAY = ("/items/retract", "/forget", "/admin/forget", "/admin/forget/import")
"""Sent last: what others ask about would be gone."""
NOT_SENT = {
    "/admin/reindex": "fetches a model",
    "/admin/export": "writes files",
    "/admin/import": "reads files",
    "/admin/mirror/build": "writes files",
    "/admin/mirror/sync": "writes files",
    "/admin/mirror/status": "reads files",
}
REFUSED = {
    "POST /hooks/claude-code": 422,  # the folder of the example is no checkout here, and the address names no context
    "POST /hooks/codex": 422,
    "POST /webhooks": 409,  # they are off by default
    "POST /webhooks/{webhook}/secret": 404,
    "GET /webhooks/{webhook}/dead": 404,
    "POST /webhooks/{webhook}/replay": 404,
    "DELETE /webhooks/{webhook}": 404,
    "POST /keys": 403,  # the first key is made by a command
    "DELETE /keys/{key}": 404,
    "POST /admin/keys/revoke": 404,
    "POST /sleep/undo": 404,
    "POST /admin/sleep/undo": 404,
    "GET /ingest/jobs/{job}": 404,
    "POST /admin/jobs/show": 404,
    "POST /admin/jobs/replay": 404,
    "GET /import/{job}": 404,
    "DELETE /import/{job}": 404,
    "GET /forget/{erasure}": 404,
    "POST /admin/forget/import": 404,
}
"""What a fresh server has not: its answer to the example."""
OPAQUE = {"after", "cursor", "last-event-id"}
"""Parameters that a server's own answer gives."""
TOLD_ANEW = {"created_at", "told_at", "at", "took_ms", "next", "degree", "first", "last"}
"""Fields of answers that differ from run to run, or as the story goes on."""


@dataclass(frozen=True)
class Documented:
    """An operation of a document."""

    document: Json
    method: str
    path: str
    operation: Json

    @property
    def place(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[Json]:
        found: list[Json] = self.operation.get("parameters", [])
        return found

    @property
    def bodies(self) -> dict[str, Json]:
        found: dict[str, Json] = self.operation.get("requestBody", {}).get("content", {})
        return found

    @property
    def body(self) -> Json | None:
        media = self.bodies.get("application/json")
        return examples_of(self.document, media)[0] if media else None

    @property
    def answers(self) -> Iterator[tuple[str, Json]]:
        """What is documented of each answer that is no refusal and has a body."""
        for status, answer in self.operation["responses"].items():
            if status.startswith("2") and status != "204":
                for media in answer["content"].values():
                    yield status, media


def operations_of(document: Json) -> Iterator[Documented]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield Documented(document, method.upper(), path, operation)


def examples_of(document: Json, media: Json) -> list[Any]:
    """The examples of a body or an answer: its own, else those of its schema."""
    if "example" in media:
        return [media["example"]]
    schema = media.get("schema", {})
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return list(document["components"]["schemas"][name].get("examples", []))
    return [each for one in schema.get("anyOf", []) for each in examples_of(document, {"schema": one})]


def flaws(document: Json, schema: Json, example: Any) -> list[str]:
    checker = jsonschema_rs.Draft202012Validator({**schema, "components": document["components"]})
    return [f"{error.instance_path}: {error.message}" for error in checker.iter_errors(example)]


@pytest.fixture(params=["standalone", "ingest", "retrieval"])
def document(request: pytest.FixtureRequest, memory: Memory) -> Json:
    wiring: Any = SimpleNamespace(
        settings=SimpleNamespace(
            server=ServerSettings(), limits=LimitSettings(), oidc=OidcSettings(), hooks=HookSettings()
        ),
        queue=SimpleNamespace(probe=None),
    )
    match request.param:
        case "ingest":
            return create_ingest_app(wiring).openapi()
        case "retrieval":
            return create_retrieval_app(wiring).openapi()
    return create_standalone_app(memory.standalone).openapi()


def test_each_operation_has_examples_that_fit_their_schemas(document: Json) -> None:
    wrong: list[str] = []
    for operation in operations_of(document):
        bodies = [("body", media) for media in operation.bodies.values()]
        for of, media in (*bodies, *operation.answers):
            examples = examples_of(document, media)
            if not examples:
                wrong.append(f"{operation.place} {of}: has no example")
            for example in examples:
                wrong += [f"{operation.place} {of}: {flaw}" for flaw in flaws(document, media["schema"], example)]
    assert wrong == []


def test_each_parameter_that_says_not_what_to_type_has_an_example(document: Json) -> None:
    wrong: list[str] = []
    for operation in operations_of(document):
        for parameter in operation.parameters:
            schema = parameter["schema"]
            kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
            chosen = all(one.keys() & {"enum", "const", "$ref"} or one.get("type") in NEEDS_NO_EXAMPLE for one in kinds)
            examples = [*schema.get("examples", []), *parameter.get("examples", {})]
            if not (examples or chosen):
                wrong.append(f"{operation.place} {parameter['name']}")
            for example in schema.get("examples", []):
                wrong += [f"{operation.place} {parameter['name']}: {one}" for one in flaws(document, schema, example)]
    assert wrong == []


def test_no_example_has_an_unknown_field_or_is_of_another_message(document: Json) -> None:
    wrong: list[str] = []
    for name, schema in document["components"]["schemas"].items():
        for example in schema.get("examples", []):
            wrong += [f"{name}: {flaw}" for flaw in flaws(document, schema, example)]
            if "patternProperties" not in schema and isinstance(example, dict):
                wrong += [f"{name}.{field}: is no field" for field in example.keys() - schema["properties"].keys()]
    assert wrong == []


async def test_the_example_of_a_stream_is_the_example_of_an_event(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    operation = next(one for one in operations_of(document) if one.place == "GET /events")
    ((_, media),) = operation.answers
    fields = media["example"]
    event = json.loads(fields["data"])
    assert (fields["id"], fields["event"]) == (event["id"], event["kind"])
    assert [event] == document["components"]["schemas"]["Event"]["examples"]


@pytest.fixture
async def http(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


def question_of(operation: Documented, *names: str) -> tuple[str, dict[str, Any]]:
    """The path and the query of an operation with the examples of what is needed, and of the parameters named."""
    path, query = operation.path, {}
    for parameter in operation.parameters:
        if parameter["required"] or parameter["name"] in names:
            value = parameter["schema"]["examples"][0]
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", value)
            elif parameter["in"] == "query":
                query[parameter["name"]] = value
    return path, query


async def story(http: httpx.AsyncClient) -> list[Documented]:
    """Store what the story begins with. Returns all operations in the order in which they can be sent."""
    document = (await http.get("/openapi.json")).json()
    for told in document["components"]["schemas"]["IngestRequest"]["examples"]:
        assert (await http.post("/ingest", json=told)).status_code == 201
    found = [one for one in operations_of(document) if one.path not in NOT_SENT]
    return sorted(found, key=lambda one: one.path in TAKES_AWAY)


async def test_a_fresh_server_takes_the_examples_one_after_the_other(http: httpx.AsyncClient, memory: Memory) -> None:
    operations = await story(http)
    owner = {"Authorization": f"Bearer {memory.standalone.owner_token}"}
    unexpected: list[str] = []
    for operation in operations:
        path, query = question_of(operation)
        if "multipart/form-data" in operation.bodies or path == "/events":
            continue
        admin = path.startswith("/admin/")
        headers = owner if admin else {}
        answer = await http.request(operation.method, path, params=query, json=operation.body, headers=headers)
        told = [json.loads(line) for line in answer.text.splitlines() if line] if admin else []
        refused = next((line["problem"]["status"] for line in told if line.get("problem")), answer.status_code)
        if refused >= 400 and refused != REFUSED.get(operation.place):
            unexpected.append(f"{operation.place}: {refused} {answer.text[:300]}")
    assert unexpected == []


async def test_reading_takes_the_example_of_each_parameter(http: httpx.AsyncClient) -> None:
    operations = await story(http)
    unexpected: list[str] = []
    for operation in operations:
        if operation.method != "GET" or operation.path == "/events":
            continue
        for parameter in operation.parameters:
            name = parameter["name"]
            if parameter["in"] == "query" and "examples" in parameter["schema"] and name not in OPAQUE:
                path, query = question_of(operation, name, *(["context"] if name == "id" else []))
                answer = await http.get(path, params=query)
                if answer.status_code != 200:
                    unexpected.append(f"{operation.place} {query}: {answer.status_code} {answer.text[:300]}")
    assert unexpected == []


def holds(real: Any, shown: Any) -> bool:
    """Whether an answer has what its example shows, apart from what differs from run to run."""
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(
            name in TOLD_ANEW or (name in real and holds(real[name], value)) for name, value in shown.items()
        )
    if isinstance(shown, list):
        return isinstance(real, list) and all(any(holds(each, value) for each in real) for value in shown)
    return bool(real == shown)


@pytest.mark.parametrize(
    "place",
    [
        "POST /ingest",
        "GET /items",
        "GET /items/{uid}",
        "GET /contexts",
        "GET /users",
        "GET /people/{uid}/profile",
        "POST /supersede",
        "POST /feedback",
        "POST /entities/merge",
        "POST /graph/walk",
        "POST /items/retract",
        "POST /sleep/run",
    ],
)
async def test_the_example_of_an_answer_is_what_the_server_answers(http: httpx.AsyncClient, place: str) -> None:
    document = (await http.get("/openapi.json")).json()
    operation = next(one for one in operations_of(document) if one.place == place)
    path, query = question_of(operation)
    if place == "POST /ingest":
        answer = await http.post(path, json=operation.body)
    else:
        await story(http)
        answer = await http.request(operation.method, path, params=query, json=operation.body)
    shown = next(each for _, media in operation.answers for each in examples_of(document, media))
    assert answer.status_code < 300
    assert holds(answer.json(), shown), (answer.json(), shown)
