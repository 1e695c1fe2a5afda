"""Model of chats with assistants: a conversation of turns, whatever the format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, Refused, SourceItem, bounded_id, bounded_name
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


@dataclass(slots=True)
class ConversationFlow:
    """Makes items of the turns of one conversation, one after the other; a turn without a time has the previous one's.

    ``context`` is the default of the format, so that exports of different times share it.
    """

    source: SourceFile
    id: str
    title: str | None
    context: str | None
    time: datetime | None = None
    step: int = 0

    def __post_init__(self) -> None:
        if self.title is not None and self.title.strip().lower() in _NO_TITLE:
            self.title = None

    def id_of(self, turn: ConversationTurn, step: int) -> str:
        """Return the id of a turn: its own, else the conversation's with its place."""
        return bounded_id(turn.id or f"{self.id}#{step}")

    def record(self, turn: ConversationTurn) -> SourceItem | Refused:
        """Return the item of the next turn, which has text, or a refusal."""
        self.time = turn.timestamp or self.time
        attached = {"attachments": list(turn.attachments)} if turn.attachments else {}
        record = self.source.item(
            {
                "id": self.id_of(turn, self.step),
                "text": turn.full_text,
                "subtype": turn.subtype,
                "name": bounded_name(turn.name or self.title or ""),
                "speaker": turn.speaker,
                "timestamp": self.time,
                "flow_id": bounded_id(self.id),
                "flow_step": self.step,
                "source": self.source.reader.name if self.source.reader else None,
                "metadata": {**turn.metadata, **attached},
            },
            usual_context=self.context,
        )
        self.step += 1
        return record


def records_of(source: SourceFile, conversation: Conversation, context: str | None) -> Iterator[Record]:
    """Yield the turns as items of one flow. ``context`` is the default of the format."""
    flow = ConversationFlow(source, conversation.id, conversation.title, context, conversation.started_at)
    spoken = [turn for turn in conversation.turns if turn.full_text]
    all_ids = frozenset(flow.id_of(turn, step) for step, turn in enumerate(spoken))
    for turn in spoken:
        is_first = flow.step == 0
        record = flow.record(turn)
        if conversation.is_whole and is_first and isinstance(record, SourceItem):
            yield replace(record, flow_ids=all_ids)
        else:
            yield record


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
