"""``PATCH /items`` at the retrieval service, where an ingress leads it: the ingest service answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from support.clients.served import serve
from support.stores.memory import Memory
from vicw_retrieval.api import create_router
from vicw_retrieval.patch.api import create_changes_router
from vicw_runtime.http import KeyGate, problems
from vicw_runtime.mcp.http_writer import HttpWriters
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.settings import McpSettings, ServerSettings
from vicw_standalone.app import create_standalone_app

AWKWARD = "notes/port of call #1?.md"


async def key_of(memory: Memory, *rights: Right, tenant: str = "default") -> dict[str, str]:
    key, token = mint(tenant, rights, now())
    await memory.standalone.keys.add(key)
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
async def ingest_url(memory: Memory) -> AsyncIterator[str]:
    """A server that requires keys, in the part of the ingest service."""
    memory.standalone.settings = replace(memory.standalone.settings, server=ServerSettings(host="0.0.0.0"))
    app = create_standalone_app(memory.standalone)
    app.router.lifespan_context = FastAPI().router.lifespan_context  # the fixture closes the memory
    async with serve(app) as url:
        yield url


@asynccontextmanager
async def retrieval(memory: Memory, ingest_url: str | None) -> AsyncIterator[httpx.AsyncClient]:
    """The reading endpoints alone, over the same stores."""
    app = FastAPI()
    problems.install(app)
    writers = HttpWriters(McpSettings(ingest_url=ingest_url))
    gate = KeyGate(lambda: memory.standalone.keys, required=True, tenant="none")
    app.include_router(create_router(memory.standalone.retrieval_ports, gate))
    app.include_router(create_changes_router(lambda: writers, gate))
    transport = httpx.ASGITransport(app)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://reads.test", timeout=60) as client:
            yield client
    finally:
        await writers.close()


async def stored(ingest_url: str, headers: dict[str, str]) -> str:
    item: dict[str, Any] = {"id": AWKWARD, "text": "The buoy is red.", "tags": ["sea"]}
    async with httpx.AsyncClient(base_url=ingest_url, headers=headers, timeout=60) as client:
        answer = await client.post("/ingest", json={"context": "Blå havn", "items": [item]})
        return str(answer.raise_for_status().json()["items"][0]["uid"])


async def test_one_address_reads_and_patches(memory: Memory, ingest_url: str) -> None:
    headers = await key_of(memory, Right.INGEST, Right.RETRIEVE, tenant="ana")
    uid = await stored(ingest_url, headers)
    async with retrieval(memory, ingest_url) as http:
        named = {"context": "Blå havn", "id": AWKWARD}
        first = await http.patch("/items", params=named, json={"tags": ["paid"]}, headers=headers)
        assert (first.status_code, first.headers["ETag"]) == (200, '"2"'), first.text
        stale = {**headers, "If-Match": '"1"'}
        refused = await http.patch("/items", params=named, json={"tags": ["late"]}, headers=stale)
        assert (refused.status_code, refused.headers["Content-Type"]) == (412, "application/problem+json")
        uid = first.json()["item"]["uid"]
        by_uid = await http.patch(f"/items/{uid}", json={"speaker": "Amy"}, headers=headers)
        assert by_uid.status_code == 200, by_uid.text
        shown = (await http.get("/items", params=named, headers=headers)).json()
        assert (shown["tags"], shown["speaker"]) == (["paid"], "Amy")


async def test_a_wrong_patch_is_refused_as_at_the_ingest_service(memory: Memory, ingest_url: str) -> None:
    headers = await key_of(memory, Right.INGEST, Right.RETRIEVE)
    uid = await stored(ingest_url, headers)
    async with retrieval(memory, ingest_url) as http, httpx.AsyncClient(base_url=ingest_url) as ingest:
        for body in (b'{"id": "x"}', b"[]", b"{", b""):
            answers = [
                await service.patch(
                    f"/items/{uid}", content=body, headers={**headers, "Content-Type": "application/json"}
                )
                for service in (http, ingest)
            ]
            assert [answer.status_code for answer in answers] == [422, 422]
            assert answers[0].json()["errors"] == answers[1].json()["errors"]


async def test_only_a_key_that_may_store_is_handed_on(memory: Memory, ingest_url: str) -> None:
    uid = await stored(ingest_url, await key_of(memory, Right.INGEST))
    reader, other = await key_of(memory, Right.RETRIEVE), await key_of(memory, Right.INGEST, tenant="bob")
    async with retrieval(memory, ingest_url) as http:
        for headers, status in (({}, 401), (reader, 403), (other, 404)):
            assert (await http.patch(f"/items/{uid}", json={"speaker": "x"}, headers=headers)).status_code == status


async def test_an_ingest_service_that_is_unknown_or_away_is_named(memory: Memory) -> None:
    headers = await key_of(memory, Right.INGEST)
    async with retrieval(memory, None) as http:
        refused = await http.patch("/items/x", json={}, headers=headers)
        assert (refused.status_code, "VICW_MCP_INGEST_URL" in refused.json()["detail"]) == (403, True)
    async with retrieval(memory, "http://127.0.0.1:1") as http:
        away = await http.patch("/items/x", json={}, headers=headers)
        assert (away.status_code, away.json()["dependency"]) == (503, "ingest")
