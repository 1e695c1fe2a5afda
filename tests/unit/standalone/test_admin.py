"""The doors for whoever runs a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory
from unit.standalone.test_sleep_command import fill_with_turns
from vicw_core.archive.import_marker import ImportMarker, put_mark
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
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def ask(http: httpx.AsyncClient, operation: str, **request: str) -> dict[str, Any]:
    """Return the result of an operation."""
    answer = (await http.post(f"/admin/{operation}", json=request)).raise_for_status()
    (last,) = (line for line in map(json.loads, filter(None, answer.text.splitlines())) if line.keys() & {"result"})
    result: dict[str, Any] = last["result"]
    return result


async def test_admin_reindex_starts_reports_and_drops_the_old_model(changeable: Memory) -> None:
    async with client(changeable) as http:
        idle = await ask(http, "reindex/status")
        assert (idle["running"], idle["error"]) == (False, None)
        changing = asyncio.create_task(ask(http, "reindex", model="new"))
        async with asyncio.timeout(20):
            while not changeable.standalone.reindexing.work.running:  # noqa: ASYNC110
                await asyncio.sleep(0)
        assert (await http.post("/admin/reindex", json={"model": "new"})).status_code == 409
        assert (await http.post("/admin/reindex/drop-old", json={})).status_code == 409
        done = await changing
        assert (done["model"], done["embedded"], done["before"].split()[0]) == ("new", 1, "old")
        state = await ask(http, "reindex/status")
        assert (state["running"], state["error"]) == (False, None)
        assert any("new" in line and "is in use" in line for line in state["lines"])
        dropped = await ask(http, "reindex/drop-old")
        assert [model.split()[0] for model in dropped["models"]] == ["old"]
        assert await ask(http, "reindex/drop-old") == {"models": []}


async def test_a_model_change_goes_on_without_the_connection_that_asked_for_it(changeable: Memory) -> None:
    reindexing = changeable.standalone.reindexing
    following = asyncio.create_task(reindexing.run("new", lambda *_: None))
    async with asyncio.timeout(20):
        while not reindexing.work.running:  # noqa: ASYNC110
            await asyncio.sleep(0)
        following.cancel()
        while reindexing.work.running:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert reindexing.work.result is not None
    assert (reindexing.work.result.model.name, following.cancelled()) == ("new", True)


async def test_no_model_change_begins_while_an_import_is_incomplete(changeable: Memory) -> None:
    graph = changeable.standalone.graph
    await put_mark(graph, "t", ImportMarker("one", "today", ("t",)))
    async with client(changeable) as http:
        assert (await http.post("/admin/reindex", json={"model": "new"})).status_code == 409
        await put_mark(graph, "t", None)
        assert (await ask(http, "reindex", model="new"))["model"] == "new"


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


async def test_a_key_runs_the_sleep_cycle_for_its_own_tenant_alone(store: Path) -> None:
    async with open_memory(store) as memory:
        await fill_with_turns(memory)
        operator, of_operator = mint(memory.tenant, (Right.ADMIN,), now(), "")
        reader, of_reader = mint(memory.tenant, (Right.ADMIN, Right.RETRIEVE), now(), "")
        stranger, of_stranger = mint("another", (Right.ADMIN, Right.RETRIEVE), now(), "")
        for key in (operator, reader, stranger):
            await memory.standalone.keys.add(key)

        async with client(memory, "0.0.0.0") as http:
            progress: list[dict[str, Any]] = []

            async def of(token: str, operation: str, **request: Any) -> tuple[int, list[Any]]:
                headers = {"Authorization": f"Bearer {token}"}
                answer = await http.post(f"/admin/sleep/{operation}", json=request, headers=headers)
                lines = [json.loads(line) for line in filter(None, answer.text.splitlines())]
                progress.extend(line["progress"] for line in lines if "progress" in line)
                return answer.status_code, [line[key] for line in lines for key in ("item", "result") if key in line]

            for operation in ("consolidate", "dream", "resolve", "log"):
                assert (await of(of_operator, operation))[0] == 403, "it shows what is stored"
                assert (await of(of_stranger, operation, tenant=memory.tenant))[0] == 403
            _, (nothing,) = await of(of_stranger, "consolidate", hours=0)
            assert (nothing["flows"], nothing["macros"]) == (0, 0)
            _, (undreamt,) = await of(of_stranger, "dream", hours=0, dry_run=True)
            assert undreamt["items"] == 0
            memory.tenant, own = "another", memory.tenant
            await memory.ingest({"text": "A ship waits."})
            memory.tenant = own
            assert (await of(of_stranger, "dream", hours=0, dry_run=True))[1][-1]["items"] == 1
            assert progress, "of one item"
            assert max(max(step["done"], step["total"]) for step in progress) <= 1, "all it sees is of its one item"
            _, (unresolved,) = await of(of_stranger, "resolve", dry_run=True)
            assert unresolved["names"] == 0
            status, (*batches, done) = await of(of_reader, "consolidate", hours=0)
            assert (status, done["macros"], {batch["context"] for batch in batches}) == (200, 3, {"ctx"})
            assert (await of(of_reader, "dream", hours=0, dry_run=True))[1][-1]["items"] > 0
            assert (await of(of_reader, "resolve", dry_run=True))[1][-1]["names"] > 0
            assert len((await of(of_reader, "log", task="consolidate"))[1]) == 4
            assert (await of(of_stranger, "log"))[1] == [{"steps": 0}]


async def test_the_owner_alone_is_told_which_tenants_there_are(changeable: Memory) -> None:
    stranger, of_stranger = mint("another", tuple(Right), now(), "")
    await changeable.standalone.keys.add(stranger)
    owner = changeable.standalone.owner_token
    async with client(changeable, "0.0.0.0") as http:
        for operation in ("sleep/consolidate", "sleep/dream", "sleep/resolve", "sleep/log"):
            asked = {"json": {"tenant": "another"}, "headers": {"Authorization": f"Bearer {owner}"}}
            wrong = await http.post(f"/admin/{operation}", **asked)  # type: ignore[arg-type]
            assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "tenant")
            assert "There are: default" in wrong.text
            asked["headers"] = {"Authorization": f"Bearer {of_stranger}"}
            empty = await http.post(f"/admin/{operation}", **asked)  # type: ignore[arg-type]
            assert (empty.status_code, "default" in empty.text) == (200, False), (
                "its own tenant is empty, and that is all"
            )


async def test_what_is_of_all_tenants_takes_a_key_of_the_operators(changeable: Memory) -> None:
    stranger, of_stranger = mint("another", tuple(Right), now(), "")
    operator, of_operator = mint("default", tuple(Right), now(), "")
    for key in (stranger, operator):
        await changeable.standalone.keys.add(key)
    of_all = [operation for operation in OPERATIONS if not operation.owner_only and not operation.of_tenant]
    assert {"reindex", "reindex/drop-old", "jobs/replay", "sleep/undo", "sleep/wipe"} <= {one.name for one in of_all}
    async with client(changeable, "0.0.0.0") as http:
        for operation in of_all:
            body = {"step": "none"} if operation.name == "sleep/undo" else {}
            headers = {"Authorization": f"Bearer {of_stranger}"}
            refused = await http.post(f"/admin/{operation.name}", json=body, headers=headers)
            assert (refused.status_code, "operator's tenant" in refused.text) == (403, True), operation.name
        headers = {"Authorization": f"Bearer {of_operator}"}
        assert (await http.post("/admin/sleep/status", json={}, headers=headers)).status_code == 200


async def test_a_wrong_method_is_answered_with_the_allowed_ones(changeable: Memory) -> None:
    async with client(changeable) as http:
        refused = await http.put("/admin/reindex")
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
        assert refused.json()["detail"] == "PUT is not allowed at /admin/reindex. Send POST"
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
        for method, path in (*(("POST", f"/admin/{operation.name}") for operation in OPERATIONS),):
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
        asked = await http.post("/admin/reindex/status", json={}, headers=admin_headers)
        assert asked.status_code == 200
        for path in ("/etc/model.gguf", "../model", "~/model", "C:\\model", "model.GGUF", "model.onnx"):
            by_path = await http.post("/admin/reindex", json={"model": path}, headers=admin_headers)
            assert (by_path.status_code, "owns the data directory" in by_path.text) == (403, True), path
        by_name = await http.post("/admin/reindex", json={"model": "no-such-model"}, headers=admin_headers)
        assert by_name.status_code == 422
        export = await http.post("/admin/export", json={"to": "/nowhere"}, headers=admin_headers)
        assert export.status_code == 403, "only the owner of the data directory names files"
