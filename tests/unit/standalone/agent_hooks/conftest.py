"""A server with hooks, and agents of two projects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from support.clients.hook_command import Requests, recording_server
from support.clients.hooks import Hooks, connected
from support.stores.memory import Memory
from vicw_stores.data_dir import DataDir


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Claude Code's transcripts."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path / "claude" / "projects" / "-work-alpha"


@pytest.fixture
async def http(memory: Memory) -> AsyncIterator[httpx.AsyncClient]:
    async with connected(memory) as client:
        yield client


@pytest.fixture
def alpha(http: httpx.AsyncClient, tmp_path: Path) -> Hooks:
    folder = tmp_path / "alpha"
    (folder / ".git").mkdir(parents=True)
    return Hooks(http, folder)


@pytest.fixture
def beta(http: httpx.AsyncClient, tmp_path: Path) -> Hooks:
    folder = tmp_path / "beta"
    (folder / ".git").mkdir(parents=True)
    return Hooks(http, folder)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is a project, no server has the data directory open, and none is named."""
    (tmp_path / ".git").mkdir()
    for name in ("VICW_URL", "VICW_RETRIEVE_URL", "VICW_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VICW_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def requests() -> Iterator[Requests]:
    """A server that records what it is sent."""
    with recording_server() as seen:
        yield seen


@pytest.fixture
def own_server(tmp_path: Path, requests: Requests) -> Iterator[DataDir]:
    """The data directory of this user, which the server has open."""
    with DataDir(tmp_path / "data") as opened:
        opened.record_address(requests.url)
        yield opened
