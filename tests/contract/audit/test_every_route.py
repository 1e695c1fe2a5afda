"""Every route that changes something leaves one record with the caller's key: over all routes of the applications."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Match

from contract.sleep.test_consolidation import turn
from contract.sleep.test_consolidation_job import RULES, consolidation
from support.api.change_routes import CHANGES, TENANT, Sent, World, ended
from support.clients.served import serve
from support.stores.memory import open_memory
from support.stores.pairs import Side, asked_for
from vicw_ingest.app import create_ingest_app
from vicw_retrieval.app import create_retrieval_app
from vicw_retrieval.webhooks.service import WebhookPorts
from vicw_runtime.keys.api import CREATE_KEY, REVOKE_KEY, CreateKeyRequest, RevokeKeyRequest
from vicw_runtime.operations import Report
from vicw_runtime.upkeep.service import RunPorts, UndoPorts
from vicw_runtime.webhooks.http_receiver import HttpWebhookReceiver
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError
from vicw_shared.model.keys import Right, mint
from vicw_shared.ports import KeyRing, MaintenanceStep, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.settings import HookSettings, LimitSettings, OidcSettings, ServerSettings, WebhookSettings
from vicw_sleep.consolidation.job import consolidation_of
from vicw_standalone.app import create_standalone_app
from vicw_standalone.operations import OPERATIONS

HOOKS = WebhookSettings(enabled=True)
TURNS = [turn(n, f"We talked about the amulet of Porto in round {n}.") for n in range(12)]

READS = {"POST /retrieve", "POST /admin/sleep/log", "POST /admin/sleep/status", "POST /admin/reindex/status"}
READS |= {f"POST /graph/{name}" for name in "find walk about person users merges history flow".split()}
ADDS = {"POST /feedback", "POST /hooks/claude-code", "POST /hooks/codex", "POST /hooks/session"}
"""They store what is new: that is no change."""
ADDS |= {"DELETE /import/{job}"}
"""It ends a job of the caller's; what that has stored stays."""
ELSEWHERE = {"POST /import", "DELETE /import/{job}", "POST /mcp"}
"""Of the services: an import stores by the use case of ``POST /ingest``, and an agent's call goes to that service."""
OWNERS = {f"POST /admin/{operation.name}" for operation in OPERATIONS if operation.owner_only}
"""No key may call them."""


def routes_of(*apps: FastAPI) -> set[str]:
    """Return what the applications route but reads; agents come in by a route of their own."""
    found = {
        f"{method} {route.path}"
        for app in apps
        for route in iter_route_contexts(app.routes)
        for method in route.methods or ()
    }
    reads, again = ("GET", "HEAD", "OPTIONS"), "POST /mcp/{context:path}"
    return {route for route in found if not route.startswith(reads)} - {again}


def client(key: str, **where: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60, trust_env=False, **where)


@asynccontextmanager
async def one_process(store: Path) -> AsyncIterator[World]:
    async with open_memory(store) as memory:
        standalone = memory.standalone
        standalone.settings = replace(standalone.settings, webhooks=HOOKS)
        key, token = mint(TENANT, tuple(Right), now())
        await standalone.keys.add(key)
        app = create_standalone_app(standalone)

        async def consolidate() -> object:
            await memory.ingest(*TURNS, context="c")
            return await consolidation_of(standalone.memory()).run(RULES, now=now())

        async with serve(app) as url, client(token, base_url=url) as http:
            graph, ring = standalone.graph, standalone.keys
            yield World(http=http, routes=routes_of(app), graph=graph, ring=ring, key=key.id, consolidate=consolidate)


def services_over(side: Side) -> tuple[FastAPI, FastAPI]:
    """Return the applications of the services over real stores, without their queue."""

    async def undo(step: MaintenanceStep, key: str | None) -> MaintenanceStep:
        await consolidation(side).undo(step.id, now=now(), grace=timedelta(days=7), key=key)
        return await side.graph.log.step(step.id) or step

    async def start(job: object) -> None:
        pass

    ports = side._ports()
    settings = SimpleNamespace(
        server=ServerSettings(host="0.0.0.0"), oidc=OidcSettings(), limits=LimitSettings(), hooks=HookSettings()
    )
    wiring: Any = SimpleNamespace(
        engines=SimpleNamespace(graph=side.graph),
        ports=ports,
        queue=SimpleNamespace(probe=None),
        settings=settings,
        undo=UndoPorts(side.graph, timedelta(days=7), undo),
        runs=RunPorts(side.graph, TENANT, lambda job: None, start),
        webhooks=WebhookPorts(side.graph, HttpWebhookReceiver(HOOKS), HOOKS),
    )
    return create_ingest_app(wiring), create_retrieval_app(wiring)


