"""From the messages of a chat to items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from vicw_readers.intake.source_file import SourceFile
from vicw_readers.people.message import Assumed, ChatMessage, ChatRecord, Unread
from vicw_readers.records import Record, bounded_id, bounded_name, some_of
from vicw_shared.text import visible


def records_of(source: SourceFile, found: Iterable[ChatRecord], product: str, context: str) -> Iterator[Record]:
    """Yield the items of messages, and refusals of what could not be read. ``product`` is the items' source.

    Messages have no title, since a title would be searched in place of the speaker; the chat's is a tag. Their order
    in the flow is that of their times, since a step would change with an export that begins later.
    """
    for one in found:
        match one:
            case ChatMessage():
                yield source.item(_fields(source, one, product), line=one.line, usual_context=context)
            case Unread(line, reason):
                yield source.refuse(reason, line)
            case Assumed(what):
                yield source.note(what)


def _fields(source: SourceFile, message: ChatMessage, product: str) -> dict[str, Any]:
    timestamp, edited_at = message.timestamp, message.edited_at
    if timestamp is not None and timestamp.tzinfo is None:
        timestamp = timestamp.replace(tzinfo=source.options.timezone)
    if edited_at is not None and edited_at.tzinfo is None:
        edited_at = edited_at.replace(tzinfo=source.options.timezone)
    chat = bounded_id(message.chat) if message.chat and visible(message.chat) else None
    metadata = {
        "chat": chat,
        "attachments": some_of(message.attachments),
        "reply_to": bounded_id(message.reply_to) if message.reply_to else None,
        "edited_at": edited_at.isoformat() if edited_at else None,
        "edited": message.is_edited or edited_at is not None,
        **message.more,
    }
    return {
        "id": bounded_id(message.id),
        "text": message.text,
        "subtype": message.kind.value,
        "speaker": _name(message.speaker) if message.speaker is not None else None,
        "timestamp": timestamp,
        "flow_id": bounded_id(message.flow),
        "tags": (chat,) if chat else (),
        "source": product,
        "metadata": {key: value for key, value in metadata.items() if value},
    }


def _name(speaker: str) -> str:
    """Return a speaker's name within the limits of an item. Some have one of blanks alone, or a text in its place."""
    return (bounded_name(speaker) if visible(speaker) else None) or "unknown"
