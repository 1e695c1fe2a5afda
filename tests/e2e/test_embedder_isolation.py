"""llama.cpp aborts and hangs; the server keeps it out of its own process."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from support.processes.server import Server

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]


def test_only_the_embedding_process_ever_loads_llama_cpp(server: Server, http: httpx.Client) -> None:
    remembered = http.post("/ingest", json={"context": "isolation", "items": [{"id": "a", "text": "A gnu grazes."}]})
    assert remembered.status_code == 201, remembered.text
    asked = http.post("/retrieve", json={"query": "gnu", "context": "isolation"})
    assert asked.json()["results"][0]["id"] == "a"
    assert http.get("/readyz").status_code == 200
    child = server.embedder()
    assert child is not None
    assert "libllama" in mapped_files(child), "what is looked for is what the library is called"
    assert "libllama" not in mapped_files(server.pid)


def mapped_files(pid: int) -> str:
    """Return the files that a process has mapped."""
    return Path(f"/proc/{pid}/maps").read_text()
