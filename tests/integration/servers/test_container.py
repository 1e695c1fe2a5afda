"""A server in Docker is made, killed, started again and removed through the engine's API."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.fakes.docker_engine import Engine, engine
from support.servers import container
from support.servers.neo4j import server as neo4j
from support.servers.process import ServerProcess
from support.servers.qdrant import docker as docker_qdrant
from support.servers.redis import IMAGE, docker
from support.servers.sources import Unavailable

pytestmark = pytest.mark.process


@pytest.mark.servers
@pytest.mark.timeout(400)
@pytest.mark.parametrize("start", [neo4j.docker, docker, docker_qdrant], ids=["neo4j", "redis", "qdrant"])
def test_each_engine_starts_and_restarts_in_real_docker(start: Callable[[], ServerProcess[Any]]) -> None:
    if reason := container.refusal_of(container.PING, "", container.ANSWER_SECONDS):
        pytest.skip(f"no Docker: {reason}")
    process = start()
    try:
        process.restart()
    finally:
        process.close()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server on PATH")
    container.refusal_of.cache_clear()
    with engine(tmp_path, IMAGE) as running:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{running.path}")
        yield running
    container.refusal_of.cache_clear()


def test_a_killed_container_comes_back_with_its_data(served: Engine) -> None:
    process = docker()
    assert served.created["Image"] == IMAGE
    with process.server.client() as client:
        client.set("kept", "yes")
    process.kill()
    assert not served.running
    process.restart()
    with process.server.client() as client:
        assert client.get("kept") == "yes"
    process.close()
    assert served.removed


def test_an_image_that_cannot_be_pulled_makes_the_server_unavailable(
    served: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_TEST_REDIS_IMAGE", "redis:other")
    with pytest.raises(Unavailable, match="pull access denied"):
        docker()
    assert len(served.pulled) == 1


def test_a_container_that_does_not_answer_is_removed(served: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "run", lambda engine: None)
    with pytest.raises(Unavailable, match=r"it ended instead of answering; its log ends:\n.*out of room"):
        docker()
    assert served.removed
