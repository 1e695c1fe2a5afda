"""Reader of ChatGPT's data export: conversations are trees of messages; ``current_node`` ends the shown branch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime

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

_SPEAKERS = {"user", "assistant"}  # system prompts are not the user's words, tool output is bulky
_SPOKEN_TYPES = {"text", "multimodal_text", "code"}  # the rest is reasoning, tool output, profile
_MEMORY_TOOL = "bio"
_CANVAS_TOOLS = ("canmore.create_textdoc", "canmore.update_textdoc")
_MARK = re.compile(r" ?\ue200(?P<kind>[^\ue200-\ue202]*)(?:\ue202(?P<rest>[^\ue200\ue201]*))?\ue201")
_OLD_CITATION = re.compile(r" ?【[^【】]{0,200}†[^【】]{0,200}】")
_STRAY_MARKS = re.compile("[\ue200-\ue206]")
_OF_CONVERSATION = ("create_time", "current_node", "conversation_id")
"""What stands beside a mapping of messages: source maps and settings have a ``mapping``, too."""
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
    files = ("conversations.json", "conversations-000.json", "*.zip")
    keeps = (
        "the branch that was last shown: speaker, time and text, canvas documents, saved memories, names of attached "
        "files; a conversation is a flow"
    )
    leaves = "other branches, system prompts, reasoning, tool calls, pictures, citation marks"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are conversations with a mapping of messages, or it is another file of the export."""
        if start.base in _OTHER_FILES and any(map(start.has_beside, ("conversations.json", "conversations-000.json"))):
            return True
        return any("mapping" in one and not one.keys().isdisjoint(_OF_CONVERSATION) for one in start.objects)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns of all conversations."""
        if (reason := _OTHER_FILES.get(source.base)) is not None:
            yield source.skip(reason)
        else:
            yield from read_conversations(source, chatgpt_conversation, "ChatGPT")


def chatgpt_conversation(value: object) -> Conversation:
    """Return the shown branch of a conversation. Raises UnknownShapeError if it has no id or no mapping of messages.

    One that names no mapping at all is a shell: without turns.
    """
    conversation = text_in(value, "conversation_id") or text_in(value, "id")
    mapping = dig(value, "mapping")
    if conversation is None or not (isinstance(mapping, dict) or (isinstance(value, dict) and mapping is None)):
        raise UnknownShapeError("has no id, or no mapping of messages")
    mapping = mapping or {}
    started = time_in(value, "create_time")
    desk = DocumentDesk.empty(conversation)
    branch = thread(_leaf(value, mapping), {node: text_in(mapping[node], "parent") for node in mapping})
    turns = [turn for node in branch if (turn := _turn(node, dig(mapping[node], "message"), desk))]
    return Conversation(conversation, text_in(value, "title"), started, desk.latest(turns))


def _leaf(value: object, mapping: dict[str, object]) -> str:
    """Return the end of the shown branch; if it is not named, the newest message, else the last."""
    named = text_in(value, "current_node")
    if named in mapping:
        return named
    return newest({node: time_in(mapping[node], "message", "create_time") for node in mapping}) or ""


def _turn(node: str, message: object, desk: DocumentDesk) -> ConversationTurn | None:
    role = text_in(message, "author", "role")
    if role not in _SPEAKERS or dig(message, "metadata", "is_visually_hidden_from_conversation") is True:
        return None
    own_id = text_in(message, "id") or node
    recipient = text_in(message, "recipient") or "all"
    if recipient in _CANVAS_TOOLS:
        return _canvas(message, desk)
    if recipient == _MEMORY_TOOL:
        return ConversationTurn(own_id, role, _text(dig(message, "content")), _time(message), subtype="memory")
    if recipient != "all":
        return None
    return ConversationTurn(
        id=own_id,
        speaker=role,
        text=_text(dig(message, "content")),
        timestamp=_time(message),
        attachments=texts_in(list_in(message, "metadata", "attachments"), "name"),
    )


def _time(message: object) -> datetime | None:
    return time_in(message, "create_time")


def _canvas(message: object, desk: DocumentDesk) -> ConversationTurn | None:
    """Return the turn of a new canvas document; a change is one of the document that was made last."""
    content = dig(message, "content")
    parts = list_in(content, "parts")
    try:
        call = json.loads(text_in(content, "text") or (parts[0] if parts and isinstance(parts[0], str) else ""))
    except (ValueError, RecursionError):
        return None
    if (whole := text_in(call, "content")) is not None:
        name = text_in(call, "name")
        return desk.write(name or "canvas", name, whole, _time(message))
    for update in list_in(call, "updates"):
        desk.change_last(text_in(update, "pattern") or "", text_in(update, "replacement") or "")
    return None


def _text(content: object) -> str:
    if text_in(content, "content_type") not in _SPOKEN_TYPES:
        return ""
    parts = dig(content, "parts")
    if not isinstance(parts, list):
        return without_marks(text_in(content, "text") or "")
    # A part that is an object is a picture, or speech with its transcript.
    texts = (part if isinstance(part, str) else text_in(part, "text") for part in parts)
    return without_marks("\n\n".join(filter(None, texts)))


def without_marks(text: str) -> str:
    """Return a text without marks of citations; a mark that names a thing becomes its name.

    >>> without_marks("A list \\ue200cite\\ue202turn0search3\\ue201 for you【4†source】.")
    'A list for you.'
    >>> without_marks('In \\ue200entity\\ue202["city", "Oslo", "capital"]\\ue201 today')
    'In Oslo today'
    """
    if "\ue200" in text:
        text = _STRAY_MARKS.sub("", _MARK.sub(_named, text))
    return _OLD_CITATION.sub("", text) if "†" in text else text


def _named(match: re.Match[str]) -> str:
    if match["kind"] != "entity":
        return ""
    try:
        values = json.loads(match["rest"] or "")
    except (ValueError, RecursionError):
        return ""
    name = values[1] if isinstance(values, list) and len(values) > 1 and isinstance(values[1], str) else ""
    return f"{' ' if match[0].startswith(' ') else ''}{name}"
