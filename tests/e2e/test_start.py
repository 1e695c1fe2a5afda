"""The first seconds: what a server answers before its model is loaded, and how it ends then."""

from __future__ import annotations

import os
import signal
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import Server, await_indexed, eventually, require_clean

pytestmark = pytest.mark.process
ITEMS = [{"id": f"i{n}", "text": f"Memory number {n} of the lighthouse keeper."} for n in range(1000)]


def _post(server: Server, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"{server.url}{path}", json=body, timeout=60, trust_env=False)


def _get(server: Server, path: str) -> httpx.Response:
    return httpx.get(f"{server.url}{path}", timeout=60, trust_env=False)


def _ask(server: Server, query: str, **fields: Any) -> dict[str, Any]:
    answer: dict[str, Any] = _post(server, "/retrieve", {"query": query, **fields}).raise_for_status().json()
    return answer


def _start_loading(server: Server) -> int:
    """Start a server whose model does not get loaded until SIGCONT; return the process that loads it."""
    server.launch()
    child = eventually(server.embedder, lambda pid: pid is not None, 30, "a process for the model")
    assert child is not None
    os.kill(child, signal.SIGSTOP)
    server.await_words()
    return child


def test_words_answer_and_items_are_stored_while_the_model_loads(serve: Serve) -> None:
    server = serve(VICW_INGEST_WAIT_SECONDS="0.5")
    child = _start_loading(server)
    assert _get(server, "/healthz").status_code == 200
    ready = _get(server, "/readyz")
    assert ready.status_code == 503
    assert "loading the model" in ready.json()["failing"]["embedding"]
    for start in range(0, len(ITEMS), 200):
        stored = _post(server, "/ingest", {"context": "c", "items": ITEMS[start : start + 200], "wait": start == 0})
        assert stored.status_code == 202, "nothing can be indexed yet"
    answer = _ask(server, "lighthouse keeper number 17", limit=50)
    assert "i17" in [result["id"] for result in answer["results"]]
    assert answer["degraded"] == ["bm25", "dense", "embedding"]
    named = _post(server, "/retrieve", {"query": "keeper", "channels": ["dense"]})
    assert (named.status_code, named.headers["Retry-After"]) == (503, "1")

    os.kill(child, signal.SIGCONT)
    eventually(lambda: _get(server, "/readyz").status_code, lambda status: status == 200, 60, "ready")
    await_indexed(server)
    answer = _ask(server, "lighthouse keeper number 17", limit=5)
    assert (len(answer["results"]), answer["degraded"]) == (5, [])
    assert {hit["channel"] for result in answer["results"] for hit in result["channels"]} >= {"dense", "bm25"}
    assert server.stop() == 0
    require_clean(server)


def test_a_kill_while_the_model_loads_loses_nothing(serve: Serve) -> None:
    server = serve()
    child = _start_loading(server)
    assert _post(server, "/ingest", {"context": "c", "items": ITEMS[:100], "wait": False}).status_code == 202
    server.kill()
    os.kill(child, signal.SIGKILL)
    server.start()
    await_indexed(server)
    assert len(_ask(server, "lighthouse keeper", limit=200, expand={"hops": 0})["results"]) == 100
    assert server.stop() == 0
    require_clean(server)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_model_loads_ends_the_server_at_once(serve: Serve, number: int) -> None:
    server = serve()
    child = _start_loading(server)
    assert server.stop(number, within=5) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_model_that_cannot_be_loaded_ends_the_server(serve: Serve) -> None:
    server = serve()
    child = _start_loading(server)
    os.kill(child, signal.SIGKILL)
    assert server.wait(10) == 1
    assert "error: embedding: the process ended with code -9" in server.log
    assert "Traceback" not in server.log


def test_a_second_server_on_a_data_directory_is_refused_at_once(serve: Serve) -> None:
    first = serve()
    child = _start_loading(first)
    second = serve(first.data_dir)
    second.log_path = second.log_path.with_name("second.log")
    second.launch()
    assert second.wait(20) == 1
    assert f"in use by another VICW process (pid {first.pid})" in second.log
    os.kill(child, signal.SIGCONT)
    assert first.stop() == 0
