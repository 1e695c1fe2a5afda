"""What the server says of itself: the OpenAPI document, and the page that shows it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any, get_args

import httpx
import pytest

from support.stores.memory import Memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.ingest import IngestRequest
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse
from vicw_standalone.app import create_standalone_app

RANGES: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "zscore": ("it is in (0, 1)", lambda score, alpha: 0 < score < 1),
    "rrf": ("it is a sum of reciprocal ranks", lambda score, alpha: 0 < score <= 4 / 61),
}

OPERATION_IDS = {
    "POST /ingest": "ingest",
    "POST /items/retract": "retract_items",
    "POST /supersede": "supersede_item",
    "GET /contexts": "list_contexts",
    "GET /contexts/{context}/timeline": "get_timeline",
    "GET /users": "list_users",
    "GET /people/{uid}/profile": "get_profile",
    "GET /events": "watch_events",
    "GET /webhooks": "list_webhooks",
    "POST /webhooks": "create_webhook",
    "DELETE /webhooks/{webhook}": "delete_webhook",
    "POST /webhooks/{webhook}/secret": "rotate_secret",
    "GET /webhooks/{webhook}/dead": "list_dead_messages",
    "POST /webhooks/{webhook}/replay": "replay_dead_messages",
    "GET /stats": "get_stats",
    "GET /items": "list_items",
    "GET /items/{uid}": "get_item",
    "PATCH /items/{uid}": "patch_item",
    "PATCH /items": "patch_item_by_id",
    "GET /audit": "list_changes",
    "POST /forget": "erase",
    "GET /forget/{erasure}": "get_erasure",
    "GET /ingest/jobs/{job}": "get_job",
    "POST /import": "import_files",
    "GET /import/{job}": "get_import",
    "DELETE /import/{job}": "cancel_import",
    "GET /knowledge": "list_pages",
    "GET /entities": "list_entities",
    "GET /entities/candidates": "list_merge_candidates",
    "GET /entities/{uid}": "get_entity",
    "POST /entities/merge": "merge_entities",
    "POST /entities/split": "split_entities",
    "POST /entities/identify": "identify_user",
    "POST /entities/{uid}/rename": "rename_entity",
    "POST /retrieve": "retrieve",
    **{f"POST /graph/{name}": f"graph_{name}" for name in "find walk about person users merges history flow".split()},
    "GET /keys": "list_keys",
    "POST /keys": "create_key",
    "DELETE /keys/{key}": "revoke_key",
    "POST /feedback": "give_feedback",
    "GET /feedback": "list_feedback",
    "POST /hooks/claude-code": "hook_claude_code",
    "POST /hooks/codex": "hook_codex",
    "POST /hooks/session": "hook_session",
    "GET /sleep": "get_sleep",
    "POST /sleep/undo": "undo_sleep_step",
    "POST /sleep/run": "run_sleep_job",
    "GET /check": "get_check",
    "GET /healthz": "healthz",
    "GET /readyz": "readyz",
    "GET /metrics": "metrics",
}
"""What generated clients call the operations: a change breaks them."""


@pytest.fixture
async def http(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def schemas(http: httpx.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await http.get("/openapi.json")).json()["components"]["schemas"]
    return found


async def test_the_docs_page_loads_no_external_assets(http: httpx.AsyncClient) -> None:
    page = await http.get("/docs")
    assert page.status_code == 200
    assert "//" not in page.text
    assets = re.findall(r"""(?:src|href)="([^"]+)"|url: '([^']+)'""", page.text)
    assert len(assets) >= 4, "a style, a script, an icon, the document"
    for asset in map("".join, assets):
        answer = await http.get(asset)
        assert (answer.status_code, bool(answer.content)) == (200, True), asset
        if asset.endswith(".css"):
            assert set(re.findall(r"url\(['\"]?(\w+:?)", answer.text)) <= {"data:"}
    assert (await http.get("/redoc")).status_code == 404, "its page takes a logo from elsewhere"


async def test_openapi_examples_are_accepted_and_retrieve_finds_the_ingested_one(http: httpx.AsyncClient) -> None:
    document = await schemas(http)
    (told, _), (asked,) = document["IngestRequest"]["examples"], document["RetrieveRequest"]["examples"]
    assert IngestRequest.model_validate(told).items[0].extraction
    assert RetrieveRequest.model_validate(asked).viewer
    assert (await http.post("/ingest", json=told)).status_code == 201
    answer = await http.post("/retrieve", json=asked)
    assert answer.status_code == 200
    assert answer.json()["results"][0]["id"] == told["items"][0]["id"]
    (taken_back,) = document["RetractRequest"]["examples"]
    retracted = (await http.post("/items/retract", json=taken_back)).json()["items"]
    assert [item["status"] for item in retracted] == ["retracted", "retracted"]


@pytest.mark.parametrize("fusion", get_args(RetrievalSettings.model_fields["fusion"].annotation))
async def test_scores_are_in_the_range_that_is_stated(http: httpx.AsyncClient, memory: Memory, fusion: str) -> None:
    interval, holds = RANGES[fusion]
    description: str = (await schemas(http))["Result"]["properties"]["score"]["description"]
    assert f"with `{fusion}` {interval}" in description.lower()
    await memory.ingest(*({"id": str(n), "text": f"lighthouse keeper {n}: {'storm ' * n}"} for n in range(8)))
    settings = RetrievalSettings.model_validate({"fusion": fusion})

    async def scores(**fields: Any) -> list[float]:
        request = RetrieveRequest(query="lighthouse keeper storm", **fields)
        ports = replace(memory.standalone.retrieval_ports(), settings=settings)
        answer: RetrieveResponse = await retrieve(request, memory.tenant, ports)
        return [result.score for result in answer.results]

    both = await scores()
    assert len(both) == 8
    assert all(holds(score, settings.alpha) for score in both)
    assert all(-1 <= score <= 1 for score in await scores(channels=("dense",)))
    assert all(score >= 0 for score in await scores(channels=("bm25",)))


async def test_operation_ids_are_stable_names_since_clients_are_generated_from_them(http: httpx.AsyncClient) -> None:
    paths: dict[str, dict[str, dict[str, Any]]] = (await http.get("/openapi.json")).json()["paths"]
    found = {
        f"{method.upper()} {path}": operation["operationId"]
        for path, methods in paths.items()
        for method, operation in methods.items()
    }
    public = {place: name for place, name in found.items() if not place.startswith("POST /admin/")}
    assert {place: public.get(place) for place in OPERATION_IDS} == OPERATION_IDS
    assert len(set(found.values())) == len(found)
    assert [name for name in found.values() if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    generated = [place for place, name in found.items() if name.endswith(("_get", "_post", "_patch", "_delete"))]
    assert generated == [], "give the route an operation_id"
