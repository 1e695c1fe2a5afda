"""A disk that fills up: writes are refused with a reason, reads go on, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.api.problems import problem_of
from support.processes.server import Server, eventually, require_clean, temporary_directory
from support.processes.small_disk import Disk, small_disk

pytestmark = pytest.mark.process

_GUARD_MIB = 64
_FILLER = "river stone memory time amulet betrayal".split()


@pytest.fixture
def disk() -> Iterator[Disk]:
    with temporary_directory() as directory, small_disk(directory, 320) as mounted:
        yield mounted


class Filler:
    """Sends large items until one is refused; knows which were acknowledged."""

    def __init__(self, server: Server) -> None:
        self.acknowledged: list[str] = []
        self._server = server
        self._random = random.Random(0)
        self._numbers = count()

    def until_refused(self) -> httpx.Response | None:
        """Return the refusal, or None if the server went away."""
        for _ in range(2000):
            number = next(self._numbers)
            ids = [f"filler-{number}-{part}" for part in range(4)]
            try:
                answer = _post(self._server, "/ingest", {"context": "disk", "wait": False, "items": self._items(ids)})
            except httpx.TransportError:
                return None
            if not answer.is_success:
                return answer
            self.acknowledged += ids
        raise AssertionError("the disk does not fill up")

    def _items(self, ids: list[str]) -> list[dict[str, Any]]:
        # Metadata fills the graph without costing an embedding for every passage.
        ballast = "".join(self._random.choices("abcdefgh", k=16_000))
        return [{"id": i, "text": f"Mark{i.replace('-', 'x')} of the disk.", "metadata": {"b": ballast}} for i in ids]


def _post(server: Server, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"{server.url}{path}", json=body, timeout=90, trust_env=False)


def _ask(server: Server, query: str, **fields: Any) -> list[str]:
    answer = _post(server, "/retrieve", {"query": query, "expand": {"hops": 0}, **fields})
    assert answer.status_code == 200, answer.text
    assert set(answer.json()["degraded"]) <= {"pending"}
    return [result["id"] for result in answer.json()["results"]]


def _require_all(server: Server, ids: list[str]) -> None:
    for start in range(0, len(ids), 50):
        part = ids[start : start + 50]
        query = " ".join(f"Mark{i.replace('-', 'x')}" for i in part)
        eventually(
            lambda q=query: sorted(_ask(server, q, limit=200, channels=["bm25"])),  # type: ignore[misc]
            lambda found, p=part: sorted(i for i in found if i in set(p)) == sorted(p),  # type: ignore[misc]
            60,
            "every acknowledged item, once",
        )


def _remember(server: Server, name: str) -> None:
    body = {"context": "disk", "items": [{"id": name, "text": f"The {name} grazes."}]}
    answer = _post(server, "/ingest", body)
    assert answer.status_code == 201, answer.text
    assert name in _ask(server, name)


def test_writes_are_refused_below_the_free_space_limit_and_resume_above(serve: Serve, disk: Disk) -> None:
    server = serve(disk.path / "data", VICW_MIN_FREE_MB=str(_GUARD_MIB))
    server.start()
    _remember(server, "zebra")
    disk.leave(_GUARD_MIB + 4)
    filler = Filler(server)

    refusal = filler.until_refused()

    assert refusal is not None
    problem = problem_of(refusal, 507, "storage-full")
    assert "VICW_MIN_FREE_MB" in problem["detail"]
    assert refusal.headers["retry-after"]
    assert filler.acknowledged
    assert _ask(server, "zebra")[0] == "zebra"
    _require_all(server, filler.acknowledged)
    assert httpx.get(f"{server.url}/readyz", timeout=30).status_code == 200

    disk.clear()
    _remember(server, "yak")
    assert server.stop() == 0
    require_clean(server)


def test_the_indexer_pauses_before_the_vector_index_fills_the_disk(serve: Serve, disk: Disk) -> None:
    server = serve(disk.path / "data", VICW_MIN_FREE_MB=str(_GUARD_MIB), VICW_INGEST_WAIT_SECONDS="1")
    server.start()
    _remember(server, "zebra")
    child = server.embedder()
    assert child is not None
    os.kill(child, signal.SIGSTOP)
    accepted = _post(server, "/ingest", {"context": "disk", "items": [{"id": "late", "text": "The gnu is late."}]})
    disk.leave(_GUARD_MIB / 4)
    os.kill(child, signal.SIGCONT)

    assert accepted.status_code == 202
    job = f"{server.url}/ingest/jobs/{accepted.json()['job']}"
    eventually(lambda: server.log, lambda log: "needs 32 (VICW_MIN_FREE_MB)" in log, 30, "the indexer refusing")
    assert httpx.get(job, timeout=30).json()["status"] == "running"
    assert _ask(server, "zebra") == ["zebra"]

    disk.clear()
    eventually(lambda: httpx.get(job, timeout=30).json()["status"], lambda status: status == "done", 40, "the job")
    assert _ask(server, "gnu late")[0] == "late"
    assert server.stop() == 0
    require_clean(server)


def test_a_killed_server_refuses_to_restart_without_disk_space(serve: Serve, disk: Disk) -> None:
    server = serve(disk.path / "data", VICW_MIN_FREE_MB=str(_GUARD_MIB))
    server.start()
    _remember(server, "zebra")
    server.kill()
    disk.leave(8)
    server.launch()

    assert server.wait() == 1
    assert "8 MiB free and needs 32 (VICW_MIN_FREE_MB)" in server.log

    disk.clear()
    server.start()
    assert _ask(server, "zebra") == ["zebra"]


def test_acknowledged_items_survive_a_full_disk_without_the_guard(serve: Serve, disk: Disk) -> None:
    """The index's memory maps raise SIGBUS on a full disk: the reason why there is a guard."""
    server = serve(disk.path / "data", VICW_MIN_FREE_MB="0")
    server.start()
    _remember(server, "zebra")
    disk.leave(3)
    filler = Filler(server)

    refusal = filler.until_refused()

    if refusal is not None:
        problem_of(refusal, 507, "storage-full")
    assert filler.acknowledged
    disk.clear()
    if server.running():
        server.stop()
    assert server.wait() in {0, -signal.SIGBUS}
    server.start()
    _require_all(server, filler.acknowledged)
    _remember(server, "yak")
    assert _ask(server, "zebra")[0] == "zebra"
    assert server.stop() == 0
    require_clean(server)
