"""Model of chat exports: a conversation of turns, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, bounded_id, bounded_name
from vicw_shared.text import visible

_NO_TITLE = {"new chat", "untitled", "new conversation"}


class UnknownShapeError(Exception):
    """A conversation that lacks fields of its format."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One message; ``text`` may be blank if it was only a picture or a tool call."""

    id: str | None
    speaker: str
    text: str
    timestamp: datetime | None
    subtype: str = "message"
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns that the user last saw, in order."""

    id: str
    title: str | None
    started_at: datetime | None
    turns: tuple[ConversationTurn, ...]


def records_of(source: SourceFile, conversation: Conversation, context: str) -> Iterator[Record]:
    """Yield the turns as items of one flow; a turn without a time gets that of the previous turn.

    ``context`` is the default of the format, so that exports of different times share it.
    """
    title = conversation.title
    if title is not None and title.strip().lower() in _NO_TITLE:
        title = None
    timestamp = conversation.started_at
    spoken = (turn for turn in conversation.turns if visible(turn.text))
    for step, turn in enumerate(spoken):
        timestamp = turn.timestamp or timestamp
        yield source.item(
            {
                "id": bounded_id(turn.id or f"{conversation.id}#{step}"),
                "text": turn.text,
                "subtype": turn.subtype,
                "name": bounded_name(turn.name or title or ""),
                "speaker": turn.speaker,
                "timestamp": timestamp,
                "flow_id": bounded_id(conversation.id),
                "flow_step": step,
                "source": bounded_id(source.name),
            },
            usual_context=context,
        )


def thread(leaf: str, parents: Mapping[str, str | None]) -> list[str]:
    """Return the ids from the root to ``leaf``; a missing parent or a loop ends the path."""
    branch: list[str] = []
    seen: set[str] = set()
    node: str | None = leaf
    while node is not None and node in parents and node not in seen:
        seen.add(node)
        branch.append(node)
        node = parents[node]
    return branch[::-1]


def dig(value: object, *keys: str) -> object:
    """Follow ``keys`` into nested JSON objects; None if one is missing or not an object."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_in(value: object, *keys: str) -> str | None:
    """Return the non-empty text at ``keys``, or None."""
    text = dig(value, *keys)
    return text if isinstance(text, str) and text else None


def time_in(value: object, *keys: str) -> datetime | None:
    """Return the time at ``keys``, from Unix seconds or ISO 8601 text (UTC without a zone), or None."""
    given = dig(value, *keys)
    try:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return datetime.fromtimestamp(given, UTC)
        if isinstance(given, str):
            when = datetime.fromisoformat(given)
            return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
