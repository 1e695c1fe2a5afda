"""Readers of the chat data that programs write: messages of ``role`` and ``content``, and ShareGPT's ``from``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vicw_readers.assistants.conversations import (
    Conversation,
    ConversationTurn,
    dig,
    digest,
    list_in,
    records_of,
    text_in,
    time_in,
)
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import json_values
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_SPEAKERS: Mapping[str, str] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "gpt", "chatgpt", "bot", "ai", "model", "bing", "bard", "claude"), "assistant"),
}
_SILENT = {"system", "developer", "tool", "function", "function_call", "observation", "tool_call", "tool_response"}
_LISTS = ("messages", "conversations", "conversation", "turns", "chat_history")
_IDS = ("id", "conversation_id", "session_id", "thread_id", "chat_id")
_LASTING_ID_CHARS = 20
"""A shorter id is one of this file alone: data sets count from 1, and the next one would replace the first."""
_TIMES = ("timestamp", "created_at", "create_time", "createdAt", "time", "date")


class RoleContentReader:
    """Messages of role and content, in JSON or JSON Lines."""

    name = "role-content"
    title = "chat of role and content, or of from and value (ShareGPT)"
    files = ("*.jsonl", "*.json")
    keeps = "speaker, text, and time if there is one; a list of messages is a flow"
    leaves = "system prompts, tool calls and their results"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are messages, or lists of them."""
        return any(_is_message(one) or any(map(_is_message, _messages(one))) for one in start.objects)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the turns; messages that are in no list are one conversation for each id that they name."""
        loose: dict[str, list[object]] = {}
        for n, value in enumerate(json_values(source), 1):
            messages = _messages(value)
            if messages:
                given = _id_of(value)
                if given is not None and len(given) < _LASTING_ID_CHARS:
                    given = f"{given}-{digest(_first_words(messages))}"
                title = text_in(value, "title") or text_in(value, "name")
                yield from records_of(source, _conversation(messages, given, title, is_whole=True), None)
            elif _is_message(value):
                loose.setdefault(_id_of(value, _IDS[1:]) or "", []).append(value)
            else:
                yield source.refuse(f"value {n} is no message of role and content, and no list of them")
        for given, messages in loose.items():
            yield from records_of(source, _conversation(messages, given or None, None, is_whole=False), None)


def _is_message(value: object) -> bool:
    speaker = text_in(value, "role") or text_in(value, "from")
    has_content = any(dig(value, key) is not None for key in ("content", "value", "tool_calls", "parts"))
    return speaker is not None and (speaker.lower() in _SPEAKERS or speaker.lower() in _SILENT) and has_content


def _messages(value: object) -> list[object]:
    return next((found for key in _LISTS if any(map(_is_message, found := list_in(value, key)))), [])


def _id_of(value: object, keys: Sequence[str] = _IDS) -> str | None:
    found = (dig(value, key) for key in keys)
    return next((str(one) for one in found if isinstance(one, str | int) and not isinstance(one, bool) and one), None)


def _conversation(messages: Sequence[object], given: str | None, title: str | None, *, is_whole: bool) -> Conversation:
    """Return the conversation of messages. Without an id of its own it has that of its words.

    Of a list, all words: it is a record that does not grow. Of loose messages the first two, to which others are added.
    """
    turns = [turn for message in messages if (turn := _turn(message))]
    if given is None:
        marks = [f"{turn.speaker}: {turn.text} {turn.timestamp or ''}" for turn in (turns if is_whole else turns[:2])]
        given = f"chat-{digest(*marks)}"
    named = tuple(replace(turn, id=f"{given}#{turn.id}" if turn.id else None) for turn in turns)
    return Conversation(given, title, None, named, is_whole=is_whole)


def _first_words(messages: Sequence[object]) -> str:
    return next((turn.text for message in messages if (turn := _turn(message))), "")


def _turn(message: object) -> ConversationTurn | None:
    role = (text_in(message, "role") or text_in(message, "from") or "").lower()
    if role not in _SPEAKERS:
        return None
    own_id = _id_of(message, ("id", "message_id", "uuid"))
    time = next((found for key in _TIMES if (found := time_in(message, key))), None)
    return ConversationTurn(own_id, _SPEAKERS[role], _text(message), time)


def _text(message: object) -> str:
    content = next((found for key in ("content", "value", "parts") if (found := dig(message, key))), None)
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else text_in(part, "text") or text_in(part, "content") for part in parts)
    return "\n\n".join(filter(None, texts))
