"""Reader of agents' session transcripts, as their hooks read them: the same turns, with the same ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath

from vicw_standalone.agent_hooks.project import project_context
from vicw_standalone.agent_hooks.transcript import TranscriptReader
from vicw_standalone.sources.records import NothingToReadError, Record, SourceFile, bounded_id

_SNIFFED_LINES, _SNIFFED_BYTES = 20, 1024 * 1024


def looks_like_session(source: SourceFile) -> bool:
    """Return whether a file of JSON Lines is a transcript of Claude Code or Codex, by its first lines."""
    with source.path.open("rb") as file:
        lines = file.readlines(_SNIFFED_BYTES)[:_SNIFFED_LINES]
    return any(map(_is_of_session, lines))


def read_session(source: SourceFile) -> Iterator[Record]:
    """Yield the turns as items of one flow, the session. The usual context is the project's, as of hooks.

    A line that cannot be read is refused alone.
    """
    reader = TranscriptReader(PurePath(source.name).stem)
    with source.path.open("rb") as file:
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
            usual_context=project_context(reader.folder) if reader.folder else None,
        )


def _is_of_session(raw: bytes) -> bool:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    if not isinstance(line, dict):
        return False
    is_claude = line.get("type") in ("user", "assistant") and isinstance(line.get("sessionId"), str)
    return is_claude or (line.get("type") == "session_meta" and isinstance(line.get("payload"), dict))
