"""The sleep cycle and the agreement of the stores over HTTP: who sees what of them, and undoes a step."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.stores.memory import Memory, open_memory
from unit.standalone.test_sleep_command import fill_with_turns
from vicw_runtime.schedule.jobs import ScheduledJob, schedules
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.ports import Outcome, Steps
from vicw_shared.settings import ConsolidationSettings, DreamSettings, ServerSettings, SleepSettings
from vicw_sleep.consolidation.job import consolidation_of, rules_of
from vicw_sleep.reconcile.job import compare
from vicw_standalone.app import create_standalone_app


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    """A memory with three consolidated batches of the tenant that needs no key."""
    async with open_memory(store) as opened:
        await fill_with_turns(opened)
        rules = rules_of(ConsolidationSettings(hours=0, used_hours=0))
        assert (await consolidation_of(opened.standalone.memory()).run(rules, now=now())).macros == 3
        yield opened


def client(memory: Memory, host: str = "127.0.0.1") -> httpx.AsyncClient:
    settings = memory.standalone.settings
    memory.standalone.settings = replace(settings, server=ServerSettings(host=host), sleep=SleepSettings(undo_days=1))
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def of(http: httpx.AsyncClient, path: str, **headers: Any) -> dict[str, Any]:
    answer: dict[str, Any] = (await http.get(path, **headers)).raise_for_status().json()
    return answer


async def indexed(memory: Memory) -> None:
    """Return when nothing waits for the index any more, whoever indexes it."""
    async with asyncio.timeout(30):
        while (await memory.standalone.graph.outbox.backlog()).waiting:
            await memory.standalone.indexer.drain()
            await asyncio.sleep(0.05)


async def test_sleep_tells_what_comes_next_and_what_was_done_page_by_page(memory: Memory) -> None:
    async with client(memory) as http:
        state = await of(http, "/sleep?limit=2")
        jobs = {job["job"]: job for job in state["jobs"]}
        assert jobs["consolidation"]["next_at"].endswith("T03:00:00Z")
        assert (jobs["eviction"]["next_at"], jobs["eviction"]["stopped_by"]) == (
            None,
            "no limit in VICW_EVICTION_ITEMS",
        )
        rest = await of(http, f"/sleep?limit=2&after={state['next']}")
        steps = [*state["steps"], *rest["steps"]]
        logged = await memory.standalone.graph.scan(Steps(), limit=9)
        assert [step["id"] for step in steps] == [step.id for step in logged]
        assert rest["next"] is None
        assert {(step["context"], step["outcome"], step["task"]) for step in steps} == {("ctx", "done", "consolidate")}
        assert all(step["undo_until"] > step["at"] for step in steps)
        assert (await of(http, "/sleep?task=dream"))["steps"] == []
        for wrong in ("after=x", "task=audit", "task=none", "limit=0", "more=1"):
            assert (await http.get(f"/sleep?{wrong}")).status_code == 422, wrong


async def test_a_step_is_undone_once_and_the_record_of_changes_has_it(memory: Memory) -> None:
    graph = memory.standalone.graph
    before = await graph.scan(Steps(), limit=9)
    async with client(memory) as http:
        undone = await http.post("/sleep/undo", json={"step": before[0].id})
        assert (undone.status_code, undone.json()["outcome"], undone.json()["undo_until"]) == (200, "undone", None)
        assert [step.outcome for step in await graph.scan(Steps(), limit=9)].count(Outcome.UNDONE) == 1
        again = await http.post("/sleep/undo", json={"step": before[0].id})
        assert (again.status_code, "undone already" in again.json()["detail"]) == (404, True)
        assert (await http.post("/sleep/undo", json={"step": "none"})).status_code == 404
        assert (await http.post("/sleep/undo", json={})).status_code == 422
        records = (await of(http, "/audit"))["records"]
        assert [(one["kind"], one["count"]) for one in records if one["kind"] == "undo"] == [("undo", 1)]
        kept = await http.post("/sleep/undo", json={"step": records[0]["id"]})
        assert (kept.status_code, "cannot be undone" in kept.json()["detail"]) == (404, True)
        assert (await of(http, "/audit"))["records"] == records
        long_ago = replace(before[1], at=now() - timedelta(days=2))

        async def log(transaction: Any) -> None:
            await transaction.log_step(long_ago)

        await graph.write(long_ago.tenant, long_ago.context, log)
        late = await http.post("/sleep/undo", json={"step": long_ago.id})
        assert (late.status_code, "grace period is over" in late.json()["detail"]) == (404, True)


async def test_a_job_that_is_asked_for_is_due_once_whatever_its_schedule(memory: Memory) -> None:
    standalone = memory.standalone
    settings = standalone.settings = replace(standalone.settings, dream=DreamSettings(schedule="never"))
    standalone.schedules = schedules(settings, now())
    async with client(memory) as http:
        for _ in range(2):
            started = await http.post("/sleep/run", json={"job": "dream"})
            assert (started.status_code, started.json()) == (202, {"job": "dream"})
        due = {job: [schedule.due(now()), schedule.due(now())] for job, schedule in standalone.schedules.items()}
        assert due.pop(ScheduledJob.DREAM) == [True, False]
        assert not any(map(any, due.values()))
        for wrong in ({}, {"job": "eviction"}, {"job": "dream", "tenant": "t"}):
            assert (await http.post("/sleep/run", json=wrong)).status_code == 422, wrong
        standalone.settings = replace(standalone.settings, sleep=SleepSettings(paused=True))
        refused = await http.post("/sleep/run", json={"job": "dream"})
        assert (refused.status_code, "VICW_SLEEP_PAUSED" in refused.json()["detail"]) == (409, True)


async def test_an_operators_key_sees_its_tenants_steps_and_nothing_that_is_stored(memory: Memory) -> None:
    tokens: dict[str, str] = {}
    tenant = memory.tenant
    for name, of_tenant, rights in (
        ("operator", tenant, (Right.ADMIN,)),
        ("reader", tenant, (Right.ADMIN, Right.RETRIEVE)),
        ("user", tenant, (Right.INGEST, Right.RETRIEVE, Right.ERASE, Right.AUDIT)),
        ("stranger", "another", tuple(Right)),
    ):
        key, tokens[name] = mint(of_tenant, rights, now(), "")
        await memory.standalone.keys.add(key)
    step = (await memory.standalone.graph.scan(Steps(), limit=1))[0]
    async with client(memory, "0.0.0.0") as http:
        headers = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}
        for path in ("/sleep", "/check"):
            assert (await http.get(path)).status_code == 401
            assert (await http.get(path, headers=headers["user"])).status_code == 403
        for name, status in (("user", 403), ("stranger", 403), ("operator", 202)):
            run = await http.post("/sleep/run", json={"job": "resolve"}, headers=headers[name])
            assert run.status_code == status, "it is of all tenants"
        records = (await of(http, "/audit", headers=headers["user"]))["records"]
        assert [(one["kind"], one["key"]) for one in records] == [("run", tokens["operator"].split("_")[1])]
        for name, status in (("user", 403), ("stranger", 404)):
            refused = await http.post("/sleep/undo", json={"step": step.id}, headers=headers[name])
            assert refused.status_code == status
        hidden, shown = [(await of(http, "/sleep", headers=headers[name]))["steps"] for name in ("operator", "reader")]
        assert {(one["context"], one["reason"]) for one in hidden} == {(None, None)}
        assert {(one["context"], one["reason"]) for one in shown} == {("ctx", "")}
        assert (await of(http, "/sleep", headers=headers["stranger"]))["steps"] == []
        done = await http.post("/sleep/undo", json={"step": step.id}, headers=headers["operator"])
        assert (done.status_code, done.json()["context"]) == (200, None)
        records = (await of(http, "/audit", headers=headers["stranger"]))["records"]
        assert records == []


async def test_check_tells_of_the_last_difference_after_it_is_repaired(memory: Memory) -> None:
    standalone = memory.standalone
    await indexed(memory)
    async with client(memory) as http:
        nothing = await of(http, "/check")
        assert (nothing["drift"], nothing["rebuilding"], nothing["passages_waiting"]) == (None, None, 0)
        ids = await standalone.vectors.ids(after=None, limit=2)
        await standalone.vectors.delete(ids)
        async for _ in compare(standalone.memory()):
            pass
        await indexed(memory)
        async for _ in compare(standalone.memory()):
            pass
        drift = (await of(http, "/check"))["drift"]
        assert (drift["missing"], drift["stale"], drift["orphaned"]) == (2, 0, 0)
        assert (await http.post("/admin/check/last", json={})).status_code == 403, "it tells of all tenants"


async def test_an_admins_key_sees_the_numbers_of_its_tenant_alone(memory: Memory) -> None:
    standalone, headers = memory.standalone, {}
    for tenant in (memory.tenant, "another"):
        key, token = mint(tenant, (Right.ADMIN, Right.RETRIEVE), now(), "")
        await standalone.keys.add(key)
        headers[tenant] = {"Authorization": f"Bearer {token}"}
    await indexed(memory)
    async for _ in compare(standalone.memory()):
        pass
    await standalone.vectors.delete(await standalone.vectors.ids(after=None, limit=2))
    async for _ in compare(standalone.memory()):
        pass
    await indexed(memory)
    async with client(memory, "0.0.0.0") as http:
        own, foreign = [await of(http, "/check", headers=headers[name]) for name in (memory.tenant, "another")]
        assert (own["drift"]["missing"], foreign["drift"]) == (2, None)
        memory.embedder.down = True
        await memory.ingest({"text": "A ship waits."}, wait=False)
        for path in ("/check", "/readyz"):
            counts = [(await of(http, path, headers=headers[name]))["passages_waiting"] for name in headers]
            assert counts == [1, 0], path
        memory.embedder.down = False
