"""Hooks at a service that only reads: it recalls, opens no transcript, and hands turns on to the ingest service."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from support.clients.hooks import TURNS, transcript
from support.clients.served import serve
from support.processes.server import VICW
from support.stores.memory import PATIENT_MS, Memory
from vicw_core.hook_events import TURNS_HEADER
from vicw_retrieval.agent_hooks.api import create_hooks_router
from vicw_retrieval.agent_hooks.service import HookPorts
from vicw_runtime.http import KeyGate, problems
from vicw_runtime.mcp.http_writer import HttpWriters
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.settings import HookSettings, McpSettings, ServerSettings
from vicw_standalone.agent_hooks.hook import answer_event
from vicw_standalone.app import create_standalone_app

PROMPT = "Where in the vault does our deploy key live?"


@pytest.fixture
async def ingest_url(memory: Memory) -> AsyncIterator[str]:
    """A server that requires keys, in the part of the ingest service."""
    settings = replace(memory.standalone.settings, server=ServerSettings(host="0.0.0.0"))
    memory.standalone.settings = settings
    app = create_standalone_app(memory.standalone)
    app.router.lifespan_context = FastAPI().router.lifespan_context  # the fixture closes the memory
    async with serve(app) as url:
        yield url


@pytest.fixture
async def url(memory: Memory, ingest_url: str) -> AsyncIterator[str]:
    """The address of the reading service."""
    writers = HttpWriters(McpSettings(ingest_url=ingest_url))
    gate = KeyGate(lambda: memory.standalone.keys, required=True, tenant="none")
    ports = HookPorts(memory.standalone.retrieval_ports, HookSettings(deadline_ms=PATIENT_MS))
    app = FastAPI()
    problems.install(app)
    app.include_router(create_hooks_router(ports, lambda _, sent: writers.of(sent), gate))
    try:
        async with serve(app) as address:
            yield address
    finally:
        await writers.close()


async def token_of(memory: Memory, *rights: Right) -> str:
    key, token = mint("default", rights, now())
    await memory.standalone.keys.add(key)
    return token


async def hook(url: str, event: str, path: Path, session: str = "s1", **fields: Any) -> dict[str, Any]:
    """Do what ``vicw hook`` does at an event of Claude Code."""
    sent = {"hook_event_name": event, "session_id": session, "cwd": str(path.parent), "transcript_path": str(path)}
    return await asyncio.to_thread(answer_event, sent | fields, "claude-code", "alpha", url, captures=True)


async def test_turns_are_handed_on_and_recalled_in_the_next_session(
    memory: Memory, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))  # a server with files would open it
    monkeypatch.setenv("VICW_API_KEY", await token_of(memory, Right.RETRIEVE, Right.INGEST))
    path = transcript(tmp_path / "claude" / "projects" / "alpha" / "s1.jsonl", *TURNS)
    assert await hook(url, "PreCompact", path) == {}
    await memory.standalone.indexer.drain()
    answer = await memory.retrieve(PROMPT, context="alpha")
    assert {(one.id, one.speaker, one.flow_id, one.source) for one in answer.results} == {
        ("u1", "user", "s1", "claude-code"),
        ("a1", "assistant", "s1", "claude-code"),
    }
    begun = await hook(url, "SessionStart", path, "s2", source="startup")
    assert "team/deploy" in begun["hookSpecificOutput"]["additionalContext"]
    asked = await hook(url, "UserPromptSubmit", path, "s3", prompt=PROMPT)
    assert "team/deploy" in asked["hookSpecificOutput"]["additionalContext"]
    assert await hook(url, "UserPromptSubmit", path, "s3", prompt=PROMPT) == {}, "it was shown"


async def test_no_path_of_an_event_is_looked_at(memory: Memory, url: str, tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {await token_of(memory, Right.RETRIEVE, Right.INGEST)}"}
    (tmp_path / ".git").mkdir()
    path = transcript(tmp_path / "s1.jsonl", *TURNS)
    event = {"hook_event_name": "Stop", "session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(path)}
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http:
        named = await http.post("/hooks/claude-code", params={"context": "alpha"}, json=event)
        unnamed = await http.post("/hooks/claude-code", json=event)
    assert (named.status_code, named.headers[TURNS_HEADER]) == (200, "yes")
    assert (unnamed.status_code, unnamed.json()["errors"][0]["field"]) == (422, "context")
    assert (await memory.retrieve(PROMPT, context="alpha")).results == ()


async def test_a_turn_that_ingest_refuses_costs_no_other_and_is_named(memory: Memory, url: str) -> None:
    headers = {"Authorization": f"Bearer {await token_of(memory, Right.RETRIEVE, Right.INGEST)}"}
    turns = [{"id": f"t{number}", "text": f"Step {number}."} for number in range(4)]
    turns[2]["speaker"] = "Ana" * 200
    event = {"event": "turns", "context": "alpha", "session": "s1", "turns": turns}
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http:
        answer = (await http.post("/hooks/session", json=event)).raise_for_status().json()
    assert answer["stored"] == 3
    assert answer["problem"].startswith("turn t2 cannot be stored: items[0].speaker: ")


async def test_a_key_that_may_not_store_is_told_so(memory: Memory, url: str) -> None:
    headers = {"Authorization": f"Bearer {await token_of(memory, Right.RETRIEVE)}"}
    event = {"event": "turns", "context": "alpha", "session": "s1", "turns": [{"id": "t1", "text": "Step 1."}]}
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http:
        answer = await http.post("/hooks/session", json=event)
    assert (answer.status_code, "`ingest`" in answer.json()["detail"]) == (403, True)


async def run_hook(url: str, event: str, path: Path, token: str, session: str = "s1", **fields: Any) -> dict[str, Any]:
    """Run ``vicw hook`` as Claude Code does; return what it prints, which is nothing or one answer."""
    sent = {"hook_event_name": event, "session_id": session, "cwd": str(path.parent), "transcript_path": str(path)}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VICW_")}
    done = await asyncio.to_thread(
        subprocess.run,
        [str(VICW), "hook", "claude-code", "--url", url, "--seconds", "40"],
        input=json.dumps(sent | fields),
        capture_output=True,
        text=True,
        env=clean | {"VICW_API_KEY": token, "VICW_DATA_DIR": str(path.parent / "data")},
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    printed: dict[str, Any] = json.loads(done.stdout or "{}")
    return printed


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The checkout ``alpha``, with the transcript of a session in it."""
    (tmp_path / "alpha" / ".git").mkdir(parents=True)
    return transcript(tmp_path / "alpha" / "s1.jsonl", *TURNS)


