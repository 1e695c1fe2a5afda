"""The platform's worker retires what has expired, at the latest when the clock wakes it: real Redis and Neo4j."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import worker_on_local_qdrant
from apart.running import WORKER, Service
from e2e.serving import environment
from neo4j_graphs import empty_neo4j
from qdrant_servers import server_if_any
from servers.neo4j.server import Neo4jServer
from servers.qdrant import QdrantServer
from servers.redis import RedisServer
from unit.standalone.foreign_server import serving_beside
from vicw_ingest.pipeline import ingest
from vicw_ingest.settings import Settings
from vicw_ingest.wiring import Wiring
from vicw_shared.clock import now
from vicw_shared.model import Label, Node
from vicw_shared.platform import engines
from vicw_shared.wire.ingest import IngestRequest

pytestmark = pytest.mark.process
TESTS = Path(__file__).parents[2]
DATABASE = 4


type Start = Callable[..., Service]


@pytest.fixture
def qdrant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> QdrantServer | None:
    """The run's Qdrant; where there is none this process and the worker have the local mode, each its own."""
    server = server_if_any(request)
    if server is None:
        monkeypatch.setattr(engines, "connect", worker_on_local_qdrant.connect)
    return server


@pytest.fixture
def start(
    qdrant: QdrantServer | None,
    neo4j_server: Neo4jServer,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Start]:
    """Start a process over empty engines, which are those of this process's settings, too."""
    empty_neo4j(neo4j_server)
    with redis_server.client(DATABASE) as client:
        client.flushdb()
    made: list[Service] = []
    with serving_beside("some-model") as model:
        variables = {
            "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
            "VICW_NEO4J_URL": neo4j_server.url,
            "VICW_NEO4J_USER": neo4j_server.user,
            "VICW_NEO4J_PASSWORD": neo4j_server.password,
            "VICW_REDIS_URL": redis_server.database(DATABASE),
            "VICW_EMBEDDING_URL": model.url,
            **_qdrant(qdrant),
        }
        for variable, value in variables.items():
            monkeypatch.setenv(variable, value)

        def begin(name: str, *command: str, **more: str) -> Service:
            made.append(Service(tmp_path, name, command, environment(tmp_path, **variables, **more)))
            return made[-1].start()

        yield begin
        for service in made:
            service.kill()


def _qdrant(server: QdrantServer | None) -> dict[str, str]:
    if server is None:
        return {}
    url = f"{server.url.rpartition(':')[0]}:{server.grpc_port}"
    return {"VICW_QDRANT_URL": url, "VICW_QDRANT_ALIAS": f"test-{uuid.uuid4().hex[:8]}"}


@pytest.fixture
async def wiring(start: Start) -> AsyncIterator[Wiring]:
    """What the ingest service works with, in this process."""
    opened = Wiring(Settings.read())
    await opened.open()
    yield opened
    await opened.close()


async def live(wiring: Wiring) -> dict[str | None, Node]:
    """Return live items by their ids, live names by themselves."""
    found = [node for label in Label for node in await wiring.engines.graph.page(label, after=None, limit=1000)]
    return {node.source_id or node.name: node for node in found if node.retired_at is None}


async def until(wanted: Callable[[], Awaitable[bool]], within: float) -> None:
    async with asyncio.timeout(within):
        while True:
            if await wanted():
                return
            await asyncio.sleep(0.1)


async def test_the_worker_retires_what_has_expired_whenever_it_is_woken(
    qdrant: QdrantServer | None, start: Start, wiring: Wiring
) -> None:
    graph = wiring.engines.graph

    async def tell(*items: dict[str, Any]) -> None:
        request = IngestRequest.model_validate({"context": "c", "items": items, "extract": "rules", "wait": False})
        await ingest(request, "t", wiring.ports)

    async def over(item: str) -> bool:
        return (await graph.backlog()).waiting == 0 and item not in await live(wiring)

    worker = start("worker", *(WORKER if qdrant is not None else ("worker_on_local_qdrant", *WORKER[1:])))
    before = (now() - timedelta(hours=1)).isoformat()
    await tell(
        {"id": "lasting", "text": "Mara waited in Lisbon."},
        {"id": "over", "text": "Ben slept in Porto.", "expires_at": before},
    )
    await until(lambda: over("over"), 60)
    left = await live(wiring)
    assert {"lasting", "Mara", "Lisbon"} <= left.keys()
    assert left.keys().isdisjoint({"Ben", "Porto"}), "only what is over told of them"

    soon = now() + timedelta(seconds=3)
    await tell({"id": "soon over", "text": "Clara left for Lyon.", "expires_at": soon.isoformat()})
    stored = (await live(wiring))["soon over"]
    start("beat", "vicw_sleep.beat", VICW_REDIS_LOOK_SECONDS="1")
    await until(lambda: over("soon over"), 60)
    left = await live(wiring)
    assert {"lasting", "Mara", "Lisbon"} <= left.keys()
    assert left.keys().isdisjoint({"Clara", "Lyon"})
    retired = (await graph.nodes("t", [stored.uid]))[stored.uid]
    assert retired.valid_to == soon
    assert retired.retired_at is not None
    assert retired.retired_at >= soon
    assert worker.log.count("retired what has expired") == 2
