"""A file of conversations of one product: a JSON list of them, or one alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from vicw_readers.assistants.conversations import Conversation, UnknownShapeError, records_of, text_in
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.intake.text_decoder import decode
from vicw_readers.records import Record, UnreadableFileError

MAX_EXPORT_BYTES = 1024 * 1024 * 1024
"""An export is read whole and needs several times its size in RAM."""


def read_conversations(source: SourceFile, convert: Callable[[object], Conversation], context: str) -> Iterator[Record]:
    """Yield the turns of all conversations of a file; one that cannot be converted is refused alone."""
    for n, value in enumerate(_conversations(source), 1):
        try:
            yield from records_of(source, convert(value), context)
        except UnknownShapeError as error:
            title = text_in(value, "title") or text_in(value, "name") or ""
            yield source.refuse(f"conversation {n} {title!r} {error}")


def _conversations(source: SourceFile) -> list[object]:
    with source.open() as file:
        data = file.read(MAX_EXPORT_BYTES + 1)
    if len(data) > MAX_EXPORT_BYTES:
        raise UnreadableFileError(f"is larger than {MAX_EXPORT_BYTES} bytes")
    try:
        value = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"is not JSON: {error}") from None
    return value if isinstance(value, list) else [value]
