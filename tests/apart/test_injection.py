"""Strings that are syntax somewhere, in every field of both services: stored, found and given back as they are."""

from __future__ import annotations

import copy
import json
from typing import Any

import httpx
import pytest

from integration.neo4j.test_injection import HOSTILE
from support.api.string_fields import RULED, ingest_body, places, retrieve_body, string_fields
from support.api.tenant_isolation import PATIENT
from support.processes.platform import Platform, Service
from vicw_shared.domains import canonical
from vicw_shared.text import normalise, visible

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

_MORE = [
    "../../../../etc/passwd\\..\\..\\windows",
    "$(touch /tmp/owned) `id` ; rm -rf / | cat && : > x",
    "%s %n %x {0} {name!r} ${jndi:ldap://x} {{7*7}} <script>alert(1)</script>",
    '{"$ref": "#"}, null, "\\u0000"]}',
    "\u202egnp.exe \u2066\u2069 \u200f\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "𝕬𝖓𝖆 \U0001f469\u200d\U0001f4bb \U0010fffd ﷽",
    "' OR '1'='1' -- ; DROP TABLE node; /*",
    "a\r\nX-Injected: yes\r\n\r\n",
]
STRINGS = [text if visible(text) else f"{text}x" for text in [*HOSTILE, *_MORE]]


@pytest.fixture(scope="module")
def retrieval(platform: Platform) -> Service:
    """A service that leaves no channel out because the machine is busy."""
    return platform.add("patient", "vicw_retrieval", **PATIENT).start()


def test_the_bodies_fill_every_string_field_of_the_schema(platform: Platform) -> None:
    for service, path, body in (
        (platform.ingest, "/ingest", ingest_body("x")),
        (platform.retrieval, "/retrieve", retrieve_body("x")),
    ):
        document = httpx.get(f"{service.url}/openapi.json", trust_env=False).json()
        tried = {place for given in (body, RULED[path]) for place, _ in places(given)}
        assert string_fields(document, path) <= tried, "a new field is tried, too"


@pytest.mark.parametrize("text", STRINGS, ids=range(len(STRINGS)))
def test_hostile_strings_are_stored_and_returned_as_text_in_every_field(
    platform: Platform, retrieval: Service, text: str
) -> None:
    stored = _post(platform.ingest.url, "/ingest", ingest_body(text))
    assert stored.status_code == 201, stored.text
    (item,) = stored.json()["items"]
    asked = _post(retrieval.url, "/retrieve", retrieve_body(text))
    assert asked.status_code == 200, asked.text
    answer = asked.json()
    assert answer["degraded"] == []
    (result,) = answer["results"]
    prose = normalise(text)
    raw = ("id", "subtype", "flow_id", "source", "context")
    assert {name: result[name] for name in raw} == dict.fromkeys(raw, text)
    assert {name: result[name] for name in ("text", "name", "speaker")} == dict.fromkeys(
        ("text", "name", "speaker"), prose
    )
    assert result["tags"] == [text]
    assert result["metadata"] == {text: [text, {"in": text}]}
    assert result["domain"] == canonical(prose)
    assert result["uid"] == item["uid"]
    assert {node["name"] for node in item["nodes"]} <= {text, prose}
    assert _post(platform.ingest.url, "/ingest", ingest_body(text)).json()["items"][0]["status"] == "unchanged"


@pytest.mark.parametrize("unstorable", ["\x00", "a\x00b", "\ud800"], ids=ascii)
@pytest.mark.parametrize("path", ["/ingest", "/retrieve"])
def test_unstorable_characters_are_refused_in_every_field(platform: Platform, path: str, unstorable: str) -> None:
    url = platform.ingest.url if path == "/ingest" else platform.retrieval.url
    body = _with_ruled(path, ingest_body("fine") if path == "/ingest" else retrieve_body("fine"))
    for place, way in places(body):
        if place.rpartition(".")[2] in {"sensitivity", "type"}:
            continue
        refused = _post(url, path, _body_with(body, way, unstorable))
        assert refused.status_code == 422, place
        fields = [error["field"] for error in refused.json()["errors"]]
        assert all(field.startswith(_problem_path(way)) for field in fields), (place, fields)


def test_the_stores_are_clean_after_hostile_strings(platform: Platform) -> None:
    checked = platform.vicw("check", "--platform")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr


def _post(url: str, path: str, body: Any) -> httpx.Response:
    content = json.dumps(body).encode("ascii")  # lone surrogates travel as escapes
    headers = {"Content-Type": "application/json"}
    return httpx.post(f"{url}{path}", content=content, headers=headers, timeout=60, trust_env=False)


def _body_with(body: Any, way: list[str | int], text: str) -> Any:
    changed = inner = copy.deepcopy(body)
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = text
    return changed


def _with_ruled(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return a body that has what is ruled, too."""
    if path == "/retrieve":
        return body | RULED[path] | {"viewer": body["viewer"] | RULED[path]["viewer"]}
    return body | {"items": [item | RULED[path]["items"][0] for item in body["items"]]}


def _problem_path(way: list[str | int]) -> str:
    """Return the way to a field as problems tell it; metadata is told of as a whole."""
    path = ""
    for step in way:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
        if step == "metadata":
            break
    return path
