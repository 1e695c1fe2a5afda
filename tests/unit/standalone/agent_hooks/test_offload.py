"""Hooks of agents over HTTP: what is stored of a session."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from support.clients.hooks import TURNS, Hooks, connected, indexed, offloaded, transcript
from support.stores.memory import Memory
from vicw_shared.errors import OverloadedError, StorageFullError, UnavailableError, VicwError


async def test_a_session_is_shown_its_own_turns_once_it_is_compacted(alpha: Hooks, home: Path) -> None:
    path = transcript(home / "s1.jsonl", *TURNS)
    prompt = "Where in the vault does our deploy key live?"
    await alpha.send("Stop", transcript_path=str(path))
    assert await alpha.ids() == ["u1", "a1"]
    await indexed(alpha.http)
    assert await alpha.recalled("UserPromptSubmit", prompt=prompt) == ""
    await alpha.send("PreCompact", transcript_path=str(path), trigger="auto")
    assert "deploy key" in await alpha.recalled("UserPromptSubmit", prompt=prompt)


async def test_an_offloaded_transcript_is_stored_once(alpha: Hooks, home: Path, http: httpx.AsyncClient) -> None:
    path = transcript(home / "s1.jsonl", *TURNS)
    for _ in range(2):
        await alpha.send("Stop", transcript_path=str(path))
    transcript(path, *TURNS, ("u2", "user", "And the staging key?"))
    await alpha.send("SessionEnd", transcript_path=str(path))
    assert await alpha.ids() == ["u1", "a1", "u2"]
    listed = (await http.get("/items", params={"context": "alpha", "direction": "asc"})).json()["items"]
    assert [(one["speaker"], one["flow_id"], one["version"]) for one in listed] == [
        ("user", "s1", 1),
        ("assistant", "s1", 1),
        ("user", "s1", 1),
    ]


async def test_after_a_restart_a_transcript_is_read_again_and_nothing_changes(
    memory: Memory, alpha: Hooks, home: Path
) -> None:
    await offloaded(alpha, home)
    async with connected(memory) as again:
        await Hooks(again, alpha.folder).send("SessionEnd", transcript_path=str(home / "s1.jsonl"))
    assert await alpha.ids() == ["u1", "a1"]


async def test_codex_has_its_own_transcripts(alpha: Hooks, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "codex" / "sessions" / "2026" / "11" / "rollout-1.jsonl"
    path.parent.mkdir(parents=True)
    entries = [
        {"type": "session_meta", "payload": {"id": "c1"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "The gateway listens on 9443."}},
    ]
    path.write_text("".join(json.dumps({"timestamp": "2026-11-02T08:00:00Z", **one}) + "\n" for one in entries))
    assert "no transcript" in (await alpha.send("Stop", "c1", transcript_path=str(path)))["systemMessage"]
    codex = Hooks(alpha.http, alpha.folder, "codex")
    assert await codex.send("Stop", "c1", transcript_path=str(path), stop_hook_active=False) == {}
    assert await codex.ids() == ["c1:2"]


async def test_a_transcript_that_is_cut_is_stored_as_far_as_it_is_readable(alpha: Hooks, home: Path) -> None:
    path = transcript(home / "s1.jsonl", *TURNS)
    path.write_bytes(path.read_bytes()[:-30])
    said = await alpha.send("PreCompact", transcript_path=str(path))
    assert said["systemMessage"] == "VICW: 1 lines of the transcript could not be read: line 2 is cut off"
    assert await alpha.ids() == ["u1"]


async def test_what_an_agent_repeats_of_its_memories_is_not_stored_again(
    alpha: Hooks, home: Path, http: httpx.AsyncClient
) -> None:
    await offloaded(alpha, home)
    recalled = await alpha.recalled("SessionStart", "s2", source="startup")
    written = ("a5", "assistant", "I recall this:\n> Our deploy key lives in the vault under team/deploy.")
    path = transcript(home / "s2.jsonl", ("u5", "user", recalled), written, session="s2")
    await alpha.send("SessionEnd", "s2", transcript_path=str(path))
    assert await alpha.ids() == ["u1", "a1", "a5"], "the fence is no turn"
    answer = await http.post("/retrieve", json={"query": "Where does our deploy key live?", "context": "alpha"})
    found = [result["id"] for result in answer.json()["results"]]
    assert found.count("u1") == 1
    assert next(one for one in answer.json()["results"] if one["id"] == "u1")["speaker"] == "user"


async def test_a_turn_that_is_refused_costs_no_other(
    memory: Memory, alpha: Hooks, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = memory.standalone.ingest_ports()
    strict = replace(ports, settings=ports.settings.model_copy(update={"secrets": "refuse"}))
    monkeypatch.setattr(memory.standalone, "ingest_ports", lambda: strict)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = transcript(home / "s1.jsonl", *TURNS, ("u2", "user", f"Use {token}."), ("u3", "user", "And then deploy."))
    async with connected(memory) as http:
        hooks = Hooks(http, alpha.folder)
        said = await hooks.send("Stop", transcript_path=str(path))
        assert said["systemMessage"].startswith("VICW: turn u2 cannot be stored: ")
        assert token not in said["systemMessage"]
        assert await hooks.ids() == ["u1", "a1", "u3"]
        assert await hooks.send("SessionEnd", transcript_path=str(path)) == {}, "it is told once"


async def test_of_lines_with_one_id_the_last_is_stored(alpha: Hooks, home: Path, http: httpx.AsyncClient) -> None:
    path = transcript(home / "s1.jsonl", *TURNS, ("u1", "user", "Our deploy key lives in the safe."))
    assert await alpha.send("SessionEnd", transcript_path=str(path)) == {}
    listed = (await http.get("/items", params={"context": "alpha", "direction": "asc"})).json()["items"]
    assert {one["id"]: one["text"] for one in listed} == {
        "u1": "Our deploy key lives in the safe.",
        "a1": "Noted: team/deploy in the vault.",
    }


async def test_a_server_that_takes_few_items_at_a_time_takes_a_whole_session(
    memory: Memory, alpha: Hooks, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = memory.standalone.ingest_ports()
    small = replace(ports, limits=ports.limits.model_copy(update={"items": 2}))
    monkeypatch.setattr(memory.standalone, "ingest_ports", lambda: small)
    path = transcript(home / "s1.jsonl", *((f"u{number}", "user", f"Step {number}.") for number in range(7)))
    async with connected(memory) as http:
        hooks = Hooks(http, alpha.folder)
        assert await hooks.send("SessionEnd", transcript_path=str(path)) == {}
        assert sorted(await hooks.ids()) == [f"u{number}" for number in range(7)]


@pytest.mark.parametrize(
    "error", [UnavailableError("neo4j", "is down"), OverloadedError("queue is full"), StorageFullError("disk is full")]
)
async def test_turns_that_the_store_cannot_take_now_are_not_called_wrong(
    alpha: Hooks, home: Path, monkeypatch: pytest.MonkeyPatch, error: VicwError
) -> None:
    async def failing(*_: object, **__: object) -> None:
        raise error

    turns = [{"id": "t1", "text": "The gateway listens on port 9443."}]
    event = {"event": "turns", "context": "alpha", "session": "s1", "turns": turns}
    path = transcript(home / "s2.jsonl", *TURNS)
    with monkeypatch.context() as patch:
        patch.setattr("vicw_ingest.mcp.writer.ingest", failing)
        refused = await alpha.http.post("/hooks/session", json=event)
        said = await alpha.send("Stop", "s2", transcript_path=str(path))
    assert refused.status_code == error.status
    assert said["systemMessage"] == f"VICW: {error.detail}"
    assert (await alpha.http.post("/hooks/session", json=event)).json()["stored"] == 1
    assert await alpha.send("SessionEnd", "s2", transcript_path=str(path)) == {}
    assert sorted(await alpha.ids()) == ["a1", "t1", "u1"], "sent again, they are stored"
