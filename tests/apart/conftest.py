from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from apart.running import Platform
from neo4j_graphs import empty_neo4j
from servers.neo4j.server import Neo4jServer
from servers.qdrant import QdrantServer
from servers.redis import RedisServer
from vicw_embedding import minilm


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The converted model, once for all services of the run."""
    directory = tmp_path_factory.mktemp("models")
    minilm.ensure(directory)
    return directory


@pytest.fixture(scope="module")
def platform(
    tmp_path_factory: pytest.TempPathFactory,
    models_dir: Path,
    neo4j_server: Neo4jServer,
    qdrant_server: QdrantServer,
    redis_server: RedisServer,
) -> Iterator[Platform]:
    """The services over the run's servers, empty at first."""
    empty_neo4j(neo4j_server)
    with redis_server.client(1) as client:
        client.flushdb()
    made = Platform(tmp_path_factory.mktemp("apart"), models_dir, neo4j_server, qdrant_server, redis_server)
    try:
        made.start()
        yield made
    finally:
        made.close()
