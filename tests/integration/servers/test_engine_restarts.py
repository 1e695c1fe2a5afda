"""Each server answers its own client, and a killed one comes back with its data."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing

import pytest
import redis
from qdrant_client.models import Distance, PointStruct, VectorParams

from support.servers.neo4j.server import Neo4jProcess, Neo4jServer
from support.servers.qdrant import QdrantProcess, QdrantServer
from support.servers.redis import RedisProcess, RedisServer


def test_neo4j_answers(neo4j_server: Neo4jServer) -> None:
    with neo4j_server.driver() as driver:
        versions = driver.execute_query("CALL dbms.components() YIELD versions, edition RETURN versions[0], edition")
    version, edition = versions.records[0].values()
    assert (version.rpartition(".")[0], edition) == ("5.26", "community")


def test_redis_answers(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        assert client.set("key", "value")
        assert client.get("key") == "value"
        client.delete("key")


def test_qdrant_answers_on_both_interfaces(qdrant_server: QdrantServer) -> None:
    for prefer_grpc in (False, True):
        with closing(qdrant_server.client(prefer_grpc=prefer_grpc)) as client:
            assert not client.collection_exists("nothing")


def test_neo4j_keeps_committed_nodes_after_a_kill(start_neo4j: Callable[[], Neo4jProcess]) -> None:
    process = start_neo4j()
    with process.server.driver() as driver:
        driver.execute_query("CREATE (:Chunk {uid: 'c1'})")
    process.kill()
    assert not _listens(process.server.url)
    process.restart()
    with process.server.driver() as driver:
        assert driver.execute_query("MATCH (n) RETURN n.uid").records[0].values() == ["c1"]


def test_redis_keeps_acknowledged_entries_after_a_kill(start_redis: Callable[[], RedisProcess]) -> None:
    process = start_redis()
    with process.server.client() as client:
        client.lpush("queue", *map(str, range(100)))
    process.kill()
    with process.server.client() as client, pytest.raises(redis.ConnectionError):
        client.ping()
    process.restart()
    with process.server.client() as client:
        assert client.llen("queue") == 100


def test_qdrant_keeps_acknowledged_points_after_a_kill(start_qdrant: Callable[[], QdrantProcess]) -> None:
    process = start_qdrant()
    with closing(process.server.client()) as client:
        client.create_collection("kept", vectors_config=VectorParams(size=2, distance=Distance.COSINE))
        client.upsert("kept", [PointStruct(id=1, vector=[0.6, 0.8])], wait=True)
    process.kill()
    assert not _listens(process.server.url)
    process.restart()
    with closing(process.server.client()) as client:
        assert client.count("kept").count == 1


def _listens(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0
