"""What is a chat in JSON, but of no format that is known: it is refused, so that nobody takes it for stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

_WHO = frozenset(
    {
        *("role", "sender", "senderid", "sendername", "speaker", "author", "authorid", "authorname", "from"),
        *("fromname", "creator", "user", "userid", "username", "nick", "nickname", "displayname"),
    }
)
_SAID = frozenset({"text", "content", "contents", "message", "messagetext", "msg", "body", "value", "plaintext"})
_INNER_SAID = ("text", "body", "content")
_LISTS = frozenset({"messages", "messagelist", "conversations", "conversation", "chats", "chat", "chathistory"})
"""Under such a name one message is enough; elsewhere it takes two."""
_OF_OTHER_THINGS = ({"htmlurl"}, {"sha"}, {"commit"}, {"title", "number"}, {"title", "state"}, {"level"}, {"severity"})
"""Names of fields that issues, commits and entries of logs have, whose authors also say something."""
_SUFFIXES = {"", ".json", ".txt", ".text", ".log"}
_MOST_DEPTH = 6
_LOOKED_AT = 50


class UnknownChatReader:
    """A chat of an unknown format."""

    name = "unknown-chat"
    title = "chat of an unknown format"
    files = ("*.json", "*.txt")
    keeps = "nothing: it is refused by name"
    leaves = "all of it"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is JSON with a list of objects that each say who and what."""
        return start.suffix in _SUFFIXES and _has_messages(start.objects, 0)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Refuse it."""
        raise UnreadableFileError(
            "looks like a chat, but of no known format",
            fix="Name the format with --format (--list-formats shows them), or make it JSON Lines of items: see "
            "docs/importing.md#jsonl",
        )


def _has_messages(value: object, depth: int, name: str = "") -> bool:
    inner: Iterable[tuple[str, object]] = ()
    if isinstance(value, list | tuple):
        if _is_list_of_messages(value, least=1 if name in _LISTS else 2):
            return True
        inner = [(name, one) for one in value[:_LOOKED_AT]]
    elif isinstance(value, dict):
        inner = [(_plain(key), one) for key, one in list(value.items())[:_LOOKED_AT]]
    return depth < _MOST_DEPTH and any(_has_messages(one, depth + 1, key) for key, one in inner)


def _is_list_of_messages(values: list[Any] | tuple[Any, ...], least: int) -> bool:
    said = [_is_message(one) for one in values[:_LOOKED_AT]]
    return len(said) >= least and 2 * sum(said) > len(said)


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    fields = {_plain(key): one for key, one in value.items()}
    if any(names <= fields.keys() for names in _OF_OTHER_THINGS):
        return False
    return any(map(fields.get, _WHO)) and any(_is_said(fields.get(key)) for key in _SAID)


def _is_said(value: object) -> bool:
    """Return whether a field holds words: itself, in parts, or as an object with a text or a body."""
    return isinstance(value, str | list) or (
        isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _INNER_SAID)
    )


def _plain(key: str) -> str:
    """Return the name of a field whatever its spelling: ``senderName``, ``sender_name`` and ``Sender Name`` are one.

    >>> _plain("Sender_Name")
    'sendername'
    """
    return key.replace("_", "").replace("-", "").replace(" ", "").lower()
