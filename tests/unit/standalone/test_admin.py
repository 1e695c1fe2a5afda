"""The doors for whoever runs a server."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import httpx
import numpy as np
import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory
from unit.standalone.test_sleep_command import fill_with_turns
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.ports import Steps
from vicw_shared.settings import ConsolidationSettings, ServerSettings
from vicw_sleep.consolidation.job import consolidation_of, rules_of
from vicw_standalone.app import create_standalone_app
from vicw_standalone.operations import OPERATIONS


@pytest.fixture
async def changeable(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store, HashEmbedder("old"), HashEmbedder("new")) as memory:
        memory.standalone.index_engine.grace_seconds = 0
        await memory.ingest({"id": "a", "text": "a zebra crosses"})
        yield memory


def client(memory: Memory, host: str = "127.0.0.1") -> httpx.AsyncClient:
    memory.standalone.settings = replace(memory.standalone.settings, server=ServerSettings(host=host))
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    return httpx.AsyncClient(transport=transport, base_url="http://test")


async def test_admin_reindex_starts_reports_and_drops_the_old_model(changeable: Memory) -> None:
    async with client(changeable) as http:
        idle = (await http.get("/admin/reindex")).json()
        assert (idle["running"], idle["result"], idle["error"]) == (False, None, None)
        begun = await http.post("/admin/reindex", json={"model": "new"})
        assert (begun.status_code, begun.json()["running"]) == (202, True)
        assert (await http.post("/admin/reindex", json={"model": "new"})).status_code == 409
        assert (await http.delete("/admin/reindex/old")).status_code == 409
        async with asyncio.timeout(20):
            while (state := (await http.get("/admin/reindex")).json())["running"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert (state["error"], state["result"]["model"], state["result"]["embedded"]) == (None, "new", 1)
        assert any("new" in line and "is in use" in line for line in state["status"])
        dropped = await http.delete("/admin/reindex/old")
        assert [model.split()[0] for model in dropped.json()["models"]] == ["old"]
        assert (await http.delete("/admin/reindex/old")).json() == {"models": []}


async def test_admin_vectors_returns_vectors_by_id(changeable: Memory) -> None:
    (known,) = await changeable.standalone.vectors.ids(after=None, limit=1)
    vectors = await changeable.standalone.vectors.dense([known])
    async with client(changeable) as http:
        told = (await http.post("/admin/vectors", json={"ids": [known.upper(), str(UUID(int=1))]})).json()
        assert told["model"] == changeable.standalone.indexes.read_index.model.key
        assert list(told["vectors"]) == [known]
        assert (np.frombuffer(base64.b64decode(told["vectors"][known]), "<f4") == vectors[known]).all()
        refused = await http.post("/admin/vectors", json={"ids": [known, "x"]})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "ids[1]")
        assert (await http.post("/admin/vectors", json={"ids": [known] * 1001})).status_code == 422
        assert (await http.post("/admin/vectors", json={"ids": []})).json()["vectors"] == {}


async def test_admin_undo_restores_a_consolidation_step_once(store: Path) -> None:
    async with open_memory(store) as memory:
        await fill_with_turns(memory)
        rules = rules_of(ConsolidationSettings(hours=0, used_hours=0))
        done = await consolidation_of(memory.standalone.memory()).run(rules, now=now())
        assert done.macros == 3
        step, *_ = await memory.standalone.graph.scan(Steps(), limit=9)
        async with client(memory) as http:
            undone = await http.post("/admin/sleep/undo", json={"step": step.id})
            assert (undone.status_code, json.loads(undone.text)) == (200, {"result": {"message": "4 Events restored"}})
            again = await http.post("/admin/sleep/undo", json={"step": step.id})
            assert (again.status_code, "undone already" in again.json()["detail"]) == (404, True)
            assert (await http.post("/admin/sleep/undo", json={"step": "none"})).status_code == 404
            assert (await http.post("/admin/sleep/undo", json={})).status_code == 422


async def test_a_wrong_method_is_answered_with_the_allowed_ones(changeable: Memory) -> None:
    async with client(changeable) as http:
        refused = await http.put("/admin/reindex")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")
        assert refused.json()["detail"] == "PUT is not allowed at /admin/reindex. Send GET, POST"
        refused = await http.post("/ingest/jobs/some-job")
        assert refused.json()["detail"] == "POST is not allowed at /ingest/jobs/some-job. Send GET"


async def test_admin_reindex_to_an_unknown_model_is_a_field_error(changeable: Memory) -> None:
    async with client(changeable) as http:
        refused = await http.post("/admin/reindex", json={"model": "no-such-model"})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "model")
        assert (await http.post("/admin/reindex", json={"modell": "new"})).status_code == 422


async def test_admin_endpoints_require_a_key_with_the_right_admin(changeable: Memory) -> None:
    user, of_user = mint("default", (Right.INGEST, Right.RETRIEVE), now(), "")
    admin, of_admin = mint("default", (Right.ADMIN,), now(), "")
    for key in (user, admin):
        await changeable.standalone.keys.add(key)
    async with client(changeable, "0.0.0.0") as http:
        for method, path in (
            ("GET", "/admin/reindex"),
            ("POST", "/admin/reindex"),
            ("DELETE", "/admin/reindex/old"),
            ("POST", "/admin/vectors"),
            *(("POST", f"/admin/{operation.name}") for operation in OPERATIONS),
        ):
            codes = [
                (
                    await http.request(method, path, headers={"Authorization": f"Bearer {token}"} if token else {})
                ).status_code
                for token in (None, of_user)
            ]
            assert codes == [401, 403]
        admin_headers = {"Authorization": f"Bearer {of_admin}"}
        for operation in OPERATIONS:
            if operation.owner_only:
                refused = await http.post(f"/admin/{operation.name}", headers=admin_headers, json={})
                assert (refused.status_code, "owns the data directory" in refused.text) == (403, True)
        asked = await http.get("/admin/reindex", headers=admin_headers)
        assert asked.status_code == 200
