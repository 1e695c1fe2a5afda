"""``PATCH /items`` over HTTP: versions, headers and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from support.stores.memory import Memory
from vicw_standalone.app import create_standalone_app

ITEM = {"id": "a/b#1", "text": "The shed key is under the pot.", "tags": ["key"], "metadata": {"n": 1}}


@pytest.fixture
async def http(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
async def uid(http: httpx.AsyncClient) -> str:
    answer = (await http.post("/ingest", json={"context": "shed", "items": [ITEM]})).json()
    return str(answer["items"][0]["uid"])


async def patch(http: httpx.AsyncClient, where: str, body: Any, if_match: str | None = None) -> httpx.Response:
    headers = {"If-Match": if_match} if if_match is not None else {}
    return await http.patch(where, json=body, headers=headers)


async def test_the_etag_of_an_answer_is_for_the_next_if_match(http: httpx.AsyncClient, uid: str) -> None:
    first = await patch(http, f"/items/{uid}", {"bucket": "garden"}, '"1"')
    assert (first.status_code, first.headers["ETag"], first.json()["version"]) == (200, '"2"', 2)
    stale = await patch(http, f"/items/{uid}", {"bucket": "street"}, '"1"')
    assert (stale.status_code, stale.json()["type"]) == (412, "urn:vicw:problem:precondition-failed")
    for allowed in ('"1", "2"', "*"):
        assert (await patch(http, f"/items/{uid}", {"bucket": "garden"}, allowed)).status_code == 200
    weak = await patch(http, f"/items/{uid}", {}, 'W/"2"')
    assert (weak.status_code, weak.json()["errors"][0]["field"]) == (422, "If-Match")


async def test_an_item_is_named_by_context_and_id_in_the_query(http: httpx.AsyncClient, uid: str) -> None:
    answer = await http.patch("/items", params={"context": "shed", "id": "a/b#1"}, json={"metadata": {"m": 2}})
    assert (answer.status_code, answer.json()["item"]["status"]) == (200, "updated")
    (result,) = (await http.post("/retrieve", json={"query": "shed key"})).json()["results"]
    assert (result["metadata"], result["tags"]) == ({"n": 1, "m": 2}, ["key"])
    unknown = await http.patch("/items", params={"context": "shed", "id": "z"}, json={})
    assert unknown.status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"id": "other"}, "id"),
        ({"uid": "other"}, "uid"),
        ({"context": "other"}, "context"),
        ({"colour": "red"}, "colour"),
        ({"text": None}, "text"),
        ({"text": " "}, "text"),
        ({"sensitivity": "secret"}, "sensitivity"),
        ({"tags": ["a", ""]}, "tags[1]"),
        ({"name": "n" * 5000}, "name"),
        ([], "body"),
    ],
    ids=str,
)
async def test_a_wrong_patch_names_its_field_and_changes_nothing(
    http: httpx.AsyncClient, uid: str, body: Any, field: str
) -> None:
    refused = await patch(http, f"/items/{uid}", body)
    assert (refused.status_code, [error["field"] for error in refused.json()["errors"]]) == (422, [field])
    same = await patch(http, f"/items/{uid}", {}, '"1"')
    assert same.json()["item"]["status"] == "unchanged"


async def test_secrets_of_a_patch_are_masked(http: httpx.AsyncClient, uid: str) -> None:
    token = "ghp_" + "a1B2" * 9
    answer = await patch(http, f"/items/{uid}", {"metadata": {"token": token}})
    assert [one["field"] for one in answer.json()["item"]["masked"]] == ["metadata.token"]
    assert token not in (await http.post("/retrieve", json={"query": "shed key"})).text
