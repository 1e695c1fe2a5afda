from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from support.processes.server import Server, await_indexed, require_clean, temporary_directory

type Serve = Callable[..., Server]

_SHARED: list[Server] = []
"""The server that all tests of this process share, while it should run."""


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for models: the default model is not in it, but in its package."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def server(models_dir: Path) -> Iterator[Server]:
    """One server for all tests that leave it running; its store must be clean in the end."""
    with temporary_directory() as directory:
        running = Server(directory / "data", models_dir)
        running.start()
        _SHARED.append(running)
        try:
            yield running
            await_indexed(running)  # what the last test stored without waiting for it
        finally:
            _SHARED.clear()
            code = running.stop(within=15)
        assert code == 0
        require_clean(running)


@pytest.fixture(autouse=True)
def lives() -> Iterator[None]:
    """The server that all share outlives each test; where it does not, its own words are the failure, once."""
    yield
    for shared in [one for one in _SHARED if not one.running()]:
        _SHARED.remove(shared)
        pytest.fail(f"the server ended with {shared.wait()}; its log:\n{_last_words(shared.log)}", pytrace=False)


def _last_words(log: str) -> str:
    """The end of a log, or, of a crash in native code, what crashed: the stack of the thread that did comes first."""
    before, fatal, stacks = log.rpartition("Fatal Python error")
    current = stacks.find("Current thread")
    return before[-1000:] + fatal + stacks[:200] + "\n" + stacks[current : current + 4000] if fatal else log[-3000:]


@pytest.fixture(scope="session")
def http(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def serve(models_dir: Path) -> Iterator[Serve]:
    """Make a server of the test's own, over a data directory of its own or the one given."""
    made: list[Server] = []
    with temporary_directory() as directory:

        def make(data_dir: Path | None = None, **variables: str) -> Server:
            server = Server(data_dir or directory / "data", models_dir, **variables)
            made.append(server)
            return server

        yield make
        for server in made:
            server.kill()
