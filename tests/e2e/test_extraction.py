"""A language model beside the real ``vicw serve``: waited for, late, away, slow, killed, and in a file of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.fakes.chat_server import extraction_json, serve_chat_in_thread
from support.models import tiny_gguf
from support.processes.server import Server, eventually, require_clean, run
from support.servers.machine import free_port

pytestmark = pytest.mark.process
TEXT = "Mara took the amulet. So Edran rode north, because the vault was open."
GOOD = extraction_json(
    entities=[{"id": "e1", "name": "Mara", "subtype": "thief"}],
    events=[{"id": "v1", "name": "Mara steals the amulet", "quote": "Mara took the amulet"}],
    relations=[{"source": "e1", "type": "INITIATED", "target": "v1", "certainty": None, "desc": None}],
)


def remember(server: Server, extract: str, *, wait: bool = True, name: str = "x") -> dict[str, Any]:
    text = TEXT if name == "x" else f"{TEXT} It was noon in {name}."  # told twice it would be linked, and not be read
    body = {"context": "c", "items": [{"id": name, "text": text}], "extract": extract, "wait": wait}
    answer = httpx.post(f"{server.url}/ingest", json=body, timeout=60, trust_env=False).raise_for_status()
    response: dict[str, Any] = answer.json()
    return response


def count_llm_edges(server: Server) -> int:
    path = f"file:{server.data_dir}/graph.sqlite3?mode=ro"
    with contextlib.closing(sqlite3.connect(path, uri=True)) as graph:
        sql = "SELECT count(*) FROM edge WHERE created_by = 'llm:scripted' AND type = 'INITIATED'"
        return int(graph.execute(sql).fetchone()[0])


def found(server: Server) -> list[str]:
    answer = httpx.post(f"{server.url}/retrieve", json={"query": "Who took the amulet?"}, timeout=60, trust_env=False)
    return [result["id"] for result in answer.raise_for_status().json()["results"]]


def metric(server: Server, line: str) -> bool:
    return line in httpx.get(f"{server.url}/metrics", trust_env=False).text


def test_only_requests_with_extract_llm_wait_for_the_model(serve: Serve) -> None:
    with serve_chat_in_thread(GOOD, pause=1.0) as chat:
        server = serve(VICW_LLM_URL=chat.url)
        server.start()
        assert remember(server, "llm")["items"][0]["extraction"] == "done"
        assert count_llm_edges(server) == 1
        assert remember(server, "rules", name="rules")["items"][0]["extraction"] is None
        assert remember(server, "auto", name="y")["items"][0]["extraction"] == "pending"
        eventually(lambda: count_llm_edges(server), lambda count: count == 2, 20, "the model reads behind the request")
        assert metric(server, 'vicw_llm_tokens_total{direction="in"} 200.0')
        assert server.stop() == 0
    require_clean(server)


def test_extract_llm_without_a_model_is_refused_with_the_setting(serve: Serve) -> None:
    server = serve()
    server.start()
    body = {"context": "c", "items": [{"text": TEXT}], "extract": "llm"}
    answer = httpx.post(f"{server.url}/ingest", json=body, timeout=60, trust_env=False)
    assert (answer.status_code, "VICW_LLM_URL" in answer.text) == (422, True)
    assert remember(server, "auto")["items"][0]["extraction"] is None


def test_a_server_killed_during_llm_extraction_extracts_after_restart(serve: Serve) -> None:
    with serve_chat_in_thread(GOOD, pause=2.0) as chat:
        server = serve(VICW_LLM_URL=chat.url)
        server.start()
        assert remember(server, "auto")["items"][0]["extraction"] == "pending"
        eventually(lambda: len(chat.asked), bool, 20, "the model is asked")
        server.kill()
        assert count_llm_edges(server) == 0
        server.start()
        eventually(lambda: count_llm_edges(server), lambda count: count == 1, 30, "it is read after the restart")
        assert server.stop() == 0
    require_clean(server)


def test_pending_extractions_are_done_once_the_llm_server_is_back(serve: Serve) -> None:
    port = free_port()
    server = serve(VICW_LLM_URL=f"http://127.0.0.1:{port}/v1", VICW_LLM_MODEL="scripted")
    server.start()
    assert remember(server, "llm")["items"][0]["extraction"] == "pending"
    assert found(server) == ["x"]
    assert httpx.get(f"{server.url}/readyz", trust_env=False).status_code == 200
    with serve_chat_in_thread(GOOD, port=port):
        eventually(lambda: count_llm_edges(server), lambda count: count == 1, 90, "it is read when the model is back")


def test_dead_extractions_are_listed_and_replayed(serve: Serve) -> None:
    with serve_chat_in_thread("no") as chat:
        server = serve(VICW_LLM_URL=chat.url, VICW_LLM_REPAIRS="0", VICW_LLM_MAX_TRIES="1")
        server.start()
        answer = remember(server, "llm")
        assert answer["items"][0]["extraction"] == "failed"
        assert found(server) == ["x"]
        listed = run(server, "jobs", "list", "--llm", "--json")
        (entry,) = json.loads(listed.stdout)
        assert {"id": "x", "tries": 1, "dead": True, "error": "nonsense: it is no JSON object"}.items() <= entry.items()
        assert "1 dead" in run(server, "jobs", "list", "--llm").stderr
        chat.replies = [GOOD]
        assert run(server, "jobs", "replay", "--llm").returncode == 2
        done = run(server, "jobs", "replay", "--llm", entry["entry"])
        assert (done.returncode, done.stdout) == (0, "1 entry is due again\n")
        eventually(lambda: count_llm_edges(server), lambda count: count == 1, 20, "it is read again")
        again = run(server, "jobs", "replay", "--llm", entry["entry"])
        assert (again.returncode, "is not failing" in again.stderr) == (1, True)


def chat_child(server: Server) -> int | None:
    for task in Path(f"/proc/{server.pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for child in (task / "children").read_text().split():
                if b"vicw_embedding.chat" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
    return None


def test_a_local_chat_model_runs_in_a_process_that_is_restarted(serve: Serve, tmp_path: Path) -> None:
    model = tiny_gguf.decoder(tmp_path / "tiny.gguf")
    server = serve(
        VICW_LLM_MODEL=str(model.path),
        VICW_LLM_THREADS="1",
        VICW_LLM_CONTEXT_TOKENS="8192",
        VICW_LLM_MAX_TOKENS="40",
        VICW_LLM_REPAIRS="0",
    )
    server.start()
    # Random weights have nothing to say, and are cut off at it.
    assert remember(server, "llm")["items"][0]["extraction"] == "pending"
    assert "cut_off: its answer is longer than VICW_LLM_MAX_TOKENS" in run(server, "jobs", "list", "--llm").stdout
    child = chat_child(server)
    assert child is not None
    os.kill(child, signal.SIGKILL)
    assert remember(server, "auto", name="y")["items"][0]["extraction"] == "pending"
    eventually(lambda: chat_child(server), lambda pid: pid not in {None, child}, 30, "the model's process comes back")
    assert server.stop() == 0
    require_clean(server)


def test_serve_refuses_to_start_without_the_llm_model_file(serve: Serve, tmp_path: Path) -> None:
    server = serve(VICW_LLM_MODEL=str(tmp_path / "nothing.gguf"))
    server.launch()
    assert server.wait(60) == 1
    assert "no such file" in server.log
