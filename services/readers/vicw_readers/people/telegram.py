"""Reader of Telegram Desktop's `result.json`: one chat, or all of an account. Checked against Telegram Desktop 5.x."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import JsonCursor
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, Unread, with_attachments
from vicw_readers.records import Record, UnreadableFileError
from vicw_shared.text import visible

_CHAT_TYPES = {
    *("saved_messages", "replies", "verification_codes", "personal_chat", "bot_chat", "private_group"),
    *("private_supergroup", "public_supergroup", "private_channel", "public_channel"),
}
_FILE_NOTES = "(File "
"""Telegram writes "(File not included. …)" in place of a path."""


class TelegramReader:
    """Chats of Telegram Desktop, exported as JSON."""

    name = "telegram"
    title = "Telegram export"
    files = ("result.json",)
    keeps = "speaker, time and text, replies, forwards, edits, polls, names of media; joins and the like as notices"
    leaves = "media, contacts, sessions, reactions; the HTML form of the export"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether a JSON object is a chat, or holds chats."""
        return any(_is_export(one) for one in start.objects[:1])

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the messages as items; a chat is a flow."""
        from vicw_readers.people.records import records_of

        with source.open() as file:
            yield from records_of(source, telegram_messages(file), self.name, "Telegram")


def telegram_messages(file: BinaryIO) -> Iterator[ChatRecord]:
    """Yield the messages of all chats of an export; of a cut file, those before the cut."""
    cursor = JsonCursor(file)
    try:
        yield from _chat(cursor)
    except UnreadableFileError as error:
        yield Unread(error.line, error.reason)


def _is_export(one: dict[str, Any]) -> bool:
    if str(one.get("type")) in _CHAT_TYPES and "id" in one:
        return isinstance(one.get("messages", []), list)
    lists = (one.get("chats"), one.get("left_chats"))
    is_whole = any(isinstance(part, dict) and isinstance(part.get("list"), list) for part in lists)
    return is_whole or ("personal_information" in one and "about" in one)


def _chat(cursor: JsonCursor) -> Iterator[ChatRecord]:
    """Read an object: a chat, whose name stands before its messages, or an account with lists of chats."""
    about: dict[str, Any] = {}
    for key in cursor.members():
        if key == "messages" and cursor.peek() == "[":
            yield from _messages(cursor, about)
        elif key in {"chats", "left_chats"} and cursor.peek() == "{":
            for inner in cursor.members():
                if inner != "list" or cursor.peek() != "[":
                    cursor.value()
                    continue
                for _ in cursor.elements():
                    yield from _chat(cursor)
        else:
            value = cursor.value()
            if key in {"name", "type", "id"}:
                about[key] = value


def _messages(cursor: JsonCursor, about: dict[str, Any]) -> Iterator[ChatRecord]:
    chat = str(about.get("id", ""))
    name = about.get("name") or {"saved_messages": "Saved Messages"}.get(str(about.get("type")))
    name = str(name) if name else None
    for _ in cursor.elements():
        cursor.peek()
        line = cursor.line
        value = cursor.value()
        if not isinstance(value, dict) or "id" not in value:
            yield Unread(line, "is no message of Telegram")
        elif value.get("type") != "unsupported":
            try:
                message = telegram_message(value, chat, name, line)
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError) as error:
                yield Unread(line, f"is a message that cannot be read: {error}")
                continue
            if message is not None:
                yield message


def telegram_message(value: dict[str, Any], chat: str, name: str | None, line: int | None = None) -> ChatMessage | None:
    """Return a message, or None if it has neither words nor attachments.

    Raises ValueError, KeyError, TypeError or AttributeError if it is no message.
    """
    is_notice = value.get("type") == "service"
    attachments = _attachments(value)
    text = _notice(value) if is_notice else _with_extras(value, telegram_text(value))
    text = text if is_notice else with_attachments(text, attachments)
    if not visible(text):
        return None
    reply_to = value.get("reply_to_message_id")
    forwarded = value.get("forwarded_from") or ("somebody" if "forwarded_from" in value else None)
    return ChatMessage(
        id=f"telegram:{chat}:{value['id']}",
        text=f"[forwarded from {forwarded}]\n{text}" if forwarded else text,
        timestamp=_time(value, "date"),
        flow=f"telegram:{chat}",
        chat=name,
        speaker=None if is_notice else str(value.get("from") or value.get("from_id") or "Deleted Account"),
        kind=MessageKind.NOTICE if is_notice else MessageKind.MESSAGE,
        reply_to=f"telegram:{(value.get('reply_to_peer_id') and _bare(value['reply_to_peer_id'])) or chat}:{reply_to}"
        if reply_to
        else None,
        edited_at=_time(value, "edited"),
        attachments=() if is_notice else tuple(attachments),
        more={"forwarded_from": forwarded, "via": value.get("via_bot")},
        line=line,
    )


def telegram_text(value: dict[str, Any]) -> str:
    """Return the text of a message: a text, or a list of texts and of entities, of which links show their target."""
    given = value.get("text")
    parts = given if isinstance(given, list) else [given]
    return "".join(_part(part) for part in parts)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    text = str(part.get("text") or "")
    href = part.get("href")
    return f"{text} ({href})" if part.get("type") == "text_link" and href and href != text else text


def _attachments(value: dict[str, Any]) -> list[str]:
    names: list[str] = []
    for key in ("photo", "file", "contact_vcard"):
        path = value.get(key)
        if not isinstance(path, str) or not path:
            continue
        own = value.get("file_name")
        if _FILE_NOTES in path:
            kind = str(value.get("media_type") or key).replace("_", " ")
            names.append(str(own) if own else kind)
        else:
            names.append(str(own) if own else path.rsplit("/", 1)[-1])
    if emoji := value.get("sticker_emoji"):
        return [f"sticker {emoji}"]
    return names


def _with_extras(value: dict[str, Any], text: str) -> str:
    """Return a text with what has no text of its own: a poll, a place, a contact."""
    parts = [text] if text else []
    poll = value.get("poll")
    if isinstance(poll, dict):
        answers = [str(answer.get("text", "")) for answer in poll.get("answers") or [] if isinstance(answer, dict)]
        parts.append("\n".join([f"Poll: {_part(poll.get('question'))}", *(f"- {answer}" for answer in answers)]))
    place = value.get("location_information")
    if isinstance(place, dict):
        names = ", ".join(str(value[key]) for key in ("place_name", "address") if value.get(key))
        at = f"({place.get('latitude')}, {place.get('longitude')})"
        parts.append(f"Location: {names} {at}" if names else f"Location: {at}")
    contact = value.get("contact_information")
    if isinstance(contact, dict):
        parts.append("Contact: " + " ".join(str(one) for one in contact.values() if one))
    if value.get("media_type") == "audio_file" and value.get("title"):
        parts.append("Audio: " + " – ".join(str(value[key]) for key in ("performer", "title") if value.get(key)))
    return "\n".join(parts)


def _notice(value: dict[str, Any]) -> str:
    """Return a service message in words: "Jens create group: Boat crew, Maja"."""
    actor = value.get("actor") or value.get("from") or ""
    action = str(value.get("action") or "").replace("_", " ")
    told = [_told(one) for key, one in value.items() if key in {"title", "members", "information_text", "inviter"}]
    if seconds := value.get("duration_seconds"):
        told.append(f"{seconds} s")
    head = f"{actor} {action}".strip()
    return f"{head}: {', '.join(filter(None, told))}" if any(told) else head


def _told(one: object) -> str:
    if isinstance(one, list):
        return ", ".join(str(name) for name in one if name)
    return str(one or "")


def _time(value: dict[str, Any], key: str) -> datetime | None:
    """Return a time of a message: with its zone if the export has that, since 2022."""
    if seconds := value.get(f"{key}_unixtime"):
        return datetime.fromtimestamp(int(seconds), UTC)
    written = value.get(key)
    return datetime.fromisoformat(written) if isinstance(written, str) and written else None


def _bare(peer: object) -> str:
    return str(peer).lstrip("abcdefghijklmnopqrstuvwxyz")
