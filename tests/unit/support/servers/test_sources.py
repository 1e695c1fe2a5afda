"""A server comes from the first place that has one, and what was tried is kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.servers.neo4j.jars import version
from support.servers.neo4j.server import IMAGE, Neo4jServer
from support.servers.neo4j.server import parse as parse_neo4j
from support.servers.process import ServerProcess
from support.servers.qdrant import QdrantServer
from support.servers.qdrant import parse as parse_qdrant
from support.servers.redis import parse as parse_redis
from support.servers.run import Kind, Run, required
from support.servers.sources import Missing, NotReady, Source, Unavailable, find


class StoppedMachine:
    """Runs nothing; counts what is asked of it."""

    def __init__(self) -> None:
        self.starts = 0
        self.closed = False

    def start(self) -> None:
        self.starts += 1

    def running(self) -> bool:
        return not self.closed

    def kill(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def log(self) -> str:
        return ""


def process(name: str, machine: StoppedMachine) -> Callable[[], ServerProcess[str]]:
    def start() -> ServerProcess[str]:
        made = ServerProcess(name, machine, ping, within=1)
        made.start()
        return made

    return start


def ping(server: str) -> None:
    if "down" in server:
        raise NotReady("refused")


def absent() -> ServerProcess[str]:
    raise Unavailable("not installed\nin detail")


def kind(*own: Source[ServerProcess[str]]) -> Kind[str]:
    return Kind("redis", "VICW_TEST_KIND_URL", str, ping, own)


def test_the_first_source_that_has_the_server_is_taken() -> None:
    machine = StoppedMachine()
    found = find(
        "x", [Source("a", absent), Source("b", process("two", machine)), Source("c", process("three", machine))]
    )
    assert (found.running.server, found.source, machine.starts) == ("two", "b", 1)


def test_a_server_that_no_source_has_is_missing() -> None:
    with pytest.raises(Missing, match="no x: a: not installed; b: not installed") as missing:
        find("x", [Source("a", absent), Source("b", absent)])
    assert missing.value.tried == (("a", "not installed\nin detail"), ("b", "not installed\nin detail"))


def test_a_named_server_comes_before_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_TEST_KIND_URL", "given")
    assert Run().shared(kind(Source("own", absent))) == "given"


def test_a_named_server_that_is_down_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_TEST_KIND_URL", "down")
    with pytest.raises(Missing, match="VICW_TEST_KIND_URL: does not answer: refused"):
        Run().shared(kind(Source("own", process("own", StoppedMachine()))))


def test_a_run_shares_one_server_and_starts_private_ones_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VICW_TEST_KIND_URL", raising=False)
    machine = StoppedMachine()
    run, redis = Run(), kind(Source("Docker", absent), Source("own", process("own", machine)))
    assert (run.shared(redis), run.shared(redis), machine.starts) == ("own", "own", 1)
    private = run.private(redis)
    assert machine.starts == 2
    private.restart()
    assert machine.starts == 3
    lines = [line.partition(",")[0] for line, _ in run.report()]
    passed_over = "  Docker: not installed"
    assert lines == ["redis: from own", passed_over, "redis of the test's own: from own", passed_over]
    run.close()
    assert machine.closed


def test_a_missing_server_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VICW_TEST_KIND_URL", raising=False)
    asked: list[str] = []

    def ask() -> ServerProcess[str]:
        asked.append("asked")
        return absent()

    run = Run(required=["redis"])
    for _ in range(2):
        with pytest.raises(Missing):
            run.shared(kind(Source("own", ask)))
    assert asked == ["asked"]
    assert run.failed == ["redis"]


def test_required_splits_the_variable_and_refuses_unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_TEST_REQUIRE", " redis, neo4j,")
    assert required(["neo4j", "redis", "qdrant"]) == ["redis", "neo4j"]
    monkeypatch.setenv("VICW_TEST_REQUIRE", "redis,postgres")
    with pytest.raises(ValueError, match="VICW_TEST_REQUIRE names postgres; there are neo4j, redis"):
        required(["neo4j", "redis"])


def test_server_addresses_are_parsed_with_password_and_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_neo4j("bolt://me:p%40ss@db:7000") == Neo4jServer("bolt://db:7000", "me", "p@ss")
    assert parse_redis("redis://:secret@cache:6379/3").database(5) == "redis://:secret@cache:6379/5"
    monkeypatch.delenv("VICW_TEST_QDRANT_GRPC_PORT", raising=False)
    assert parse_qdrant("http://vectors:6333") == QdrantServer("http://vectors:6333", 6334)
    monkeypatch.setenv("VICW_TEST_QDRANT_GRPC_PORT", "7334")
    assert parse_qdrant("http://vectors:6333").grpc_port == 7334


def test_the_image_and_the_jars_are_of_one_version() -> None:
    assert f"neo4j:{version()}-community" == IMAGE
