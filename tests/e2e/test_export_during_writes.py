"""An export beside a server that goes on storing, brought into another server's store."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import await_indexed, require_clean, run
from support.stores.exports import assert_same_exports

pytestmark = pytest.mark.process


def test_an_export_of_a_running_server_is_imported_into_another(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.start()
    over = threading.Event()

    def store(number: int) -> None:
        items = [{"id": f"{number}", "text": f"Ana met Ben {number} times.", "speaker": "Ana", "flow_id": "f"}]
        body = {"context": "ctx", "items": items}
        httpx.post(f"{server.url}/ingest", json=body, timeout=60, trust_env=False).raise_for_status()

    def writing() -> None:
        number = 100
        while not over.is_set():
            store(number := number + 1)

    for number in range(20):
        store(number)
    writer = threading.Thread(target=writing)
    writer.start()
    done = run(server, "export", "--to", str(tmp_path / "one"))
    over.set()
    writer.join()
    assert done.returncode == 0, done.stderr
    files = json.loads((tmp_path / "one/manifest.json").read_text("utf-8"))["files"]
    assert files["embeddings/chunks.npy"]["rows"] >= 20
    refused = run(server, "import", str(tmp_path / "one"))
    assert "Tenant 'default' has data in this store" in refused.stderr
    assert server.stop() == 0
    other = serve(tmp_path / "other")
    assert run(other, "import", str(tmp_path / "one")).returncode == 0
    assert run(other, "export", "--to", str(tmp_path / "two")).returncode == 0
    assert_same_exports(tmp_path / "one", tmp_path / "two")
    other.start()
    body = {"query": "How often did Ana meet Ben?"}
    answer = httpx.post(f"{other.url}/retrieve", json=body, timeout=60, trust_env=False).raise_for_status().json()
    assert len(answer["results"]) == 10
    await_indexed(other)
    assert other.stop() == 0
    require_clean(other)
