"""Reader of the JSON of DiscordChatExporter: a file is a channel or a thread. Checked against its version 2.46."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import JsonCursor
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, Unread, with_attachments
from vicw_readers.records import Record, UnreadableFileError
from vicw_shared.text import visible

_SPOKEN = {"Default", "Reply", "0", "19", "ChatInputCommand", "20", "ContextMenuCommand", "23", "ThreadStarterMessage"}
"""Types of messages that somebody wrote; all others are the app's own."""
_MENTION = re.compile(r"<@!?(\d+)>")
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


class DiscordReader:
    """A channel of Discord, exported as JSON by DiscordChatExporter."""

    name = "discord"
    title = "Discord export"
    files = ("* [*].json",)
    keeps = "speaker, time and text, replies, forwards, edits, names of attachments; joins and the like as notices"
    leaves = "attachments, reactions, roles; exports as HTML, text and CSV"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether a JSON object has a guild, a channel and messages."""
        first = next(iter(start.objects), {})
        return isinstance(first.get("guild"), dict) and isinstance(first.get("channel"), dict)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the messages as items of one flow, the channel."""
        from vicw_readers.people.records import records_of

        with source.open() as file:
            yield from records_of(source, discord_messages(file), self.name, "Discord")


def discord_messages(file: BinaryIO) -> Iterator[ChatRecord]:
    """Yield the messages of a channel; of a cut file, those before the cut."""
    cursor = JsonCursor(file)
    about: dict[str, Any] = {}
    try:
        for key in cursor.members():
            if key != "messages" or cursor.peek() != "[":
                about[key] = cursor.value()
                continue
            for _ in cursor.elements():
                cursor.peek()
                line = cursor.line
                value = cursor.value()
                try:
                    message = discord_message(value, about, line)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    yield Unread(line, f"is no message of Discord: {error!r}")
                    continue
                if message is not None:
                    yield message
    except UnreadableFileError as error:
        yield Unread(error.line, error.reason)


def discord_message(value: dict[str, Any], about: dict[str, Any], line: int | None = None) -> ChatMessage | None:
    """Return a message of a channel, or None if it has neither words nor attachments.

    Raises ValueError, KeyError, TypeError or AttributeError if it is no message.
    """
    channel, guild = about.get("channel") or {}, about.get("guild") or {}
    author = value["author"]
    speaker = author.get("nickname") or author.get("name")
    is_notice = str(value.get("type", "Default")) not in _SPOKEN
    attachments = _attachments(value)
    text = _resolved(value.get("content") or "", value.get("mentions") or [])
    if not is_notice:
        text = "\n".join(filter(None, (text, _embedded(value) if not text else "", _forwarded(value))))
    text = with_attachments(text, attachments)
    if is_notice and speaker and speaker not in text:
        text = f"{speaker}: {text}"
    if not visible(text):
        return None
    reference = value.get("reference") or {}
    reply_to = reference.get("messageId") if reference.get("type", "Default") == "Default" else None
    edited = value.get("timestampEdited")
    names = [guild.get("name"), channel.get("category") if "Thread" in str(channel.get("type")) else None]
    return ChatMessage(
        id=f"discord:{value['id']}",
        text=text,
        timestamp=datetime.fromisoformat(value["timestamp"]),
        flow=f"discord:{channel.get('id', '')}",
        chat=" / ".join(str(name) for name in (*names, channel.get("name")) if name) or None,
        speaker=None if is_notice else str(speaker),
        kind=MessageKind.NOTICE if is_notice else MessageKind.MESSAGE,
        reply_to=f"discord:{reply_to}" if reply_to and not is_notice else None,
        edited_at=datetime.fromisoformat(edited) if edited else None,
        attachments=tuple(attachments),
        more={"bot": author.get("isBot") is True, "pinned": value.get("isPinned") is True},
        line=line,
    )


def _attachments(value: dict[str, Any]) -> list[str]:
    files = [one.get("fileName") for one in value.get("attachments") or []]
    stickers = [f"sticker {one.get('name')}" for one in value.get("stickers") or []]
    return [str(name) for name in (*files, *stickers) if name]


def _resolved(content: str, mentions: list[dict[str, Any]]) -> str:
    """Return a text with names in place of ids; exports with formatted Markdown have them already."""
    names = {str(one.get("id")): str(one.get("nickname") or one.get("name")) for one in mentions}
    text = _MENTION.sub(lambda match: f"@{names.get(match[1], match[1])}", content)
    return _EMOJI.sub(r"\1", text)


def _embedded(value: dict[str, Any]) -> str:
    """Return the words of embeds, in which bots speak."""
    parts: list[str] = []
    for embed in value.get("embeds") or []:
        parts += [str(embed[key]) for key in ("title", "description") if embed.get(key)]
        parts += [f"{one.get('name')}: {one.get('value')}" for one in embed.get("fields") or []]
    return "\n".join(parts)


def _forwarded(value: dict[str, Any]) -> str:
    forwarded = value.get("forwardedMessage")
    if not forwarded:
        return ""
    return with_attachments(f"[forwarded]\n{forwarded.get('content') or ''}", _attachments(forwarded))
