"""Agents that send their events to the hooks of a server, and the transcripts that they write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from support.stores.memory import PATIENT_MS, Memory
from vicw_core.hook_events import OWNER_HEADER
from vicw_shared.settings import HookSettings
from vicw_standalone.app import create_standalone_app

TURNS = (
    ("u1", "user", "Our deploy key lives in the vault under team/deploy."),
    ("a1", "assistant", "Noted: team/deploy in the vault."),
)


class Hooks:
    """An agent that sends its events to the server."""

    def __init__(self, http: httpx.AsyncClient, folder: Path, agent: str = "claude-code") -> None:
        self.http = http
        self.folder = folder
        self.agent = agent

    async def post(self, name: str, session: str = "s1", **fields: Any) -> httpx.Response:
        event = {"hook_event_name": name, "session_id": session, "cwd": str(self.folder), "permission_mode": "default"}
        return await self.http.post(f"/hooks/{self.agent}", json=event | fields)

    async def send(self, name: str, session: str = "s1", **fields: Any) -> dict[str, Any]:
        answer = await self.post(name, session, **fields)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def recalled(self, name: str, session: str = "s1", **fields: Any) -> str:
        answer = await self.send(name, session, **fields)
        if not answer:
            return ""
        assert answer["hookSpecificOutput"]["hookEventName"] == name
        return str(answer["hookSpecificOutput"]["additionalContext"])

    async def ids(self, context: str | None = None) -> list[str]:
        listed = await self.http.get("/items", params={"context": context or self.folder.name, "direction": "asc"})
        return [item["id"] for item in listed.json()["items"]]


def transcript(path: Path, *turns: tuple[str, str, str], session: str = "s1", start: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "type": speaker,
            "uuid": uuid,
            "sessionId": session,
            "timestamp": f"2026-11-02T08:00:{start + number:02}.000Z",
            "message": {"role": speaker, "content": [{"type": "text", "text": text}]},
        }
        for number, (uuid, speaker, text) in enumerate(turns)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


async def offloaded(hooks: Hooks, home: Path) -> None:
    path = transcript(home / "s1.jsonl", *TURNS)
    assert await hooks.send("SessionEnd", transcript_path=str(path)) == {}
    await indexed(hooks.http)


async def indexed(http: httpx.AsyncClient) -> None:
    """Wait until what was offloaded has vectors: hooks do not wait for these."""
    for _ in range(3000):
        if (await http.get("/readyz")).json().get("passages_waiting") == 0:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("what was offloaded is not indexed")


@asynccontextmanager
async def connected(
    memory: Memory, *, host: str = "127.0.0.1", client: str = "127.0.0.1", owner: bool = True, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a server with ``VICW_HOOKS_…``, called by the name ``host`` from the address ``client``.

    An ``owner`` sends the token of the server's lock file, as ``vicw hook`` of the same user does. Whatever the
    settings do not say, a recall has more time than a busy machine needs.
    """
    hooks = HookSettings.model_validate({"deadline_ms": PATIENT_MS} | settings)
    memory.standalone.settings = replace(memory.standalone.settings, hooks=hooks)
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone), client=(client, 40000))
    headers = {OWNER_HEADER: memory.standalone.owner_token or ""} if owner else {}
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers) as http:
        yield http
