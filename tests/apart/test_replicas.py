"""Copies of a service beside each other: started at one moment over empty engines, and written to at once."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from apart.conftest import Engines
from support.processes.platform import Platform, Service
from support.processes.server import eventually
from support.servers.machine import free_port

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]

CLIENTS, REQUESTS = 16, 6
STARTS = 3


@pytest.mark.parametrize("attempt", range(STARTS))
def test_replicas_started_at_once_over_empty_engines_make_one_store(
    engines: Engines, tmp_path: Path, models_dir: Path, attempt: int
) -> None:
    platform = Platform(tmp_path, models_dir, engines.neo4j.server, engines.qdrant.server, engines.redis.server)
    try:
        embedding = platform.add("embedding", "vicw_embedding", VICW_PORT=str(free_port())).start()
        platform.variables["VICW_EMBEDDING_URL"] = f"{embedding.url}/v1"
        copies = [platform.add(f"ingest-{number}", "vicw_ingest") for number in range(2)]
        platform.retrieval = platform.add("retrieval", "vicw_retrieval")
        started = [*copies, platform.retrieval, platform.worker()]
        with ThreadPoolExecutor(len(started)) as pool:
            list(pool.map(Service.start, started))

        assert len({_ready(service)["store"] for service in (*copies, platform.retrieval)}) == 1
        for number, copy in enumerate(copies):
            platform.ingest = copy
            told = platform.remember({"id": f"i{number}", "text": f"The harbour at {number}."}, wait=False, flow_id="f")
            job = told.raise_for_status().json()["job"]
            eventually(lambda job=job: platform.job(job)["status"], lambda said: said == "done", 60, "the job")  # type: ignore[misc]
        assert set(platform.found("harbour")) == {"i0", "i1"}
        alias = platform.variables["VICW_QDRANT_ALIAS"]
        with closing(engines.qdrant.server.client()) as client:
            (only,) = [each.name for each in client.get_collections().collections if each.name.startswith(alias)]
            assert [each.collection_name for each in client.get_aliases().aliases] == [only]
            assert client.get_collection(only).points_count == 2
        checked = platform.vicw("check", "--platform")
        assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr
    finally:
        platform.close()


def test_requests_to_two_ingest_replicas_get_gap_free_flow_steps(platform: Platform) -> None:
    other = platform.add("ingest-2", "vicw_ingest").start()
    urls = [platform.ingest.url, other.url]
    steps: list[int] = []
    together = threading.Barrier(CLIENTS)

    def client(number: int) -> list[int]:
        chance = random.Random(number)
        given: list[int] = []
        with httpx.Client(timeout=120, trust_env=False) as http:
            together.wait()
            for turn in range(REQUESTS):
                items = [_turn(chance, f"{number}/{turn}/{place}") for place in range(chance.randint(1, 3))]
                body = {"context": "shared", "flow_id": "one", "items": items, "wait": chance.random() < 0.3}
                told = http.post(f"{urls[(number + turn) % 2]}/ingest", json=body).raise_for_status().json()
                given += [item["flow_step"] for item in told["items"]]
        return given

    with ThreadPoolExecutor(CLIENTS) as pool:
        for given in pool.map(client, range(CLIENTS)):
            assert given == sorted(given), "what a client sends later comes later"
            steps += given
    assert sorted(steps) == list(range(1, len(steps) + 1))
    worker = platform.worker().start()
    eventually(lambda: platform.vicw("check", "--platform").stdout, lambda said: ", 0 waiting" in said, 120, "all done")
    checked = platform.vicw("check", "--platform")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr
    assert len(platform.found("harbour", context="shared", limit=200)) == min(200, len(steps))
    worker.kill()


def _turn(chance: random.Random, name: str) -> dict[str, Any]:
    """Return an item whose time is that of many others, or its arrival's, so that every place is contended."""
    timestamp = f"2026-01-01T00:00:0{chance.randrange(5)}Z" if chance.random() < 0.7 else None
    return {"id": name, "text": f"The harbour, said {name}.", "speaker": chance.choice(["Ana", "Ben"])} | (
        {"timestamp": timestamp} if timestamp else {}
    )


def _ready(service: Service) -> dict[str, Any]:
    told: dict[str, Any] = httpx.get(f"{service.url}/readyz", timeout=30, trust_env=False).raise_for_status().json()
    return told
