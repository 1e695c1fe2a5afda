"""``POST /forget`` on a server: what goes, its proof, who may ask, and what goes on after a kill."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.stores.memory import Memory, open_memory
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_shared.clock import now
from vicw_shared.errors import UnavailableError
from vicw_shared.model.keys import Right, mint
from vicw_shared.wire.forget import Erasure
from vicw_standalone.app import create_standalone_app

SAID = "The second safe opens with the birthday of the harbour master."
TURNS: list[dict[str, Any]] = [
    {"id": "a", "speaker": "Amy", "user": "amy-7", "text": SAID},
    {"id": "b", "speaker": "Bob", "text": "The ferry to the island leaves at noon on Sundays.", "tags": ["ferry"]},
    {"id": "c", "text": "Amy was elected chair of the rowing club.", "about": ["Amy"]},
]


@pytest.fixture
async def http(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        await client.post("/ingest", json={"context": "port", "items": TURNS})
        await client.post("/ingest", json={"context": "attic", "items": [{"id": "z", "text": "A trunk of maps."}]})
        yield client


async def texts(http: httpx.AsyncClient, query: str = "safe ferry chair trunk") -> set[str]:
    return {result["id"] for result in (await http.post("/retrieve", json={"query": query})).json()["results"]}


async def forget(http: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await http.post("/forget", json=body)


@pytest.mark.parametrize(
    ("body", "gone", "numbers"),
    [
        ({"items": ["a", "b"], "context": "port"}, "ab", (2, 0, 0)),
        ({"user": "amy-7"}, "ac", (2, 0, 2)),
        ({"person": "Amy"}, "ac", (2, 0, 2)),
        ({"context": "port"}, "abc", (0, 1, 0)),
        ({"all": True}, "abcz", (0, 2, 0)),
    ],
    ids=str,
)
async def test_what_is_named_goes_with_a_proof(
    http: httpx.AsyncClient, memory: Memory, body: dict[str, Any], gone: str, numbers: tuple[int, int, int]
) -> None:
    dry = await forget(http, **body, dry_run=True)
    assert (dry.status_code, dry.json()["status"], dry.json()["erasure"]) == (200, "selected", None)
    assert await texts(http) == {"a", "b", "c", "z"}, "a dry run erases nothing"
    answer = await forget(http, **body)
    done = Erasure.model_validate(answer.json())
    assert (answer.status_code, done.status) == (200, "done"), answer.text
    assert done.selected == Erasure.model_validate(dry.json()).selected
    assert (done.selected.items, done.selected.contexts, done.selected.people) == numbers
    assert done.proof is not None
    assert (done.proof.proven, done.proof.found, done.proof.files) == (True, (), True)
    assert done.proof.read > 0 < done.proof.nodes["Chunk"]
    assert await texts(http) == set("abcz") - set(gone)
    files = [path for path in memory.standalone.data_dir.path.rglob("*") if path.is_file()]
    assert not any(SAID.encode() in path.read_bytes() for path in files)
    again = await http.get(f"/forget/{done.erasure}")
    assert Erasure.model_validate(again.json()) == done


async def test_an_erasure_runs_beside_questions_and_can_be_watched(http: httpx.AsyncClient) -> None:
    begun = await forget(http, items=["a"], wait=False)
    assert (begun.status_code, begun.json()["status"]) == (202, "running")
    for _ in range(600):
        assert "b" in await texts(http)
        state = (await http.get(f"/forget/{begun.json()['erasure']}")).json()
        if state["status"] != "running":
            break
        await asyncio.sleep(0.05)
    assert (state["status"], state["proof"]["proven"]) == ("done", True)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "all"),
        ({"items": ["a"], "user": "amy-7"}, 422, "user"),
        ({"items": ["a"], "all": True}, 422, "all"),
        ({"items": []}, 422, "items"),
        ({"items": ["a"], "everywhere": True}, 422, "everywhere"),
        ({"context": "port", "mentions": True}, 422, "mentions"),
        ({"colour": "red"}, 422, "colour"),
        ({"items": ["nobody"]}, 404, None),
        ({"user": "nobody"}, 404, None),
        ({"person": "Nobody"}, 404, None),
        ({"context": "nowhere"}, 404, None),
    ],
    ids=str,
)
async def test_a_wrong_request_erases_nothing(
    http: httpx.AsyncClient, body: dict[str, Any], status: int, field: str | None
) -> None:
    refused = await forget(http, **body)
    assert refused.status_code == status, refused.text
    assert [error["field"] for error in refused.json().get("errors", [])] == ([field] if field else [])
    assert await texts(http) == {"a", "b", "c", "z"}


async def test_the_only_context_is_everything_and_wants_all(http: httpx.AsyncClient) -> None:
    assert (await forget(http, context="attic")).json()["status"] == "done"
    refused = await forget(http, context="port")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "all")
    assert (await forget(http, context="port", all=True)).json()["status"] == "done"


async def test_only_the_right_to_erase_erases_and_only_of_its_tenant(http: httpx.AsyncClient, memory: Memory) -> None:
    async def headers(tenant: str, *rights: Right) -> dict[str, str]:
        key, token = mint(tenant, rights, now())
        await memory.standalone.keys.add(key)
        return {"Authorization": f"Bearer {token}"}

    others = await headers("default", Right.INGEST, Right.RETRIEVE, Right.ADMIN)
    assert (await http.post("/forget", json={"items": ["a"]}, headers=others)).status_code == 403
    foreign = await headers("else", Right.ERASE)
    for body in ({"items": ["a"]}, {"user": "amy-7"}, {"context": "port"}, {"all": True}):
        assert (await http.post("/forget", json=body, headers=foreign)).status_code == 404, body
    own = await headers("default", Right.ERASE)
    done = (await http.post("/forget", json={"items": ["a"]}, headers=own)).json()
    assert done["status"] == "done"
    assert (await http.get(f"/forget/{done['erasure']}", headers=foreign)).status_code == 404
    assert (await http.get(f"/forget/{done['erasure']}", headers=others)).status_code == 403


async def test_what_a_kill_interrupts_goes_on_after_the_restart(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_memory(store) as memory:
        await memory.ingest(*TURNS, context="port")
        jobs = memory.standalone.ingest_ports().erasures
        chosen = await choose_items(memory.standalone.graph, "default", ["a"], "port")

        async def stopped(self: Eraser, erasure: str) -> None:
            raise UnavailableError("test", "killed here")

        with monkeypatch.context() as patch:
            patch.setattr(Eraser, "run", stopped)
            begun = await jobs.begin(chosen)
            state = await jobs.wait("default", begun.erasure or "", 1.0)
        assert (state.status, state.error) == ("running", "test: killed here")
    async with open_memory(store) as memory:
        state = await memory.standalone.ingest_ports().erasures.wait("default", begun.erasure or "", 60)
        assert (state.status, state.proof is not None and state.proof.proven) == ("done", True)
        assert {*await memory.found("safe birthday")} == {"b", "c"}
