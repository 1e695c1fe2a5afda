"""Reader of conversations exported from LibreChat: messages name their parents, or are nested as children."""

from __future__ import annotations

from collections.abc import Iterator

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
from vicw_readers.assistants.exports import read_conversations
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record


class LibreChatReader:
    """Conversations of LibreChat."""

    name = "librechat"
    title = "LibreChat export"
    files = ("*.json",)
    keeps = "the newest branch: speaker, time and text, names of files; a conversation is a flow"
    leaves = "other branches, thinking, tool calls"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there is a conversation of messages that say whether a user made them."""
        return any(
            text_in(one, "conversationId") is not None
            and any(dig(message, "isCreatedByUser") is not None for message in list_in(one, "messages"))
            for one in start.objects
        )

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns of all conversations."""
        return read_conversations(source, librechat_conversation, "LibreChat")


def librechat_conversation(value: object) -> Conversation:
    """Return the newest branch. Raises UnknownShapeError if it has no id or no list of messages."""
    conversation = text_in(value, "conversationId")
    if conversation is None or not isinstance(dig(value, "messages"), list):
        raise UnknownShapeError("has no conversationId, or no list of messages")
    messages = {uuid: one for one in _flat(list_in(value, "messages")) if (uuid := text_in(one, "messageId"))}
    parents = {uuid: text_in(one, "parentMessageId") for uuid, one in messages.items()}
    leaf = newest({uuid: time_in(one, "createdAt") for uuid, one in messages.items()})
    turns = tuple(_turn(uuid, messages[uuid]) for uuid in thread(leaf or "", parents))
    started = next((time for turn in turns if (time := turn.timestamp)), None)
    return Conversation(conversation, text_in(value, "title"), started, turns)


def _flat(messages: list[object]) -> Iterator[object]:
    waiting = messages[::-1]
    while waiting:
        message = waiting.pop()
        yield message
        waiting += list_in(message, "children")[::-1]


def _turn(uuid: str, message: object) -> ConversationTurn:
    blocks = (block for block in list_in(message, "content") if dig(block, "type") == "text")
    texts = (text_in(block, "text") or text_in(block, "text", "value") for block in blocks)
    return ConversationTurn(
        id=uuid,
        speaker="user" if dig(message, "isCreatedByUser") is True else "assistant",
        text=text_in(message, "text") or "\n\n".join(filter(None, texts)),
        timestamp=time_in(message, "createdAt"),
        attachments=texts_in(list_in(message, "files"), "filename"),
    )
