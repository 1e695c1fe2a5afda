"""Reader of chats exported from Open WebUI: a tree of messages by id; ``currentId`` ends the shown branch."""

from __future__ import annotations

import re
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

_SPEAKERS = {"user", "assistant"}
_DETAILS = re.compile(r"<details\s+type=\"(?:reasoning|tool_calls|code_interpreter)\".*?</details>\s*", re.DOTALL)


class OpenWebUiReader:
    """Chats of Open WebUI."""

    name = "open-webui"
    title = "Open WebUI export"
    files = ("chat-export-*.json",)
    keeps = "the branch that was last shown: speaker, time and text, names of files; a chat is a flow"
    leaves = "other branches, system prompts, reasoning, tool calls"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are chats with a history of messages."""
        return any(isinstance(dig(one, "chat"), dict) and _messages(one) is not None for one in start.objects)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns of all chats."""
        return read_conversations(source, open_webui_conversation, "Open WebUI")


def _messages(value: object) -> object:
    found = dig(value, "chat", "history", "messages")
    return found if isinstance(found, dict) else dig(value, "chat", "messages")


def open_webui_conversation(value: object) -> Conversation:
    """Return the shown branch of a chat. Raises UnknownShapeError if it has no id or no messages."""
    conversation = text_in(value, "id") or text_in(value, "chat", "id")
    messages = _messages(value)
    if conversation is None or not isinstance(messages, dict | list):
        raise UnknownShapeError("has no id, or no history of messages")
    shown = _shown(value, messages) if isinstance(messages, dict) else messages
    title = text_in(value, "title") or text_in(value, "chat", "title")
    turns = tuple(turn for message in shown if (turn := _turn(conversation, message)))
    return Conversation(conversation, title, time_in(value, "created_at"), turns)


def _shown(value: object, messages: dict[str, object]) -> list[object]:
    named = text_in(value, "chat", "history", "currentId")
    leaf = named if named in messages else newest({key: time_in(one, "timestamp") for key, one in messages.items()})
    parents = {key: text_in(one, "parentId") for key, one in messages.items()}
    return [messages[key] for key in thread(leaf or "", parents)]


def _turn(conversation: str, message: object) -> ConversationTurn | None:
    role = text_in(message, "role")
    if role not in _SPEAKERS:
        return None
    own_id = text_in(message, "id")
    return ConversationTurn(
        # Ids of messages are not unique among chats: a cloned chat has the same.
        id=f"{conversation}#{own_id}" if own_id else None,
        speaker=role,
        text=_DETAILS.sub("", text_in(message, "content") or ""),
        timestamp=time_in(message, "timestamp"),
        attachments=texts_in(list_in(message, "files"), "name"),
    )
