"""What a request of each route that changes something is, and what the record of changes calls it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx

from support.stores.graph_records import Graph
from vicw_shared.clock import now
from vicw_shared.model.webhooks import WebhookMessage
from vicw_shared.ports import KeyRing, MaintenanceStep, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.uids import named_uid

TENANT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Applications over a pair of stores, asked with a key that has all rights."""

    http: httpx.AsyncClient
    routes: set[str]
    graph: Graph
    ring: KeyRing
    key: str
    consolidate: Callable[[], Awaitable[object]]

    async def item(self, name: str, **fields: Any) -> str:
        item = {"id": name, "text": f"The {name} of the harbour."} | fields
        body = {"context": "c", "extract": "caller", "items": [item]}
        return str((await self.http.post("/ingest", json=body)).raise_for_status().json()["items"][0]["uid"])

    async def webhook(self) -> str:
        made = await self.http.post("/webhooks", json={"url": "http://8.8.8.8/in"})
        return str(made.raise_for_status().json()["id"])

    async def records(self) -> dict[str, MaintenanceStep]:
        """Return the records of all tenants."""
        return {step.id: step for step in await self.graph.scan(Steps(task=AUDIT), limit=1000)}


type Sent = tuple[str, dict[str, Any]]
"""What stands for the last part of the route's path, and the arguments of the request."""
type Prepare = Callable[[World], Awaitable[Sent]]


def json(**body: Any) -> Prepare:
    async def prepare(world: World) -> Sent:
        return "", {"json": body}

    return prepare


async def an_update(world: World) -> Sent:
    await world.item("updated")
    item = {"id": "updated", "text": "It is another text."}
    return "", {"json": {"context": "c", "items": [item, {"text": "What is new is no change."}]}}


async def an_import(world: World) -> Sent:
    for text in ("The harbour was calm.", "The harbour is on fire."):
        files = [("file", ("note.md", f"# Note\n\n{text}".encode()))]
        if "calm" in text:
            await ended(world, await world.http.post("/import", files=files, params={"context": "c"}))
    return "", {"files": files, "params": {"context": "c"}}


async def ended(world: World, answer: httpx.Response) -> None:
    """Wait for the end of an import."""
    async with asyncio.timeout(60):
        while (await world.http.get(answer.json()["address"])).json()["status"] in {"waiting", "running"}:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def a_patch(world: World) -> Sent:
    return await world.item("patched"), {"json": {"tags": ["sea"]}}


async def a_patch_by_id(world: World) -> Sent:
    await world.item("named")
    return "", {"params": {"context": "c", "id": "named"}, "json": {"tags": ["sea"]}}


async def a_retraction(world: World) -> Sent:
    return "", {"json": {"uids": [await world.item("retracted")]}}


async def a_tool_call(world: World) -> Sent:
    await world.item("taken")
    tool = {"name": "retract", "arguments": {"ids": ["taken"], "context": "c"}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return "", {"json": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}, "headers": headers}


async def a_replacement(world: World) -> Sent:
    return "", {"json": {"old": await world.item("old"), "new": await world.item("new")}}


async def an_erasure(world: World) -> Sent:
    return "", {"json": {"items": [await world.item("erased")]}}


async def people(world: World, *names: str) -> list[str]:
    await world.item(" ".join(names), about=list(names))
    return [named_uid(TENANT, "c", "person", name) for name in names]


async def a_merge(world: World) -> Sent:
    entity, into = await people(world, "Ana Souza", "Souza Ana")
    return "", {"json": {"entity": entity, "into": into}}


async def a_split(world: World) -> Sent:
    entity, into = await people(world, "Ben Lima", "Lima Ben")
    (await world.http.post("/entities/merge", json={"entity": entity, "into": into})).raise_for_status()
    return "", {"json": {"entity": entity}}


async def an_identification(world: World) -> Sent:
    await world.item("said", speaker="Cara", user="u-17")
    (person,) = await people(world, "Cara Lima")
    return "", {"json": {"user": named_uid(TENANT, "c", "user", "u-17"), "person": person}}


async def a_name(world: World) -> Sent:
    (person,) = await people(world, "Dan Lima")
    return person, {"json": {"name": "Dan L. Lima"}}


async def a_webhook(world: World) -> Sent:
    return await world.webhook(), {}


async def a_secret(world: World) -> Sent:
    return await world.webhook(), {"json": {}}


async def dead_messages(world: World) -> Sent:
    name = await world.webhook()
    hook = await world.graph.webhooks.webhook(name)
    assert hook is not None
    message = WebhookMessage(id="m", body="{}", events=1, since=now(), next_at=now() + timedelta(days=1), dead=True)
    assert await world.graph.webhooks.put(replace(hook, messages=(message,)))
    return name, {"json": {}}


async def a_key(world: World) -> Sent:
    return (await world.http.post("/keys", json={"rights": ["retrieve"]})).raise_for_status().json()["id"], {}


async def a_step(world: World) -> Sent:
    await world.consolidate()
    steps = await world.graph.scan(Steps(tenant=TENANT, task="consolidate"), limit=9)
    return "", {"json": {"step": next(step.id for step in steps if step.outcome == "done")}}


CHANGES: dict[str, tuple[str, Prepare]] = {
    "POST /ingest": ("update", an_update),
    "POST /import": ("update", an_import),
    "PATCH /items/{uid}": ("patch", a_patch),
    "PATCH /items": ("patch", a_patch_by_id),
    "POST /items/retract": ("retract", a_retraction),
    "POST /mcp": ("retract", a_tool_call),
    "POST /supersede": ("supersede", a_replacement),
    "POST /forget": ("erase", an_erasure),
    "POST /entities/merge": ("merge", a_merge),
    "POST /entities/split": ("split", a_split),
    "POST /entities/identify": ("identify", an_identification),
    "POST /entities/{uid}/rename": ("rename", a_name),
    "POST /webhooks": ("make-webhook", json(url="http://8.8.8.8/in")),
    "DELETE /webhooks/{webhook}": ("remove-webhook", a_webhook),
    "POST /webhooks/{webhook}/secret": ("rotate-webhook", a_secret),
    "POST /webhooks/{webhook}/replay": ("replay", dead_messages),
    "POST /keys": ("make-key", json(rights=["retrieve"])),
    "DELETE /keys/{key}": ("revoke-key", a_key),
    "POST /sleep/run": ("run", json(job="dream")),
    "POST /sleep/undo": ("undo", a_step),
    "POST /admin/sleep/undo": ("undo", a_step),
    "POST /admin/sleep/consolidate": ("run", json()),
    "POST /admin/sleep/dream": ("run", json()),
    "POST /admin/sleep/resolve": ("run", json()),
    "POST /admin/sleep/reconcile": ("run", json()),
    "POST /admin/sleep/wipe": ("wipe", json()),
    "POST /admin/jobs/replay": ("replay", json()),
    "POST /admin/reindex": ("reindex", json()),
    "POST /admin/reindex/drop-old": ("drop-indexes", json()),
}
