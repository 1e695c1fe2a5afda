"""Model of chats with assistants: a conversation of turns, whatever the format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, SourceItem, bounded_id, bounded_name
from vicw_shared.text import visible

_NO_TITLE = {"new chat", "untitled", "new conversation"}
_MILLISECONDS = 1e11
"""A Unix time above is one in milliseconds: as seconds it would be in the year 5138."""


class UnknownShapeError(Exception):
    """A conversation that lacks fields of its format."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One message, or a document that was made or attached in its place; ``text`` may be blank.

    ``id`` None: the conversation's, with the number of the turn. ``attachments`` are names of files.
    """

    id: str | None
    speaker: str
    text: str
    timestamp: datetime | None
    subtype: str = "message"
    name: str | None = None
    attachments: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def full_text(self) -> str:
        """The text, with the names of the attached files below it."""
        named = f"[attached: {', '.join(self.attachments)}]" if self.attachments else ""
        return "\n\n".join(part for part in (self.text if visible(self.text) else "", named) if part)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns that the user last saw, in order. ``is_whole``: there are no others; what else is stored is past."""

    id: str
    title: str | None
    started_at: datetime | None
    turns: tuple[ConversationTurn, ...]
    is_whole: bool = True


def records_of(source: SourceFile, conversation: Conversation, context: str | None) -> Iterator[Record]:
    """Yield the turns as items of one flow; a turn without a time gets that of the previous turn.

    ``context`` is the default of the format, so that exports of different times share it.
    """
    title = conversation.title
    if title is not None and title.strip().lower() in _NO_TITLE:
        title = None
    timestamp = conversation.started_at
    spoken = [turn for turn in conversation.turns if turn.full_text]
    ids = [bounded_id(turn.id or f"{conversation.id}#{step}") for step, turn in enumerate(spoken)]
    all_ids = frozenset(ids) if conversation.is_whole else None
    for step, (turn, item_id) in enumerate(zip(spoken, ids, strict=True)):
        timestamp = turn.timestamp or timestamp
        attached = {"attachments": list(turn.attachments)} if turn.attachments else {}
        record = source.item(
            {
                "id": item_id,
                "text": turn.full_text,
                "subtype": turn.subtype,
                "name": bounded_name(turn.name or title or ""),
                "speaker": turn.speaker,
                "timestamp": timestamp,
                "flow_id": bounded_id(conversation.id),
                "flow_step": step,
                "source": source.reader.name if source.reader else None,
                "metadata": {**turn.metadata, **attached},
            },
            usual_context=context,
        )
        yield replace(record, flow_ids=all_ids) if isinstance(record, SourceItem) and step == 0 else record


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


def newest(times: Mapping[str, datetime | None]) -> str | None:
    """Return the id with the latest time, of equal ones the last; without any time the last id, None without ids."""
    dated = {node: (time, n) for n, (node, time) in enumerate(times.items()) if time}
    return max(dated, key=lambda node: dated[node], default=next(reversed(list(times)), None))


def digest(*parts: str) -> str:
    """Return what stands for texts in an id, in 16 hex digits."""
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def dig(value: object, *keys: str) -> object:
    """Follow ``keys`` into nested JSON objects; None if one is missing or not an object."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def list_in(value: object, *keys: str) -> list[Any]:
    """Return the list at ``keys``, or an empty one."""
    found = dig(value, *keys)
    return found if isinstance(found, list) else []


def text_in(value: object, *keys: str) -> str | None:
    """Return the non-empty text at ``keys``, or None."""
    text = dig(value, *keys)
    return text if isinstance(text, str) and text else None


def texts_in(values: Sequence[object], *keys: str) -> tuple[str, ...]:
    """Return the texts at ``keys`` of each value that has one."""
    return tuple(text for value in values if (text := text_in(value, *keys)))


def time_in(value: object, *keys: str) -> datetime | None:
    """Return the time at ``keys``, from Unix time or ISO 8601 text (UTC without a zone), or None."""
    given = dig(value, *keys)
    try:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return datetime.fromtimestamp(given / 1000 if abs(given) > _MILLISECONDS else given, UTC)
        if isinstance(given, str):
            when = datetime.fromisoformat(given)
            return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