@asynccontextmanager
async def services(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[World]:
    async with asked_for(request, store) as side:
        ingest, retrieval = services_over(side)

        async def either(scope: Any, receive: Any, send: Any) -> None:
            # What retrieval would hand on to ingest goes there at once: no service runs at an address here.
            is_change = any(route.matches(scope)[0] is Match.FULL for route in ingest.router.routes)
            await (ingest if is_change else retrieval)(scope, receive, send)

        async def consolidate() -> object:
            await side.ingest({"context": "c", "extract": "rules", "items": TURNS}, TENANT, None)
            await side.indexer.drain()
            return await consolidation(side).run(RULES, now=now())

        ring: KeyRing = side.graph.key_ring  # type: ignore[attr-defined]
        key, token = mint(TENANT, tuple(Right), now())
        await ring.add(key)
        async with client(token, transport=httpx.ASGITransport(either), base_url="http://127.0.0.1") as http:
            routes = routes_of(ingest, retrieval) - ELSEWHERE
            yield World(http=http, routes=routes, graph=side.graph, ring=ring, key=key.id, consolidate=consolidate)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def world(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[World]:
    opened = one_process(store) if request.param == "embedded" else services(request, store)
    async with opened as found:
        yield found


async def send(world: World, route: str, sent: Sent) -> httpx.Response:
    method, path = route.split(" ")
    part, arguments = sent
    named = path if "{" not in path else f"{path[: path.index('{')]}{part}{path[path.index('}') + 1 :]}"
    return await world.http.request(method, named, **arguments)


@pytest.mark.timeout(300)
async def test_every_route_that_changes_something_leaves_one_record_with_the_key(world: World) -> None:
    expected = CHANGES.keys() & world.routes
    assert len(expected) > 15
    assert world.routes - READS - ADDS - OWNERS == expected, "a new route that changes something is recorded, too"
    for route in (route for route in CHANGES if route in expected):
        kind, prepare = CHANGES[route]
        sent = await prepare(world)
        before = await world.records()
        answer = await send(world, route, sent)
        assert answer.is_success, f"{route}: {answer.text}"
        if route == "POST /import":
            await ended(world, answer)
        found = [step for step_id, step in (await world.records()).items() if step_id not in before]
        told = [(step.reason, step.details["key"], step.details["count"], step.tenant) for step in found]
        assert told == [(kind, world.key, 1, TENANT)], f"{route}: {answer.text}"


async def test_what_only_looks_leaves_none(world: World) -> None:
    operations = ("consolidate", "dream", "resolve", "reconcile")
    for operation in operations if "POST /admin/sleep/dream" in world.routes else ():
        answer = await world.http.post(f"/admin/sleep/{operation}", json={"dry_run": True})
        assert answer.is_success, answer.text
    assert (await world.http.post("/items/retract", json={"uids": ["x"], "dry_run": True})).is_success
    assert (await world.http.delete("/keys/none")).status_code == 404
    assert await world.records() == {}


async def test_a_command_that_makes_or_revokes_a_key_is_recorded_for_the_keys_tenant(world: World) -> None:
    stores: Any = SimpleNamespace(keys=world.ring, graph=world.graph)
    request = CreateKeyRequest(tenant="bob", rights=(Right.RETRIEVE,), note="a page")
    made = await CREATE_KEY.run(stores, request, Report())
    assert (await REVOKE_KEY.run(stores, RevokeKeyRequest(id=made.id), Report())).id == made.id
    for gone in (made.id, "none"):
        with pytest.raises(MissingRecordError):
            await REVOKE_KEY.run(stores, RevokeKeyRequest(id=gone), Report())
    steps = await world.graph.scan(Steps(task=AUDIT, oldest_first=True), limit=9)
    assert [(step.tenant, step.reason, step.details["key"]) for step in steps] == [
        ("bob", "make-key", None),
        ("bob", "revoke-key", None),
    ]
