"""The messages of a channel's day in a Slack export."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, Unread, with_attachments
from vicw_readers.people.slack.directory import SlackDirectory
from vicw_readers.people.slack.text import slack_text
from vicw_shared.text import visible

_SPOKEN = {None, "", "bot_message", "file_share", "me_message", "thread_broadcast", "reply_broadcast", "file_comment"}
"""Subtypes of messages that somebody wrote; all others are Slack's own."""
_GONE = {"tombstone", "message_deleted"}


def slack_messages(values: object, folder: str, directory: SlackDirectory) -> Iterator[ChatRecord]:
    """Yield the messages of a day; a thread is a flow, and the rest of a channel is one."""
    if not isinstance(values, list):
        yield Unread(None, "is no list of messages")
        return
    channel = directory.folders.get(folder, folder)
    name = directory.channels.get(channel, folder)
    for place, value in enumerate(values, 1):
        try:
            message = _message(value, channel, name, directory)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            yield Unread(None, f"message {place} cannot be read: {error!r}")
            continue
        if message is not None:
            yield message


def _message(value: dict[str, Any], channel: str, name: str, directory: SlackDirectory) -> ChatMessage | None:
    subtype = value.get("subtype")
    if subtype in _GONE or value.get("hidden") is True:
        return None
    stamp = str(value["ts"])
    is_notice = subtype not in _SPOKEN
    files = [one for one in value.get("files") or [] if isinstance(one, dict)]
    attachments = [str(one.get("name") or one.get("title") or "file") for one in files]
    speaker = _speaker(value, directory)
    text = slack_text(value, directory)
    if is_notice and speaker and speaker not in text:
        text = f"{speaker}: {text}"
    text = with_attachments(text, attachments)
    if not visible(text):
        return None
    thread = str(value["thread_ts"]) if value.get("thread_ts") else None
    edited = value.get("edited")
    reactions = {str(one["name"]): one.get("count", 1) for one in value.get("reactions") or []}
    return ChatMessage(
        id=f"slack:{channel}:{stamp}",
        text=text,
        timestamp=_time(stamp),
        flow=f"slack:{channel}:{thread}" if thread else f"slack:{channel}",
        chat=name,
        speaker=None if is_notice else speaker or "unknown",
        kind=MessageKind.NOTICE if is_notice else MessageKind.MESSAGE,
        reply_to=f"slack:{channel}:{thread}" if thread and thread != stamp else None,
        edited_at=_time(str(edited["ts"])) if isinstance(edited, dict) and edited.get("ts") else None,
        attachments=tuple(attachments),
        more={"bot": bool(value.get("bot_id")), "reactions": reactions},
    )


def _speaker(value: dict[str, Any], directory: SlackDirectory) -> str | None:
    user = str(value.get("user") or "")
    if user in directory.people:
        return directory.people[user]
    profile, bot = value.get("user_profile") or {}, value.get("bot_profile") or {}
    names = (profile.get("real_name"), profile.get("display_name"), value.get("username"), bot.get("name"), user)
    return str(next(filter(None, (*names, value.get("bot_id"))), "")) or None


def _time(stamp: str) -> datetime:
    return datetime.fromtimestamp(float(stamp), UTC)
