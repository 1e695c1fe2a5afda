"""What the embedder refuses for ever is listed and replayed, beside a running server and without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.fakes.embedding_server import EmbeddingServer, serve_embeddings_in_thread
from support.processes.server import Server, eventually, require_clean, run

pytestmark = pytest.mark.process


@pytest.fixture
def foreign() -> Iterator[EmbeddingServer]:
    with serve_embeddings_in_thread("their-model") as serving:
        serving.refuses = "poison"
        yield serving


def failures(server: Server, *options: str) -> list[dict[str, Any]]:
    listed = run(server, "jobs", "list", "--json", *options)
    assert listed.returncode == 0, listed.stderr
    found: list[dict[str, Any]] = json.loads(listed.stdout)
    return found


def found(server: Server, query: str) -> list[str]:
    answer = httpx.post(f"{server.url}/retrieve", json={"query": query}, timeout=60, trust_env=False)
    return [result["id"] for result in answer.raise_for_status().json()["results"]]


def test_dead_index_entries_are_listed_and_replayed_on_a_running_server(serve: Serve, foreign: EmbeddingServer) -> None:
    server = serve(VICW_EMBEDDING_URL=foreign.url, VICW_INGEST_MAX_TRIES="3")
    server.start()
    items = [{"id": "bad", "text": "the poison\x1b[2J of the harbour"}, {"id": "good", "text": "an apple"}]
    answer = httpx.post(
        f"{server.url}/ingest", json={"context": "the port", "items": items}, timeout=60, trust_env=False
    )
    assert answer.status_code == 202
    job = answer.json()["job"]
    status = httpx.get(f"{server.url}/ingest/jobs/{job}", trust_env=False).json()
    assert (status["status"], status["passages_waiting"], status["passages_failed"]) == ("failed", 0, 1)
    assert found(server, "apple") == ["good"]

    shown = run(server, "jobs", "show", job)
    assert json.loads(shown.stdout) == status
    others = run(server, "jobs", "show", job, "--tenant", "other")
    assert (others.returncode, "of tenant 'other'. `--tenant NAME` looks in another" in others.stderr) == (1, True)
    (entry,) = failures(server)
    expected = {"tenant": "default", "context": "the port", "id": "bad", "tries": 3, "dead": True}
    assert expected.items() <= entry.items()
    assert "no such token" in entry["error"]
    said = run(server, "jobs", "list")
    assert all(word in said.stdout for word in (entry["entry"], "dead 3 tries since", "id bad", "no such token"))
    assert "0 waiting, 0 of them failing, 1 dead" in said.stderr
    assert (failures(server, "--tenant", "other"), failures(server, "--tenant", "default")) == ([], [entry])

    foreign.refuses = ""
    replayed = run(server, "jobs", "replay", entry["entry"])
    assert (replayed.returncode, replayed.stdout) == (0, "1 entry is due again\n"), replayed.stderr
    eventually(lambda: found(server, "poison"), lambda ids: "bad" in ids, 15, "a running server notices")
    assert failures(server) == []
    assert server.stop() == 0
    require_clean(server)


def test_dead_index_entries_are_replayed_without_a_server(serve: Serve, foreign: EmbeddingServer) -> None:
    server = serve(VICW_EMBEDDING_URL=foreign.url, VICW_INGEST_MAX_TRIES="1")
    server.start()
    body = {"context": "c", "items": [{"id": f"bad {n}", "text": f"poison {n}"} for n in range(3)]}
    assert httpx.post(f"{server.url}/ingest", json=body, timeout=60, trust_env=False).status_code == 202
    assert server.stop() == 0
    assert len(failures(server)) == 3
    assert len(failures(server, "--limit", "2")) == 2
    assert len(failures(server, "--limit", "2", "--all")) == 3
    assert "1 not shown" in run(server, "jobs", "list", "--limit", "2").stderr

    foreign.refuses = ""
    assert run(server, "jobs", "replay").returncode == 2
    assert run(server, "jobs", "replay", "--all", "--tenant", "default").returncode == 2
    assert run(server, "jobs", "replay", "bad 1").returncode == 2
    unknown = run(server, "jobs", "replay", "00000000-0000-0000-0000-000000000000")
    assert (unknown.returncode, "1 of the named entries is not failing" in unknown.stderr) == (1, True)
    assert run(server, "jobs", "replay", "--tenant", "other").stdout == "0 entries are due again\n"
    assert run(server, "jobs", "replay", "--all").stdout == "3 entries are due again\n"
    server.start()
    eventually(lambda: set(found(server, "poison")), lambda ids: len(ids) == 3, 15, "they are found")


def test_jobs_list_without_a_store_fails(serve: Serve) -> None:
    server = serve()
    missing = run(server, "jobs", "list")
    assert (missing.returncode, "holds no store" in missing.stderr) == (1, True)
