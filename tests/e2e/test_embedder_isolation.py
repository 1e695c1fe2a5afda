"""Engines of models abort, hang and take memory; the server keeps them out of its own process."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from e2e.conftest import Serve
from support.models import tiny_gguf

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]


@pytest.mark.parametrize(("library", "model"), [("onnxruntime", ""), ("libllama", "tiny.gguf")])
def test_only_the_embedding_process_ever_loads_an_engine(
    serve: Serve, tmp_path: Path, library: str, model: str
) -> None:
    variables = {"VICW_EMBEDDING_MODEL": str(tiny_gguf.encoder(tmp_path / model).path)} if model else {}
    server = serve(**variables)
    server.start()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        body = {"context": "isolation", "items": [{"id": "a", "text": "A gnu grazes."}]}
        assert http.post("/ingest", json=body).status_code == 201
        asked = http.post("/retrieve", json={"query": "gnu", "context": "isolation"})
        assert asked.json()["results"][0]["id"] == "a"
        assert http.get("/readyz").status_code == 200
    child = server.embedder()
    assert child is not None
    assert library in mapped_files(child), "what is looked for is what the library is called"
    for engine in ("onnxruntime", "libllama", "libggml"):
        assert engine not in mapped_files(server.pid)
    other = {"onnxruntime": "libllama", "libllama": "onnxruntime"}[library]
    assert other not in mapped_files(child), "only the engine of its own format"


def mapped_files(pid: int) -> str:
    """Return the files that a process has mapped."""
    return Path(f"/proc/{pid}/maps").read_text()
