"""Reader of agents' session transcripts, as their hooks read them: the same turns, with the same ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from vicw_core.project_context import folder_context
from vicw_readers.assistants.agents.transcript import TranscriptReader
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import NothingToReadError, Record, bounded_id


class AgentSessionReader:
    """Session logs of Claude Code and of Codex."""

    name = "agent-session"
    title = "session of Claude Code or Codex"
    files = ("~/.claude/projects/*/*.jsonl", "~/.codex/sessions/**/rollout-*.jsonl")
    keeps = "what user and assistant said, and when; a session is a flow"
    leaves = "tool calls, thinking, what the agent wrote for itself"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether one of the first lines is of a session."""
        return any(map(_is_of_session, start.objects))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns of a session."""
        return read_session(source)


def read_session(source: SourceFile) -> Iterator[Record]:
    """Yield the turns as items of one flow, the session. The usual context is the project's, as of hooks.

    A line that cannot be read is refused alone.
    """
    reader = TranscriptReader(PurePath(source.name).stem)
    with source.open() as file:
        turns = list(reader.read(file))
    for number, reason in reader.unread:
        yield source.refuse(reason, number)
    if not turns and not reader.unread:
        raise NothingToReadError("is a session in which nobody says anything")
    for turn in turns:
        yield source.item(
            {
                "id": bounded_id(turn.id),
                "text": turn.text,
                "subtype": "message",
                "speaker": turn.speaker,
                "timestamp": turn.timestamp,
                "flow_id": bounded_id(reader.own_session or reader.session),
                "source": reader.agent,
            },
            usual_context=folder_context(reader.folder) if reader.folder else None,
        )


def _is_of_session(line: dict[str, Any]) -> bool:
    is_claude = line.get("type") in ("user", "assistant") and isinstance(line.get("sessionId"), str)
    return is_claude or (line.get("type") == "session_meta" and isinstance(line.get("payload"), dict))
