"""Reader of chat exports, recognised by their content: a JSON file, or the downloaded .zip."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from vicw_standalone.sources.chatgpt import chatgpt_conversation
from vicw_standalone.sources.claude import claude_conversation
from vicw_standalone.sources.conversations import Conversation, UnknownShapeError, records_of, text_in
from vicw_standalone.sources.records import NothingToReadError, Record, SourceFile, UnreadableFileError
from vicw_standalone.sources.text_decoder import decode

MAX_EXPORT_BYTES = 1024 * 1024 * 1024
"""An export is read whole and needs several times its size in RAM."""
_SNIFF_BYTES = 65536

type _Reader = Callable[[object], Conversation]
_FORMATS: dict[str, tuple[str, _Reader]] = {
    "mapping": ("ChatGPT", chatgpt_conversation),
    "chat_messages": ("Claude", claude_conversation),
}


def looks_like_chats(path: Path) -> bool:
    """Return whether a JSON file may be a chat export, by its start."""
    with path.open("rb") as file:
        return _promising(file.read(_SNIFF_BYTES))


def read_chats(source: SourceFile) -> Iterator[Record] | None:
    """Return the turns in a JSON file, or None if it is valid JSON but no chat export."""
    if source.path.stat().st_size > MAX_EXPORT_BYTES:
        raise UnreadableFileError(f"is larger than {MAX_EXPORT_BYTES} bytes")
    conversations = _conversations(source.path.read_bytes())
    return _records(source, conversations) if conversations else None


def read_chat_archive(source: SourceFile) -> Iterator[Record]:
    """Yield the turns of all chat files inside a .zip; refuses one without any."""
    has_chats = False
    try:
        with zipfile.ZipFile(source.path) as archive:
            for member in sorted(archive.infolist(), key=lambda info: info.filename):
                if PurePosixPath(member.filename).suffix.lower() != ".json":
                    continue
                if conversations := _member(archive, member):
                    has_chats = True
                    yield from _records(source, conversations)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        # RuntimeError is how zipfile says that a password is needed.
        raise UnreadableFileError(f"is a .zip that cannot be read: {error}") from error
    if not has_chats:
        raise NothingToReadError("is a .zip without a ChatGPT or Claude export")


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> list[object]:
    with archive.open(member) as file:
        head = file.read(_SNIFF_BYTES)
        if not _promising(head):
            return []
        data = head + file.read(MAX_EXPORT_BYTES)
    if len(data) > MAX_EXPORT_BYTES:  # the archive's stated size cannot be trusted
        raise UnreadableFileError(f"holds a file of over {MAX_EXPORT_BYTES} bytes")
    return _conversations(data)


def _promising(head: bytes) -> bool:
    return any(f'"{key}"'.encode() in head for key in _FORMATS)


def _conversations(data: bytes) -> list[object]:
    """Return the list of conversations; empty if the JSON is something else."""
    try:
        value = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"is not JSON: {error}") from None
    values: list[object] = value if isinstance(value, list) else [value]
    return values if any(_format(item) for item in values) else []


def _format(value: object) -> tuple[str, _Reader] | None:
    keys = value.keys() if isinstance(value, dict) else ()
    return next((reader for key, reader in _FORMATS.items() if key in keys), None)


def _records(source: SourceFile, conversations: list[object]) -> Iterator[Record]:
    for n, value in enumerate(conversations, 1):
        reader = _format(value)
        try:
            if reader is None:
                raise UnknownShapeError("has an unknown format")
            yield from records_of(source, reader[1](value), reader[0])
        except UnknownShapeError as error:
            title = text_in(value, "title") or text_in(value, "name") or ""
            yield source.refuse(f"conversation {n} {title!r} {error}")
