"""Subagents: which session a line is of, who speaks in it, and what started it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from vicw_readers.assistants.agents.transcript import (
    ASSISTANT,
    CODEX,
    TranscriptLine,
    TranscriptReader,
    TranscriptTurn,
)
from vicw_readers.intake.source_file import SourceFile

SIDECAR = ".meta.json"
"""End of the name of the file in which Claude Code says what it started a subagent for."""
_UNNAMED = "subagent"
_MAX_SIDECAR_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class AgentFlow:
    """The session of an agent: its id, who answers in it, and of a subagent what started it.

    ``parent`` is the flow of the agent that started it, ``call`` the id of its tool call.
    """

    id: str
    speaker: str = ASSISTANT
    parent: str | None = None
    call: str | None = None

    def says(self, turn: TranscriptTurn) -> str:
        """Return who speaks: it is the parent, no user, that gives a subagent its task."""
        if self.parent is None:
            return turn.speaker
        return self.speaker if turn.speaker == ASSISTANT else ASSISTANT

    @property
    def origin(self) -> dict[str, str]:
        """What the metadata of an item say of the parent; empty for a session of its own."""
        links = {"parent_flow": self.parent, "parent_call": self.call}
        return {name: value for name, value in links.items() if value}


@dataclass(slots=True)
class AgentFlows:
    """The flows of one file: the session's own, and those of subagents whose lines it has."""

    reader: TranscriptReader
    sidecar: Mapping[str, Any] = field(default_factory=dict)
    _by_agent: dict[str, AgentFlow] = field(default_factory=dict)
    _roots: dict[str, str] = field(default_factory=dict)
    _codex: AgentFlow | None = None

    def of(self, line: TranscriptLine) -> AgentFlow:
        """Return the flow of a line. The lines of one subagent may name it, or only follow each other."""
        session = self.reader.own_session or self.reader.session
        if self.reader.agent == CODEX:
            if self._codex is None or self._codex.id != session:
                self._codex = _codex_flow(session, line.fields.get("payload"))
            return self._codex
        if not line.is_of_subagent:
            return AgentFlow(session)
        agent = line.fields.get("agentId")
        if not isinstance(agent, str) or not agent:
            own, before = (str(line.fields.get(key) or "") for key in ("uuid", "parentUuid"))
            agent = self._roots[own] = self._roots.get(before) or own
        if agent not in self._by_agent:
            self._by_agent[agent] = self._subagent(session, agent, line.fields)
        return self._by_agent[agent]

    def _subagent(self, session: str, agent: str, fields: Mapping[str, Any]) -> AgentFlow:
        kinds = (self.sidecar.get("agentType"), fields.get("attributionAgent"), fields.get("agentType"))
        kind = next((one for one in kinds if isinstance(one, str) and one), _UNNAMED)
        nested, call = self.sidecar.get("parentAgentId"), self.sidecar.get("toolUseId")
        parent = subagent_flow(session, nested) if isinstance(nested, str) and nested else session
        return AgentFlow(subagent_flow(session, agent), kind, parent, call if isinstance(call, str) else None)


def subagent_flow(session: str, agent: str) -> str:
    """Return the flow of a subagent of Claude Code, whose ids are unique in its session alone."""
    return f"{session}/agent-{agent}"


def is_sidecar(source_name: str) -> bool:
    """Return whether a file is called like what Claude Code says of a subagent."""
    base = PurePosixPath(source_name).name
    return base.startswith("agent-") and base.endswith(SIDECAR)


def sidecar_of(source: SourceFile) -> dict[str, Any]:
    """Return what stands beside a subagent's session about it; empty if nothing does, or it cannot be read."""
    found = source.beside(f"{source.stem}{SIDECAR}")
    if found is None:
        return {}
    try:
        with found.open() as file:
            value = json.loads(file.read(_MAX_SIDECAR_BYTES))
    except (ValueError, RecursionError, OSError):
        return {}
    return value if isinstance(value, dict) else {}


def _codex_flow(session: str, payload: object) -> AgentFlow:
    """Return the flow of a session of Codex; its first line names the parent at one place or the other."""
    fields = payload if isinstance(payload, dict) else {}
    source = fields.get("source")
    sub = source.get("subagent") if isinstance(source, dict) else None
    spawn = sub.get("thread_spawn") if isinstance(sub, dict) else None
    places = (fields, spawn if isinstance(spawn, dict) else {})
    parent = next((found for one in places if isinstance(found := one.get("parent_thread_id"), str) and found), None)
    roles = (one.get(key) for key in ("agent_role", "agent_nickname") for one in reversed(places))
    role = next((one for one in roles if isinstance(one, str) and one), _UNNAMED)
    return AgentFlow(session, role, parent) if parent and parent != session else AgentFlow(session)
