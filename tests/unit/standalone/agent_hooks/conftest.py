"""A server with hooks, and agents of two projects."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from support.clients.hooks import Hooks, connected
from support.stores.memory import Memory


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
