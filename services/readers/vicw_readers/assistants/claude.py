"""Reader of Claude's data export: conversations are lists of messages; newer ones name their parents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath

from vicw_readers.assistants.conversations import (
    Conversation,
    ConversationTurn,
    UnknownShapeError,
    dig,
    list_in,
    newest,
    text_in,
    texts_in,
    thread,
    time_in,
)
from vicw_readers.assistants.documents import DocumentDesk
from vicw_readers.assistants.exports import read_conversations
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}
_MESSAGES = ("chat_messages", "messages")
_USERS = "users.json"
_PLACEHOLDER = re.compile(r"(?:```\s*)?This block is not supported on your current device yet\.(?:\s*```)?")
"""What the plain text of a message has in the place of tools."""


class ClaudeReader:
    """Claude's data export: its conversations."""

    name = "claude"
    title = "Claude export"
    files = ("conversations.json", "*.zip")
    keeps = (
        "the branch that was last shown: speaker, time and text, attached text, artifacts and created files with their "
        "last text, names of other files; a conversation is a flow"
    )
    leaves = "other branches, thinking, other tool calls"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are conversations of messages with a sender, or it is the list of accounts."""
        is_account = start.base == _USERS and any("full_name" in one and "uuid" in one for one in start.objects)
        return is_account or any(map(_is_conversation, start.objects))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns of all conversations."""
        if source.base == _USERS:
            yield source.skip("is about the account")
        else:
            yield from read_conversations(source, claude_conversation, "Claude")


def _is_conversation(value: object) -> bool:
    first = next(iter(list_in(value, "messages")), None)
    return dig(value, "chat_messages") is not None or (
        text_in(value, "uuid") is not None and text_in(first, "sender") in _SPEAKERS
    )


def claude_conversation(value: object) -> Conversation:
    """Return a conversation's turns. Raises UnknownShapeError if it has no uuid or no list of messages."""
    conversation = text_in(value, "uuid")
    messages = next((found for key in _MESSAGES if isinstance(found := dig(value, key), list)), None)
    if conversation is None or messages is None:
        raise UnknownShapeError("has no uuid, or no list of chat_messages")
    desk = DocumentDesk.empty(conversation)
    turns = [turn for message in _shown(value, messages) for turn in _turns(message, desk)]
    return Conversation(conversation, text_in(value, "name"), time_in(value, "created_at"), desk.latest(turns))


def _shown(value: object, messages: list[object]) -> list[object]:
    """Return the shown branch: to the named leaf, else to the newest; all messages in order if they have no parents."""
    by_id = {uuid: message for message in messages if (uuid := text_in(message, "uuid"))}
    parents = {uuid: text_in(message, "parent_message_uuid") for uuid, message in by_id.items()}
    if not by_id or list(parents.values()).count(None) > 1:
        return messages
    named = text_in(value, "current_leaf_message_uuid")
    leaf = named if named in by_id else newest({uuid: time_in(one, "created_at") for uuid, one in by_id.items()})
    return [by_id[uuid] for uuid in thread(leaf or "", parents)]


def _turns(message: object, desk: DocumentDesk) -> Iterator[ConversationTurn]:
    """Yield the attachments of a message, the message, and the documents that it makes."""
    speaker = _SPEAKERS.get(text_in(message, "sender") or "")
    if speaker is None:
        return
    uuid = text_in(message, "uuid")
    timestamp = time_in(message, "created_at")
    attachments = list_in(message, "attachments")
    for n, attachment in enumerate(attachments):
        yield ConversationTurn(
            id=f"{uuid}#attachment-{n}" if uuid else None,
            speaker=speaker,
            text=text_in(attachment, "extracted_content") or "",
            timestamp=timestamp,
            subtype="attachment",
            name=text_in(attachment, "file_name"),
        )
    without_text = [one for one in attachments if not text_in(one, "extracted_content")]
    names = texts_in([*without_text, *list_in(message, "files"), *list_in(message, "files_v2")], "file_name")
    yield ConversationTurn(uuid, speaker, _text(message), timestamp, attachments=tuple(dict.fromkeys(names)))
    for block in list_in(message, "content"):
        if dig(block, "type") == "tool_use" and (document := _document(block, desk, timestamp)):
            yield document


def _document(block: object, desk: DocumentDesk, timestamp: datetime | None) -> ConversationTurn | None:
    """Return the turn of a document that a tool call makes; a call that changes one changes its text."""
    key = text_in(block, "input", "path") or text_in(block, "input", "id")
    if text_in(block, "name") not in {"artifacts", "create_file", "str_replace"} or key is None:
        return None
    old, new = text_in(block, "input", "old_str"), text_in(block, "input", "new_str")
    if old is not None:
        desk.change(key, old, new or "")
        return None
    text = text_in(block, "input", "content") or text_in(block, "input", "file_text")
    title = text_in(block, "input", "title") or PurePosixPath(key).name
    return desk.write(key, title, text, timestamp) if text else None


def _text(message: object) -> str:
    """Return a message's text: ``content`` without thinking and tools, else ``text``, which has markers for them."""
    blocks = list_in(message, "content")
    texts = [text for block in blocks if dig(block, "type") == "text" and (text := text_in(block, "text"))]
    return "\n\n".join(texts) or _PLACEHOLDER.sub("", text_in(message, "text") or "")
