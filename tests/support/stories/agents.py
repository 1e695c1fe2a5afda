"""Agents at work on one memory at once: each remembers, recalls and takes back, by a connection of its own."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from mcp import Client, StdioServerParameters
from mcp.types import Implementation

from support.clients.mcp_client import MODES, connect, refused, succeeded
from support.processes.server import VICW, Server, environment
from vicw_client import AsyncVicwClient

PROJECTS = 4
_CONNECTIONS = (*MODES, None)  # None: by ``vicw mcp``


@dataclass
class Work:
    """What the agents have had acknowledged: ``live`` and ``retracted`` are contexts and ids."""

    live: set[tuple[str, str]] = field(default_factory=set)
    retracted: set[tuple[str, str]] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    """Seconds."""


async def work_at_once(server: Server, agents: int, seconds: float, folder: Path) -> Work:
    """Have so many agents work for so long; whatever any of them is refused is raised."""
    work, until = Work(), time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for number in range(agents):
            group.create_task(_agent(server, number, until, work, folder))
    return work


async def stored(server: Server) -> set[tuple[str, str]]:
    """Return contexts and ids of all live items."""
    found: set[tuple[str, str]] = set()
    async with AsyncVicwClient(server.url) as client:
        cursor: str | None = None
        while True:
            page = await client.items(limit=100, cursor=cursor)
            found.update((item.context, item.id) for item in page.items if item.id is not None)
            if (cursor := page.next) is None:
                return found


async def _agent(server: Server, number: int, until: float, work: Work, folder: Path) -> None:
    project = f"project {number % PROJECTS}"
    async with _connected(server, number, project, folder) as agent, httpx.AsyncClient(trust_env=False) as hooks:

        async def call(tool: str, **arguments: object) -> str:
            began = time.monotonic()
            text = await succeeded(agent, tool, **arguments)
            work.calls[tool] += 1
            work.slowest[tool] = max(work.slowest.get(tool, 0.0), time.monotonic() - began)
            return text

        for turn in itertools.count():
            if time.monotonic() >= until:
                return
            name, text = f"a{number}.{turn}", f"Agent {number} set valve {turn} of pier {number} to {turn * 7 % 100}."
            assert f"Remembered: agent:{name}" in await call("remember", text=text, id=name)
            work.live.add((project, f"agent:{name}"))
            assert f"> {text}" in await call("recall", query=f"What is valve {turn} of pier {number} set to?", limit=10)
            if turn % 4 == 3:
                gone = f"agent:a{number}.{turn - 2}"
                assert f"{gone}: retracted" in await call("retract", ids=[gone])
                work.live.remove((project, gone))
                work.retracted.add((project, gone))
            if turn % 5 == 4:
                assert f"> {text}" in await call("trace", of=f"agent:{name}")
                assert "limt" in await refused(agent, "recall", query="x", limt=1)
                prompt = {"event": "prompt", "context": project, "session": f"{number}", "prompt": text}
                (await hooks.post(f"{server.url}/hooks/session", json=prompt, timeout=60)).raise_for_status()
                work.calls["prompt"] += 1


def _connected(server: Server, number: int, project: str, folder: Path) -> AbstractAsyncContextManager[Client]:
    how = _CONNECTIONS[number % len(_CONNECTIONS)]
    if how is not None:
        return connect(f"{server.url}/mcp/{project.replace(' ', '%20')}", how, name=f"agent-{number}")
    command = StdioServerParameters(
        command=str(VICW),
        args=["mcp", "--url", server.url, "--context", project],
        env=environment(folder),
        cwd=str(folder),
    )
    return Client(command, client_info=Implementation(name=f"agent-{number}", version="1"))
