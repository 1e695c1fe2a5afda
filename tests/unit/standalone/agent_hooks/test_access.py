"""Hooks of agents over HTTP: who may have what stored and read, and which files are looked at."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from support.clients.hooks import TURNS, Hooks, connected, offloaded, transcript
from support.stores.memory import Memory
from vicw_core.hook_events import OWNER_HEADER, TURNS_HEADER
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint


def other_file(home: Path, tmp_path: Path, kind: str) -> str:
    """Return the path of what is no transcript of the agent."""
    secret = transcript(tmp_path / "secret.jsonl", ("x", "user", "A private diary."))
    home.mkdir(parents=True)
    path = home / "s1.jsonl"
    if kind == "elsewhere":
        path = secret
    elif kind == "link":
        path.symlink_to(secret)
    elif kind == "dots":
        path = home / ".." / ".." / ".." / "secret.jsonl"
    elif kind == "other suffix":
        path = transcript(home / "s1.json", ("x", "user", "A private diary."))
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    return "\0" if kind == "nul" else str(path)


@pytest.mark.parametrize("kind", ["elsewhere", "link", "dots", "other suffix", "folder", "missing", "nul", "pipe"])
async def test_no_other_file_is_opened(alpha: Hooks, home: Path, tmp_path: Path, kind: str) -> None:
    named = other_file(home, tmp_path, kind)
    answer = await asyncio.wait_for(alpha.post("SessionEnd", transcript_path=named), 10)
    if kind == "nul":
        assert answer.status_code == 422
    else:
        assert "is no transcript of claude-code that this server may open" in answer.json()["systemMessage"]
        assert answer.headers[TURNS_HEADER] == "yes"
    assert await alpha.ids() == []


async def test_a_key_needs_the_right_of_what_an_event_does(memory: Memory, alpha: Hooks, home: Path) -> None:
    await offloaded(alpha, home)
    headers = {}
    for rights in ((Right.RETRIEVE,), (Right.INGEST,)):
        key, token = mint(memory.tenant, rights, now())
        await memory.standalone.keys.add(key)
        headers[rights[0]] = {"Authorization": f"Bearer {token}"}
    prompt = "Where in the vault does our deploy key live?"
    alpha.http.headers.update(headers[Right.RETRIEVE])
    assert "deploy key" in await alpha.recalled("UserPromptSubmit", "s2", prompt=prompt)
    path = transcript(home / "s2.jsonl", ("u9", "user", "Something new."))
    refused = await alpha.post("SessionEnd", "s2", transcript_path=str(path))
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:vicw:problem:forbidden")
    alpha.http.headers.update(headers[Right.INGEST])
    assert (await alpha.post("UserPromptSubmit", "s3", prompt=prompt)).status_code == 403


async def test_memory_is_switched_off_by_a_file_of_the_project_and_by_a_word_of_the_prompt(
    alpha: Hooks, home: Path
) -> None:
    await offloaded(alpha, home)
    prompt = "Where does our deploy key live?"
    assert await alpha.send("UserPromptSubmit", "s2", prompt=f"{prompt} #vicw-off") == {}
    (alpha.folder / ".vicw-off").touch()
    inside = alpha.folder / "src"
    inside.mkdir()
    assert await alpha.send("UserPromptSubmit", "s2", prompt=prompt, cwd=str(inside)) == {}
    path = transcript(home / "s2.jsonl", ("u9", "user", "Something new."))
    assert await alpha.send("SessionEnd", "s2", transcript_path=str(path)) == {}
    assert await alpha.ids() == ["u1", "a1"]


@pytest.mark.parametrize(
    ("host", "client"),
    [("memory.example.org", "127.0.0.1"), ("127.0.0.1", "192.0.2.7"), ("127.0.0.1", "127.0.0.1")],
    ids=["by a proxy", "of another machine", "of another tenant on this one"],
)
async def test_paths_of_strangers_are_not_looked_at_even_with_the_owners_token(
    memory: Memory, home: Path, tmp_path: Path, host: str, client: str
) -> None:
    key, token = mint("stranger", (Right.RETRIEVE, Right.INGEST), now())
    await memory.standalone.keys.add(key)
    server = memory.standalone.settings.server.model_copy(update={"allowed_hosts": "memory.example.org"})
    memory.standalone.settings = replace(memory.standalone.settings, server=server)
    folder = tmp_path / "alpha"
    folder.mkdir()
    path = transcript(home / "s1.jsonl", *TURNS)
    async with connected(memory, host=host, client=client) as http:
        http.headers["Authorization"] = f"Bearer {token}"
        hooks = Hooks(http, folder)
        unnamed = await hooks.post("UserPromptSubmit", prompt="Where is the key?")
        (folder / ".vicw-off").touch()
        switched_off = await hooks.post("UserPromptSubmit", prompt="Where is the key?")
        event = {"hook_event_name": "SessionEnd", "session_id": "s1", "cwd": str(folder), "transcript_path": str(path)}
        end = await http.post("/hooks/claude-code", params={"context": "alpha"}, json=event)
        stored = (await http.get("/items", params={"context": "alpha"})).json()["items"]
    assert unnamed.json()["errors"][0]["field"] == "context"
    assert switched_off.json()["errors"] == unnamed.json()["errors"], "nobody learns what is on the disk"
    assert end.headers[TURNS_HEADER] == "yes"
    assert stored == []


@pytest.mark.parametrize("token", [None, "", "no token of the lock file", "ü"])
async def test_without_the_token_of_the_lock_file_nothing_is_opened_for_a_sender_on_this_machine(
    memory: Memory, home: Path, tmp_path: Path, token: str | None
) -> None:
    """Such as another user of the machine, a program in a sandbox, or a hook of the type ``http``."""
    folder = tmp_path / "alpha"
    (folder / ".git").mkdir(parents=True)
    path = transcript(home / "s1.jsonl", *TURNS)
    event = {"hook_event_name": "SessionEnd", "session_id": "s1", "cwd": str(folder), "transcript_path": str(path)}
    async with connected(memory, owner=False) as http:
        if token is not None:
            http.headers.update(httpx.Headers({OWNER_HEADER: token}, encoding="utf-8"))
        end = await http.post("/hooks/claude-code", params={"context": "alpha"}, json=event)
        unnamed = await Hooks(http, folder).post("UserPromptSubmit", prompt="Where is the key?")
        prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Where is the key?"}
        named = await http.post("/hooks/claude-code", params={"context": "alpha"}, json=prompt)
        stored = (await http.get("/items", params={"context": "alpha"})).json()["items"]
        (folder / ".vicw-off").touch()
        switched_off = await Hooks(http, folder).send("UserPromptSubmit", prompt="Where is the key?")
    assert (end.status_code, end.headers[TURNS_HEADER], stored) == (200, "yes", [])
    assert unnamed.json()["errors"][0]["field"] == "context", "a worktree's file is not opened either"
    assert (named.status_code, named.json()) == (200, {})
    assert switched_off == {}, "it only ever makes the server do less"