@pytest.mark.process
async def test_the_command_posts_the_turns_and_recalls_them(memory: Memory, url: str, checkout: Path) -> None:
    token = await token_of(memory, Right.RETRIEVE, Right.INGEST)
    assert await run_hook(url, "PreCompact", checkout, token) == {}
    await memory.standalone.indexer.drain()
    stored = (await memory.retrieve(PROMPT, context="alpha")).results
    assert {(one.id, one.speaker, one.source) for one in stored} == {
        ("u1", "user", "claude-code"),
        ("a1", "assistant", "claude-code"),
    }
    asked = await run_hook(url, "UserPromptSubmit", checkout, token, "s2", prompt=PROMPT)
    assert asked.keys() == {"hookSpecificOutput"}
    assert "team/deploy" in asked["hookSpecificOutput"]["additionalContext"]


@pytest.mark.process
async def test_a_wrong_key_holds_nobody_up_and_the_person_is_told_what_to_do(
    memory: Memory, url: str, checkout: Path
) -> None:
    address = url.removeprefix("http://")
    recalling, storing = ("SessionStart", "UserPromptSubmit"), ("PreCompact",)
    writing = await token_of(memory, Right.INGEST)  # the endpoint wants `retrieve`, too
    for token, events in ("", recalling + storing), ("vicw_wrong_key", recalling + storing), (writing, recalling):
        for event in events:
            done = "stored" if event in storing else "recalled"
            printed = await run_hook(url, event, checkout, token, prompt=PROMPT, source="startup")
            assert printed.keys() == {"systemMessage"}, "nothing of it is put before the model"
            assert printed["systemMessage"].startswith(f"VICW: nothing is {done}, {address} wants another key: ")
            assert "Set VICW_API_KEY, where the agent starts, to one with the right " in printed["systemMessage"]
            assert "`vicw keys create" in printed["systemMessage"]
    reading = await token_of(memory, Right.RETRIEVE)
    printed = await run_hook(url, "PreCompact", checkout, reading)
    assert "does not have the right `ingest`" in printed["systemMessage"]
    await memory.standalone.indexer.drain()
    assert (await memory.retrieve(PROMPT, context="alpha")).results == ()
