"""What is a chat in JSON, but of no format that is known: it is refused, so that nobody takes it for stored."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.assistants.conversations import dig
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

_WHO = ("role", "sender", "speaker", "author", "from", "username", "user_name", "senderName", "sender_name")
_SAID = ("text", "content", "message", "body", "value")
_MOST_DEPTH = 6
_LOOKED_AT = 50


class UnknownChatReader:
    """A chat of an unknown format."""

    name = "unknown-chat"
    title = "chat of an unknown format"
    files = ("*.json", "*.jsonl")
    keeps = "nothing: it is refused by name"
    leaves = "all of it"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there is a list of objects that each say who and what."""
        return start.suffix == ".json" and (_is_list_of_messages(start.objects) or _has_messages(start.objects, 0))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Refuse it."""
        raise UnreadableFileError(
            "looks like a chat, but of no known format",
            fix="Name the format with --format (--list-formats shows them), or make it JSON Lines of items: see "
            "docs/importing.md#jsonl",
        )


def _has_messages(value: object, depth: int) -> bool:
    if isinstance(value, list | tuple):
        if _is_list_of_messages(value):
            return True
        inner = value[:_LOOKED_AT]
    else:
        inner = list(value.values())[:_LOOKED_AT] if isinstance(value, dict) else []
    return depth < _MOST_DEPTH and any(_has_messages(one, depth + 1) for one in inner)


def _is_list_of_messages(values: list[object] | tuple[object, ...]) -> bool:
    if len(values) < 2:
        return False
    said = [
        any(dig(one, key) for key in _WHO) and any(isinstance(dig(one, key), str | list) for key in _SAID)
        for one in values[:_LOOKED_AT]
    ]
    return 2 * sum(said) > len(said)
