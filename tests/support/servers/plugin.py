"""The fixtures of servers and programs that tests need, and what the end of a run says of them.

With pytest-xdist each worker starts what its tests need, and the end of the run says what all of them had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from support.clients.browser import AXE
from support.clients.mcp_inspector import INSPECTOR, McpInspector
from support.servers.neo4j.server import NEO4J, Neo4jProcess, Neo4jServer
from support.servers.process import ServerProcess
from support.servers.qdrant import QDRANT, QdrantProcess, QdrantServer
from support.servers.redis import REDIS, RedisProcess, RedisServer
from support.servers.run import Kind, Run, required
from support.servers.sources import Missing

_RUN = pytest.StashKey[Run]()
_TOLD = "vicw_servers"
_KINDS: dict[str, Kind[Any]] = {kind.name: kind for kind in (NEO4J, REDIS, QDRANT)}
_FIXTURES = {f"{name}_server": kind for name, kind in _KINDS.items()}
_HELM, _INSPECTOR, _CHROMIUM, _AXE = "helm", "mcp-inspector", "chromium", "axe"
_MARKED = {*_FIXTURES, *(f"start_{name}" for name in _KINDS)}


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest) -> Neo4jServer:
    """The Neo4j of the run. It has one database: keep to a tenant of your own, or empty it."""
    return _shared(request, NEO4J)


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest) -> RedisServer:
    """The Redis of the run: keep to a database of your own, or flush it."""
    return _shared(request, REDIS)


@pytest.fixture(scope="session")
def qdrant_server(request: pytest.FixtureRequest) -> QdrantServer:
    """The Qdrant of the run: keep to collections of your own, and drop them."""
    return _shared(request, QDRANT)


@pytest.fixture
def start_neo4j(request: pytest.FixtureRequest) -> Iterator[Callable[[], Neo4jProcess]]:
    """Start a Neo4j of the test's own, to kill and restart."""
    with _private(request, NEO4J) as start:
        yield start


@pytest.fixture
def start_redis(request: pytest.FixtureRequest) -> Iterator[Callable[[], RedisProcess]]:
    """Start a Redis of the test's own, to kill and restart."""
    with _private(request, REDIS) as start:
        yield start


@pytest.fixture
def start_qdrant(request: pytest.FixtureRequest) -> Iterator[Callable[[], QdrantProcess]]:
    """Start a Qdrant of the test's own, to kill and restart."""
    with _private(request, QDRANT) as start:
        yield start


@pytest.fixture(scope="session")
def helm(request: pytest.FixtureRequest) -> str:
    """The path of helm, which renders the chart; no server."""
    try:
        return request.config.stash[_RUN].program(_HELM, "no helm; CONTRIBUTING.md says how to get it")
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def mcp_inspector(request: pytest.FixtureRequest) -> McpInspector:
    """The public MCP inspector; no server."""
    try:
        return request.config.stash[_RUN].fetched(_INSPECTOR, INSPECTOR)
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest) -> str:
    """The path of the machine's Chromium; no server."""
    try:
        return request.config.stash[_RUN].program(_CHROMIUM, "no chromium (Debian, Ubuntu: apt install chromium)")
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def axe(request: pytest.FixtureRequest) -> str:
    """The script of axe; no server."""
    try:
        return request.config.stash[_RUN].fetched(_AXE, AXE)
    except Missing as missing:
        pytest.skip(str(missing))


def stood_in(config: pytest.Config, server: str, what: str) -> None:
    """Have the end of the run say what tests ran on in place of a missing server."""
    config.stash[_RUN].stood_in(server, what)


def pytest_configure(config: pytest.Config) -> None:
    try:
        config.stash[_RUN] = Run(required([*_KINDS, _HELM, _INSPECTOR, _CHROMIUM, _AXE]))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    given = [kind.variable for kind in _KINDS.values() if os.environ.get(kind.variable)]
    if given and len(config.getoption("tx", default=None) or []) > 1:
        raise pytest.UsageError(f"{', '.join(given)}: two workers would empty each other's server; give -n 0")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUN in config.stash:
        config.stash[_RUN].close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whatever asks for a server, before ``-m`` selects."""
    for item in items:
        if _MARKED.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.servers)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Start what the test needs before its time runs: the first start may fetch a whole server."""
    for fixture in _FIXTURES.keys() & set(getattr(item, "fixturenames", ())):
        with suppress(Missing):
            item.config.stash[_RUN].shared(_FIXTURES[fixture])
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output[_TOLD] = session.config.stash[_RUN].told()
    if session.config.stash[_RUN].failed and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker of pytest-xdist has told; one that died, which fails the run, has told nothing."""
    if told := getattr(node, "workeroutput", {}).get(_TOLD):
        node.config.stash[_RUN].hear(told)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None, None, None]:
    """Say last where the servers came from and which was missing."""
    yield
    if report := list(config.stash[_RUN].report()):
        terminalreporter.section("servers")
        for line, markup in report:
            terminalreporter.write_line(line, **markup)


def _shared[H](request: pytest.FixtureRequest, kind: Kind[H]) -> H:
    try:
        return request.config.stash[_RUN].shared(kind)
    except Missing as missing:
        pytest.skip(str(missing))


@contextmanager
def _private[H](request: pytest.FixtureRequest, kind: Kind[H]) -> Iterator[Callable[[], ServerProcess[H]]]:
    started: list[ServerProcess[H]] = []

    def start() -> ServerProcess[H]:
        try:
            started.append(request.config.stash[_RUN].private(kind))
        except Missing as missing:
            pytest.skip(str(missing))
        return started[-1]

    yield start
    for process in started:
        process.close()
