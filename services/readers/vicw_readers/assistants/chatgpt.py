"""Reader of ChatGPT's data export: conversations are trees of messages; ``current_node`` ends the shown branch."""

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

_SPEAKERS = {"user", "assistant"}  # system prompts are not the user's words, tool output is bulky
_SPOKEN_TYPES = {"text", "multimodal_text", "code"}  # the rest is reasoning, tool output, profile

_OTHER_FILES = {
    "chat.html": "shows the same conversations as a page",
    "user.json": "is about the account",
    "user_settings.json": "is about the account",
    "message_feedback.json": "is about thumbs up and down",
    "model_comparisons.json": "is about answers that were compared",
    "shared_conversations.json": "lists the conversations that were shared",
    "conversation_asset_file_names.json": "lists the names of attached files",
    "export_manifest.json": "lists the files of the export",
}


class ChatGptReader:
    """ChatGPT's data export."""

    name = "chatgpt"
    title = "ChatGPT export"
    files = ("conversations.json", "*.zip")
    keeps = "the branch that was last shown: speaker, time and text; a conversation is a flow"
    leaves = "other branches, system prompts, reasoning, tool calls"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are conversations with a mapping of messages, or it is another file of the export."""
        is_beside = start.has_beside("conversations.json") or start.has_beside("conversations-000.json")
        return any("mapping" in one for one in start.objects) or (is_beside and start.base in _OTHER_FILES)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns of all conversations."""
        if (reason := _OTHER_FILES.get(source.base)) is not None:
            yield source.skip(reason)
        else:
            yield from read_conversations(source, chatgpt_conversation, "ChatGPT")


def chatgpt_conversation(value: object) -> Conversation:
    """Return the shown branch of a conversation. Raises UnknownShapeError if it has no id or no messages."""
    conversation = text_in(value, "conversation_id") or text_in(value, "id")
    mapping = dig(value, "mapping")
    if conversation is None or not isinstance(mapping, dict):
        raise UnknownShapeError("has no id, or no mapping of messages")
    started = time_in(value, "create_time")
    branch = thread(_leaf(value, mapping), {node: text_in(mapping[node], "parent") for node in mapping})
    turns = (_turn(node, dig(mapping[node], "message")) for node in branch)
    return Conversation(conversation, text_in(value, "title"), started, tuple(filter(None, turns)))


def _leaf(value: object, mapping: dict[str, object]) -> str:
    """Return the end of the shown branch; if it is not named, the newest message, else the last."""
    named = text_in(value, "current_node")
    if named in mapping:
        return named
    times = {node: time_in(mapping[node], "message", "create_time") for node in mapping}
    dated = {node: time for node, time in times.items() if time}
    return max(dated, key=lambda node: dated[node], default=next(reversed(mapping), ""))


def _turn(node: str, message: object) -> ConversationTurn | None:
    role = text_in(message, "author", "role")
    hidden = dig(message, "metadata", "is_visually_hidden_from_conversation")
    addressed_to_tool = text_in(message, "recipient") not in {None, "all"}
    if role not in _SPEAKERS or hidden is True or addressed_to_tool:
        return None
    return ConversationTurn(
        id=text_in(message, "id") or node,
        speaker=role,
        text=_text(dig(message, "content")),
        timestamp=time_in(message, "create_time"),
    )


def _text(content: object) -> str:
    if text_in(content, "content_type") not in _SPOKEN_TYPES:
        return ""
    parts = dig(content, "parts")
    if not isinstance(parts, list):
        return text_in(content, "text") or ""
    # A part that is an object is a picture, or speech with its transcript.
    texts = (part if isinstance(part, str) else text_in(part, "text") for part in parts)
    return "\n\n".join(filter(None, texts))
