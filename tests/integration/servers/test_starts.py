"""Each server answers its own client, and a killed one comes back with its data."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
import redis

from servers.neo4j.server import Neo4jProcess, Neo4jServer
from servers.redis import RedisProcess, RedisServer


def test_neo4j_answers(neo4j_server: Neo4jServer) -> None:
    with neo4j_server.driver() as driver:
        versions = driver.execute_query("CALL dbms.components() YIELD versions, edition RETURN versions[0], edition")
    assert versions.records[0].values() == ["5.26.28", "community"]


def test_redis_answers_only_with_the_password(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        assert client.set("key", "value")
        assert client.get("key") == "value"
        client.delete("key")


def test_neo4j_keeps_what_it_committed_when_killed(start_neo4j: Callable[[], Neo4jProcess]) -> None:
    process = start_neo4j()
    with process.server.driver() as driver:
        driver.execute_query("CREATE (:Chunk {uid: 'c1'})")
    process.kill()
    assert not _listens(process.server.url)
    process.restart()
    with process.server.driver() as driver:
        assert driver.execute_query("MATCH (n) RETURN n.uid").records[0].values() == ["c1"]


def test_redis_keeps_what_it_acknowledged_when_killed(start_redis: Callable[[], RedisProcess]) -> None:
    process = start_redis()
    with process.server.client() as client:
        client.lpush("queue", *map(str, range(100)))
    process.kill()
    with process.server.client() as client, pytest.raises(redis.ConnectionError):
        client.ping()
    process.restart()
    with process.server.client() as client:
        assert client.llen("queue") == 100


def _listens(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0
