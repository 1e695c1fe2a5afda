"""Readers of the chat data that programs write: messages of ``role`` and ``content``, and ShareGPT's ``from``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vicw_readers.assistants.conversations import (
    Conversation,
    ConversationFlow,
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
_NAMING_TURNS = 2
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
        loose: dict[str, _LooseMessages] = {}
        for n, value in enumerate(json_values(source), 1):
            messages = _messages(value)
            if messages:
                given = _id_of(value)
                if given is not None and len(given) < _LASTING_ID_CHARS:
                    given = f"{given}-{digest(_first_words(messages))}"
                title = text_in(value, "title") or text_in(value, "name")
                yield from records_of(source, _conversation(messages, given, title), None)
            elif _is_message(value):
                given = _id_of(value, _IDS[1:]) or ""
                if given not in loose:
                    loose[given] = _LooseMessages(source, given)
                yield from loose[given].take(value)
            else:
                yield source.refuse(f"value {n} is no message of role and content, and no list of them")
        for one in loose.values():
            yield from one.end()


class _LooseMessages:
    """The messages of one conversation, which come one by one and are not held: only what names it waits.

    Without an id of its own it has that of its first two turns, to which a later export adds others.
    """

    def __init__(self, source: SourceFile, given: str) -> None:
        self._source = source
        self._flow = ConversationFlow(source, given, None, None) if given else None
        self._first: list[ConversationTurn] = []

    def take(self, message: object) -> Iterator[Record]:
        """Yield what the next message makes known."""
        turn = _turn(message)
        if turn is None:
            return
        if self._flow is not None:
            yield from self._said(self._flow, turn)
            return
        self._first.append(turn)
        if len(self._first) == _NAMING_TURNS:
            yield from self.end()

    def end(self) -> Iterator[Record]:
        """Yield the turns that waited for others."""
        if self._flow is None and self._first:
            self._flow = ConversationFlow(self._source, _id_of_words(self._first), None, None)
            for turn in self._first:
                yield from self._said(self._flow, turn)

    @staticmethod
    def _said(flow: ConversationFlow, turn: ConversationTurn) -> Iterator[Record]:
        if turn.full_text:
            yield flow.record(_in_conversation(turn, flow.id))


def _is_message(value: object) -> bool:
    speaker = text_in(value, "role") or text_in(value, "from")
    has_content = any(dig(value, key) is not None for key in ("content", "value", "tool_calls", "parts"))
    return speaker is not None and (speaker.lower() in _SPEAKERS or speaker.lower() in _SILENT) and has_content


def _messages(value: object) -> list[object]:
    return next((found for key in _LISTS if any(map(_is_message, found := list_in(value, key)))), [])


def _id_of(value: object, keys: Sequence[str] = _IDS) -> str | None:
    found = (dig(value, key) for key in keys)
    return next((str(one) for one in found if isinstance(one, str | int) and not isinstance(one, bool) and one), None)


def _conversation(messages: Sequence[object], given: str | None, title: str | None) -> Conversation:
    """Return the conversation of a list of messages. Without an id of its own it has that of all its words."""
    turns = [turn for message in messages if (turn := _turn(message))]
    given = given or _id_of_words(turns)
    return Conversation(given, title, None, tuple(_in_conversation(turn, given) for turn in turns))


def _id_of_words(turns: Sequence[ConversationTurn]) -> str:
    return f"chat-{digest(*(f'{turn.speaker}: {turn.text} {turn.timestamp or ""}' for turn in turns))}"


def _in_conversation(turn: ConversationTurn, given: str) -> ConversationTurn:
    return replace(turn, id=f"{given}#{turn.id}" if turn.id else None)


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
