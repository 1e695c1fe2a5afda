from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.processes.platform import Platform
from support.servers.neo4j.server import Neo4jProcess, Neo4jServer
from support.servers.qdrant import QdrantProcess, QdrantServer
from support.servers.redis import RedisProcess, RedisServer
from support.stores.neo4j import empty_neo4j

type Prepared = Callable[[Path], AbstractContextManager[Platform]]
"""Makes a platform over the run's servers, empty and not started, with this folder of models."""


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for models: the default model is not in it, but in its package."""
    return tmp_path_factory.mktemp("models")


@dataclass(frozen=True, slots=True)
class Engines:
    """Engines of a test's own, to kill and restart."""

    neo4j: Neo4jProcess
    qdrant: QdrantProcess
    redis: RedisProcess


@pytest.fixture
def engines(
    start_neo4j: Callable[[], Neo4jProcess],
    start_qdrant: Callable[[], QdrantProcess],
    start_redis: Callable[[], RedisProcess],
) -> Engines:
    # Neo4j last: it takes the longest, for nothing where another is missing and the test is skipped.
    qdrant, redis = start_qdrant(), start_redis()
    return Engines(start_neo4j(), qdrant, redis)


@pytest.fixture
def fragile(engines: Engines, tmp_path: Path, models_dir: Path) -> Iterator[Platform]:
    """The services over engines that may be killed; as they are deployed, with keys."""
    servers = (engines.neo4j.server, engines.qdrant.server, engines.redis.server)
    made = Platform(tmp_path, models_dir, *servers, deployed=True)
    try:
        made.start()
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def prepared(
    tmp_path_factory: pytest.TempPathFactory,
    neo4j_server: Neo4jServer,
    qdrant_server: QdrantServer,
    redis_server: RedisServer,
) -> Prepared:
    """What makes a platform over the run's servers, empty and not started; its services end with it."""

    @contextmanager
    def prepare(models_dir: Path) -> Iterator[Platform]:
        empty_neo4j(neo4j_server)
        with redis_server.client(1) as client:
            client.flushdb()
        made = Platform(tmp_path_factory.mktemp("apart"), models_dir, neo4j_server, qdrant_server, redis_server)
        try:
            yield made
        finally:
            made.close()

    return prepare


@pytest.fixture(scope="module")
def platform(prepared: Prepared, models_dir: Path) -> Iterator[Platform]:
    """The services over the run's servers, empty at first."""
    with prepared(models_dir) as made:
        made.start()
        yield made
