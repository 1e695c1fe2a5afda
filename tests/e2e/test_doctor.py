"""``vicw doctor`` beside a real server, after its death, and with what it cannot put up with."""

from __future__ import annotations

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import run

pytestmark = pytest.mark.process


def test_doctor_reports_beside_a_running_and_after_a_killed_server(serve: Serve) -> None:
    server = serve()
    server.start()
    body = {"context": "zoo", "items": [{"id": "a", "text": "A zebra grazes."}]}
    assert httpx.post(f"{server.url}/ingest", json=body, timeout=60, trust_env=False).status_code == 201
    server.environment["VICW_PORT"] = server.url.rpartition(":")[2]

    beside = run(server, "doctor")
    assert beside.returncode == 0, beside.stdout
    assert "VICW is ready on 127.0.0.1" in beside.stdout
    assert f"in use by another VICW process (pid {server.pid})" in beside.stdout
    assert "store: has vectors of all-MiniLM-L6-v2 (384-d" in beside.stdout
    asked = httpx.post(f"{server.url}/retrieve", json={"query": "zebra"}, timeout=60, trust_env=False)
    assert asked.json()["results"][0]["id"] == "a"

    server.kill()
    after = run(server, "doctor")
    assert after.returncode == 0, after.stdout
    assert "note vector index: was not closed properly" in after.stdout

    server.environment["VICW_EMBEDDING_DIMENSIONS"] = "128"
    wrong = run(server, "doctor")
    assert wrong.returncode == 1
    assert "bad  model: VICW_EMBEDDING_DIMENSIONS: all-MiniLM-L6-v2 has 384 dimensions" in wrong.stdout
    assert "vicw model use" in wrong.stdout
    assert "Traceback" not in wrong.stderr
