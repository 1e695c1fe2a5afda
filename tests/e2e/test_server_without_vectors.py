"""``vicw serve`` on a machine of 512 MB, without vectors; with a model later, and without again."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from e2e.conftest import Serve
from support.models import tiny_gguf
from support.processes.server import Server, require_clean, run

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]
SMALL_MB = 512


def post(server: Server, path: str, **body: object) -> httpx.Response:
    return httpx.post(f"{server.url}{path}", json=body, timeout=60, trust_env=False)


def remember(server: Server, *numbers: int) -> None:
    items = [
        {"id": f"i{n}", "text": f"unique{n} the river of light and stone. " * 20, "speaker": "Ana"} for n in numbers
    ]
    post(server, "/ingest", context="c", items=items, wait=True).raise_for_status()


def found(server: Server, query: str, **fields: object) -> list[str]:
    answer = post(server, "/retrieve", query=query, limit=1, **fields).raise_for_status().json()
    assert answer["degraded"] == []
    return [result["id"] for result in answer["results"]]


def peak_resident_mb(pid: int) -> int:
    """Return what a process has had in RAM at most, mapped files among it."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) // 1024


def test_a_server_without_vectors_fits_512_mb_and_can_be_reindexed_later(serve: Serve, tmp_path: Path) -> None:
    server = serve(VICW_EMBEDDER="none")
    server.start()
    for start in range(0, 400, 100):
        remember(server, *range(start, start + 100))
    assert [found(server, f"unique{n}") for n in (0, 399)] == [["i0"], ["i399"]]
    assert post(server, "/items/retract", context="c", ids=["i0"]).json()["items"][0]["status"] == "retracted"
    assert found(server, "unique0") != ["i0"]
    assert httpx.get(f"{server.url}/readyz", timeout=10, trust_env=False).json()["status"] == "ready"
    assert server.embedder() is None
    assert "llama" not in Path(f"/proc/{server.pid}/maps").read_text("utf-8")
    assert peak_resident_mb(server.pid) < SMALL_MB
    assert run(server, "reindex").returncode == 1, "no model is named"
    assert server.stop() == 0
    require_clean(server)
    assert "full text, tags and the graph" in run(server, "doctor").stdout
    assert not (server.data_dir / "vectors").exists()

    model = str(tiny_gguf.encoder(tmp_path / "small.gguf").path)
    made = run(server, "reindex", "--model", model)
    assert (made.returncode, "400 passages embedded with" in made.stdout) == (0, True), made.stdout + made.stderr
    assert "VICW_EMBEDDER is none: unset it" in made.stderr
    assert "is kept" not in made.stderr, "there was no index"
    del server.environment["VICW_EMBEDDER"]
    server.start()
    assert found(server, "unique7", channels=["bm25"]) == ["i7"]
    remember(server, 1000)
    assert server.stop() == 0
    require_clean(server)

    server.environment["VICW_EMBEDDER"] = "none"
    server.start()
    assert [found(server, f"unique{n}") for n in (7, 1000)] == [["i7"], ["i1000"]]
    refused = post(server, "/retrieve", query="unique7", channels=["dense"])
    assert (refused.status_code, "VICW_EMBEDDER=none" in refused.text) == (422, True)
    assert server.embedder() is None
    assert server.stop() == 0
    require_clean(server)
