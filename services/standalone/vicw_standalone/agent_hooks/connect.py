"""Connecting agents: which files of an agent get the hooks, the MCP server and the skill."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from vicw_core.hook_events import RECALLING
from vicw_standalone.agent_hooks.config_files import (
    FileChange,
    add_hooks,
    add_server,
    change_json,
    change_skill,
    change_toml,
    remove_hooks,
    remove_server,
)

SKILL = Path(__file__).with_name("plugin") / "skills" / "vicw" / "SKILL.md"
NOT_STORED = "* Nothing of a session is stored by itself: store what the user asks you to remember: tool `remember`.\n"
"""What the skill says of a plug-in, which has no hooks."""
STORED = (
    "* Sessions are stored by themselves. Store something extra if the user asks you to remember it: tool `remember`.\n"
)
_RECALL_SECONDS, _OFFLOAD_SECONDS = 5, 60
_WORKSPACE = "${workspaceFolder}"
"""What Cursor and VS Code replace by the folder that is open."""


class ConnectedAgent(StrEnum):
    """An agent whose files are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    VSCODE = "vscode"


HOOKS: dict[ConnectedAgent, dict[str, int]] = {
    ConnectedAgent.CLAUDE_CODE: {
        "SessionStart": _RECALL_SECONDS,
        "UserPromptSubmit": _RECALL_SECONDS,
        "PreCompact": _OFFLOAD_SECONDS,
        "SessionEnd": _OFFLOAD_SECONDS,
    },
    ConnectedAgent.CODEX: {
        "SessionStart": _RECALL_SECONDS,
        "UserPromptSubmit": _RECALL_SECONDS,
        "PreCompact": _OFFLOAD_SECONDS,
        "Stop": _OFFLOAD_SECONDS,
    },
}
"""The events of each agent that has hooks, with the seconds that the agent waits. Codex has none at a session's end."""


@dataclass(frozen=True, slots=True)
class AgentConnection:
    """What is connected: the path of ``vicw``, and what each of its commands is told.

    ``project``: the folder whose files are changed; None: those of the user. ``captures``: sessions are stored.
    """

    program: str
    project: Path | None = None
    context: str | None = None
    url: str | None = None
    captures: bool = True

    @property
    def options(self) -> list[str]:
        """The options of its commands."""
        named = (("--context", self.context), ("--url", self.url))
        return [word for option, value in named if value for word in (option, value)]


def connect(agent: ConnectedAgent, connection: AgentConnection) -> list[FileChange]:
    """Return the changes that connect an agent, whether it was connected before or not. Raises ConfigFileError."""
    return list(_changes(agent, connection, is_connecting=True))


def disconnect(agent: ConnectedAgent, project: Path | None) -> list[FileChange]:
    """Return the changes that remove what ``connect`` added. Raises ConfigFileError."""
    return list(_changes(agent, AgentConnection("vicw", project), is_connecting=False))


def _changes(agent: ConnectedAgent, connection: AgentConnection, *, is_connecting: bool) -> Iterator[FileChange]:
    mcp = [connection.program, "mcp", *connection.options] if is_connecting else None
    hooks = _hook_commands(agent, connection) if is_connecting else {}
    skill = _skill(connection) if is_connecting else None
    home, project = Path.home(), connection.project
    found: list[FileChange | None] = []
    match agent:
        case ConnectedAgent.CLAUDE_CODE:
            own = project / ".claude" if project else Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
            servers = project / ".mcp.json" if project else _claude_state(home)
            found = [
                change_json(own / "settings.json", partial(_set_hooks, commands=hooks)),
                change_json(servers, _set_server("mcpServers", mcp, {"type": "stdio"})),
                change_skill(own / "skills" / "vicw" / "SKILL.md", skill),
            ]
        case ConnectedAgent.CODEX:
            own = project / ".codex" if project else Path(os.environ.get("CODEX_HOME") or home / ".codex")
            found = [
                change_json(own / "hooks.json", partial(_set_hooks, commands=hooks)),
                change_toml(own / "config.toml", mcp),
                change_skill(own / "skills" / "vicw" / "SKILL.md", skill),
            ]
        case ConnectedAgent.CURSOR:  # it starts servers in the home folder, and knows no ``cwd``
            command = [*mcp, "--folder", _WORKSPACE] if mcp else None
            found = [change_json((project or home) / ".cursor" / "mcp.json", _set_server("mcpServers", command, {}))]
        case ConnectedAgent.VSCODE:
            path = (project or Path.cwd()) / ".vscode" / "mcp.json"
            found = [change_json(path, _set_server("servers", mcp, {"type": "stdio", "cwd": _WORKSPACE}))]
    yield from filter(None, found)


def _skill(connection: AgentConnection) -> str:
    """Return the skill's text, which says whether sessions are stored by themselves."""
    text = SKILL.read_text("utf-8")
    return text.replace(NOT_STORED, STORED) if connection.captures else text


def _claude_state(home: Path) -> Path:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(folder) / ".claude.json" if folder else home / ".claude.json"


def _hook_commands(agent: ConnectedAgent, connection: AgentConnection) -> dict[str, tuple[str, int]]:
    words = [connection.program, "hook", agent.value, *connection.options]
    events = HOOKS.get(agent, {})
    wanted = [event for event in events if connection.captures or event in RECALLING]
    return {event: (shlex.join(words), events[event]) for event in wanted}


def _set_hooks(values: dict[str, Any], commands: dict[str, tuple[str, int]]) -> None:
    remove_hooks(values)
    if commands:
        add_hooks(values, commands)


def _set_server(key: str, command: list[str] | None, kind: dict[str, str]) -> Callable[[dict[str, Any]], None]:
    def change(values: dict[str, Any]) -> None:
        remove_server(values, key)
        if command is not None:
            add_server(values, key, {**kind, "command": command[0], "args": command[1:]})

    return change
