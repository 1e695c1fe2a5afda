"""Workers of the platform in processes of their own, over a real Redis and Neo4j."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from support.fakes.embedding_server import serve_embeddings_in_thread
from support.processes.platform import Service
from support.processes.server import environment
from support.servers.neo4j.server import Neo4jServer
from support.servers.qdrant import QdrantServer
from support.servers.redis import RedisServer
from support.stores.neo4j import empty_neo4j
from support.stores.qdrant import open_client, server_if_any
from vicw_ingest.settings import IngestServiceSettings
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.platform import engines

TESTS = Path(__file__).parents[2]
DATABASE = 4


type Start = Callable[..., Service]


@pytest.fixture
def qdrant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> QdrantServer | None:
    """The run's Qdrant; where there is none this process and the worker have the local mode, each its own."""
    server = server_if_any(request)
    if server is None:
        local = open_client(None)
        monkeypatch.setattr(engines, "connect", lambda _: local)
    return server


@pytest.fixture
def start(
    qdrant: QdrantServer | None,
    neo4j_server: Neo4jServer,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Start]:
    """Start a process over empty engines, which are those of this process's settings, too.

    Where there is no Qdrant server, Celery's workers have the local mode, each its own.
    """
    empty_neo4j(neo4j_server)
    with redis_server.client(DATABASE) as client:
        client.flushdb()
    made: list[Service] = []
    with serve_embeddings_in_thread("some-model") as model:
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
            if qdrant is None and command[0] == "celery":
                command = ("support.processes.celery_local_qdrant", *command[1:])
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
async def wiring(start: Start) -> AsyncIterator[IngestWiring]:
    """What the ingest service works with, in this process."""
    opened = IngestWiring(IngestServiceSettings.read())
    await opened.open()
    yield opened
    await opened.close()


async def until(wanted: Callable[[], Awaitable[bool]], within: float) -> None:
    async with asyncio.timeout(within):
        while True:
            if await wanted():
                return
            await asyncio.sleep(0.1)
