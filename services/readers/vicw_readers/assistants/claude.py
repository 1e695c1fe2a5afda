"""Reader of Claude's data export: conversations are lists of ``chat_messages``; newer ones name their parents."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.assistants.conversations import (
    Conversation,
    ConversationTurn,
    UnknownShapeError,
    dig,
    text_in,
    thread,
    time_in,
)
from vicw_readers.assistants.exports import read_conversations
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}

_USERS = "users.json"


class ClaudeReader:
    """Claude's data export."""

    name = "claude"
    title = "Claude export"
    files = ("conversations.json", "*.zip")
    keeps = "the branch that was last shown: speaker, time and text, and attached text; a conversation is a flow"
    leaves = "other branches, thinking, tool calls"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are conversations with chat messages, or it is another file of the export."""
        is_account = start.base == _USERS and any("full_name" in one and "uuid" in one for one in start.objects)
        return is_account or any("chat_messages" in one for one in start.objects)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns of all conversations."""
        if source.base == _USERS:
            yield source.skip("is about the account")
        else:
            yield from read_conversations(source, claude_conversation, "Claude")


def claude_conversation(value: object) -> Conversation:
    """Return a conversation's turns. Raises UnknownShapeError if it has no uuid or no list of messages."""
    conversation = text_in(value, "uuid")
    messages = dig(value, "chat_messages")
    if conversation is None or not isinstance(messages, list):
        raise UnknownShapeError("has no uuid, or no list of chat_messages")
    turns = tuple(turn for message in _shown(value, messages) for turn in _turns(message))
    return Conversation(conversation, text_in(value, "name"), time_in(value, "created_at"), turns)


def _shown(value: object, messages: list[object]) -> list[object]:
    """Return the shown branch if the export names it, else all messages in order."""
    by_id = {uuid: message for message in messages if (uuid := text_in(message, "uuid"))}
    leaf = text_in(value, "current_leaf_message_uuid")
    parents = {uuid: text_in(message, "parent_message_uuid") for uuid, message in by_id.items()}
    if leaf is None or leaf not in by_id or None in parents.values():
        return messages
    return [by_id[uuid] for uuid in thread(leaf, parents)]


def _turns(message: object) -> Iterator[ConversationTurn]:
    """Yield the attachments of a message, then the message."""
    speaker = _SPEAKERS.get(text_in(message, "sender") or "")
    if speaker is None:
        return
    uuid = text_in(message, "uuid")
    timestamp = time_in(message, "created_at")
    attachments = dig(message, "attachments")
    for n, attachment in enumerate(attachments if isinstance(attachments, list) else []):
        yield ConversationTurn(
            id=f"{uuid}#attachment-{n}" if uuid else None,
            speaker=speaker,
            text=text_in(attachment, "extracted_content") or "",
            timestamp=timestamp,
            subtype="attachment",
            name=text_in(attachment, "file_name"),
        )
    yield ConversationTurn(uuid, speaker, _text(message), timestamp)


def _text(message: object) -> str:
    """Return a message's text: ``content`` without thinking and tools, else ``text``, which has markers for them."""
    content = dig(message, "content")
    blocks = content if isinstance(content, list) else []
    texts = [text for block in blocks if dig(block, "type") == "text" and (text := text_in(block, "text"))]
    return "\n\n".join(texts) or text_in(message, "text") or ""
