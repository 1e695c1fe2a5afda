"""Reader of agents' session transcripts: the turns as hooks read them, with the same ids, and what hooks leave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from vicw_core.project_context import folder_context
from vicw_readers.assistants.agents.muted_flows import UNCHECKED, MutedFlows
from vicw_readers.assistants.agents.subagents import (
    SIDECAR,
    AgentFlow,
    AgentFlows,
    is_sidecar,
    sidecar_of,
    subagent_flow,
)
from vicw_readers.assistants.agents.tool_calls import ToolCall, ToolCalls
from vicw_readers.assistants.agents.transcript import CODEX, TranscriptReader, TranscriptTurn
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import NothingToReadError, Record, bounded_id
from vicw_shared.wire.ingest import Tier

_CLAUDE_LINES = frozenset(
    {"user", "assistant", "system", "attachment", "progress", "queue-operation", "permission-mode", "last-prompt"}
)
TOOLS = "#tools"
"""End of the flow of a session's tool calls: in the session's own they would stand between question and answer."""


class AgentSessionReader:
    """Session logs of Claude Code and of Codex."""

    name = "agent-session"
    title = "session of Claude Code or Codex"
    files = ("~/.claude/projects/**/*.jsonl", "~/.codex/sessions/**/rollout-*.jsonl")
    keeps = (
        "what user and assistant said, and when; a session is a flow, each subagent's too; "
        "tool calls in a flow of their own, 2,000 characters each of what goes in and comes out"
    )
    leaves = "thinking, what the agent wrote for itself, the rest of long results, pictures"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether one of the first lines is of a session, or the file says what a subagent is."""
        session = PurePath(start.name).name.removesuffix(SIDECAR) + ".jsonl"
        return (is_sidecar(start.name) and start.has_beside(session)) or any(map(_is_of_session, start.objects))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns and tool calls of a session."""
        if is_sidecar(source.name):
            raise NothingToReadError("says what a subagent is, whose session stands beside it")
        return read_session(source)


def read_session(source: SourceFile) -> Iterator[Record]:
    """Yield turns and tool calls as items. The usual context is the project's, as of hooks.

    Turns are of the session's flow, or a subagent's; tool calls are of another one beside it. A line that cannot be
    read is refused alone.
    """
    reader = TranscriptReader(PurePath(source.name).stem)
    flows, muted, calls = AgentFlows(reader, sidecar_of(source)), MutedFlows(source, reader), ToolCalls()
    last: dict[str, str] = {}
    is_empty, is_passed_over, refused = True, False, 0
    with source.open() as file:
        for line in reader.lines(file):
            for number, reason in reader.unread[refused:]:
                yield source.refuse(reason, number)
            refused = len(reader.unread)
            flow = flows.of(line)
            if muted.has(line, flow):
                is_passed_over = True
                continue
            if line.turn is not None:
                yield _turn(source, reader, line.turn, flow, is_first=flow.id not in last)
                last[flow.id] = line.turn.id
                is_empty = False
            for call in calls.of_line(line, flow.id, last.get(flow.id)):
                yield _call(source, reader, call)
                is_empty = False
    for number, reason in reader.unread[refused:]:
        yield source.refuse(reason, number)
    for call in calls.without_result():
        yield _call(source, reader, call)
        is_empty = False
    if muted.is_unchecked:
        yield source.note(UNCHECKED)
    if is_empty and is_passed_over:
        raise NothingToReadError("is of a subagent whose prompt is not to be stored")
    if is_empty and not reader.unread:
        raise NothingToReadError("is a session in which nobody says anything")


def _turn(
    source: SourceFile, reader: TranscriptReader, turn: TranscriptTurn, flow: AgentFlow, *, is_first: bool
) -> Record:
    fields = {
        "id": bounded_id(turn.id),
        "text": turn.text,
        "subtype": "message",
        "speaker": flow.says(turn),
        "timestamp": turn.timestamp,
        "flow_id": bounded_id(flow.id),
        "metadata": flow.origin if is_first else {},
    }
    return _item(source, reader, fields)


def _call(source: SourceFile, reader: TranscriptReader, call: ToolCall) -> Record:
    is_codex = reader.agent == CODEX
    started = call.subagent and (call.subagent if is_codex else subagent_flow(_session(reader), call.subagent))
    links = {"flow": call.flow, "turn": call.turn, "subagent_flow": started, "failed": call.has_failed or None}
    fields = {
        "id": bounded_id(f"{_session(reader)}:{call.id}" if is_codex else call.id),
        "text": call.text,
        "subtype": "tool_call",
        "name": call.tool,
        "timestamp": call.timestamp,
        "flow_id": bounded_id(f"{call.flow}{TOOLS}"),
        "importance": Tier.TEMPORARY,
        "metadata": {name: value for name, value in links.items() if value is not None},
    }
    return _item(source, reader, fields, line=call.line)


def _item(source: SourceFile, reader: TranscriptReader, fields: dict[str, Any], line: int | None = None) -> Record:
    return source.item({**fields, "source": reader.agent}, line=line, usual_context=_context(reader.folder))


def _context(folder: str | None) -> str | None:
    """Return the context of a session's folder: its own name where it is no checkout, or is none any more."""
    if not folder or Path(folder) == Path.home():
        return None
    return folder_context(folder) or Path(folder).name


def _session(reader: TranscriptReader) -> str:
    return reader.own_session or reader.session


def _is_of_session(line: dict[str, Any]) -> bool:
    is_claude = str(line.get("type")) in _CLAUDE_LINES and isinstance(line.get("sessionId"), str)
    return is_claude or (line.get("type") == "session_meta" and isinstance(line.get("payload"), dict))
