"""Which project ``vicw mcp`` finds, as each agent starts the entry that ``vicw connect`` has written for it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from support.clients.mcp_client import call, refused, succeeded
from support.clients.served import serve
from support.processes.server import VICW, environment
from support.stores.memory import Memory, open_memory
from vicw_standalone.agent_hooks.connect import AgentConnection, ConnectedAgent, connect
from vicw_standalone.app import create_standalone_app

QUESTION: dict[str, Any] = {"query": "When does the ferry to Sunde leave?"}
FERRY = "> The ferry to Sunde leaves at seven."
WORKSPACE = "${workspaceFolder}"


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store) as opened:
        await opened.ingest({"id": "n1", "text": "The ferry to Sunde leaves at seven."}, context="app")
        yield opened


@pytest.fixture
async def url(memory: Memory) -> AsyncIterator[str]:
    async with serve(create_standalone_app(memory.standalone)) as address:
        yield address


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with the checkout ``work/app``, and ``work/plain`` beside it."""
    for folder in (".git", "src"):
        (tmp_path / "work/app" / folder).mkdir(parents=True)
    (tmp_path / "work/plain").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def entry(agent: ConnectedAgent, url: str) -> dict[str, Any]:
    """Return what ``vicw connect`` writes for an agent: command, arguments, perhaps a folder and variables."""
    changes = connect(agent, AgentConnection(str(VICW), url=url))
    text = next(one.after for one in changes if one.path.name in {"mcp.json", ".claude.json", "config.toml"})
    values: dict[str, Any] = tomllib.loads(text or "") if agent is ConnectedAgent.CODEX else json.loads(text or "")
    (servers,) = (values[key] for key in ("mcpServers", "servers", "mcp_servers") if key in values)
    found: dict[str, Any] = servers["vicw"]
    return found


def started(
    home: Path, agent: ConnectedAgent, url: str, *, workspace: str, cwd: Path, **variables: str
) -> StdioServerParameters:
    """Start an agent's entry as the agent does, with its word for the folder replaced; in ``cwd`` if none is set."""
    given = entry(agent, url)
    arguments = [argument.replace(WORKSPACE, workspace) for argument in given["args"]]
    own = given.get("cwd", str(cwd)).replace(WORKSPACE, workspace)
    env = environment(home, HOME=str(home), **variables)
    return StdioServerParameters(command=given["command"], args=arguments, env=env, cwd=own)


@pytest.mark.parametrize("agent", ConnectedAgent)
async def test_every_agent_gets_the_project_that_is_open(
    home: Path, url: str, memory: Memory, agent: ConnectedAgent
) -> None:
    await memory.ingest({"id": "o1", "text": "The ferry to Sunde was sold."}, context="other")
    project = home / "work/app"
    starts_in = {ConnectedAgent.CURSOR: home, ConnectedAgent.VSCODE: home, ConnectedAgent.CLAUDE_CODE: Path("/")}
    variables = {"CLAUDE_PROJECT_DIR": str(project / "src")} if agent is ConnectedAgent.CLAUDE_CODE else {}
    command = started(home, agent, url, workspace=str(project), cwd=starts_in.get(agent, project / "src"), **variables)
    async with Client(command) as client:
        found = await succeeded(client, "recall", **QUESTION)
        assert found.startswith('<memories scope="app"') and FERRY in found and "sold" not in found
        assert "Scope: app. Remembered" in await succeeded(client, "remember", text="The pump is new.")


@pytest.mark.parametrize("workspace", [WORKSPACE, "HOME", "/", "work/plain", "gone", ""])
async def test_without_a_project_nothing_is_read_or_written_but_what_is_named(
    home: Path, url: str, memory: Memory, workspace: str
) -> None:
    await memory.ingest({"id": "o1", "text": "The ferry to Sunde was sold."}, context="other")
    folder = {WORKSPACE: WORKSPACE, "HOME": str(home), "/": "/", "": ""}.get(workspace, str(home / workspace))
    command = started(home, ConnectedAgent.CURSOR, url, workspace=folder, cwd=home)
    async with Client(command) as client:
        calls: dict[str, dict[str, Any]] = {
            "recall": QUESTION,
            "trace": {"of": "n1"},
            "remember": {"text": "The pump is new."},
            "retract": {"ids": ["n1"]},
        }
        for tool, arguments in calls.items():
            answer = await refused(client, tool, **arguments)
            assert "context: is missing: this connection belongs to no project" in answer
            assert "Name one of 'app', 'other'" in answer
            assert "ferry" not in answer
        status = await call(client, "memory_status")
        assert status.structured_content is not None and "scope" not in status.structured_content
        assert status.structured_content["contexts"] == {"app": 1, "other": 1}
        assert status.structured_content["text"].startswith("Scope: none, so each call names a context.")
        assert FERRY in await succeeded(client, "recall", **QUESTION, context="app")
        assert "Scope: other. Remembered" in await succeeded(client, "remember", text="It is sold.", context="other")
        assert 'scope="all contexts"' in await succeeded(client, "recall", **QUESTION, context="*")


async def test_without_a_project_the_only_context_is_meant_and_named(home: Path, url: str) -> None:
    command = started(home, ConnectedAgent.CURSOR, url, workspace=WORKSPACE, cwd=home)
    async with Client(command) as client:
        assert (await succeeded(client, "recall", **QUESTION)).startswith('<memories scope="app"')
        assert "Scope: app. Rights: " in await succeeded(client, "memory_status")


async def test_a_named_context_comes_before_the_project(home: Path, url: str, memory: Memory) -> None:
    await memory.ingest({"id": "o1", "text": "The ferry to Sunde was sold."}, context="other")
    inside, env = home / "work/app", environment(home, HOME=str(home), VICW_CONTEXT="quay")
    arguments = ["mcp", "--url", url, "--folder", str(inside)]
    for more, scope in ([], "quay"), (["--context", "other"], "other"):
        command = StdioServerParameters(command=str(VICW), args=[*arguments, *more], env=env, cwd=str(inside))
        async with Client(command) as client:
            assert f"Scope: {scope}." in await succeeded(client, "memory_status")


async def test_a_relative_folder_is_one_of_the_working_directory(home: Path, url: str) -> None:
    env = environment(home, HOME=str(home))
    command = StdioServerParameters(
        command=str(VICW), args=["mcp", "--url", url, "--folder", "app"], env=env, cwd=str(home / "work")
    )
    async with Client(command) as client:
        assert "Scope: app." in await succeeded(client, "memory_status")
