"""A file of conversations of one product: a JSON list of them, or one alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vicw_readers.assistants.conversations import Conversation, UnknownShapeError, records_of, text_in
from vicw_readers.intake.json_stream import json_values
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record


def read_conversations(source: SourceFile, convert: Callable[[object], Conversation], context: str) -> Iterator[Record]:
    """Yield the turns of all conversations of a file, one in memory at a time.

    One that cannot be converted is refused alone; one in which nothing is said is passed over by name.
    """
    for n, value in enumerate(json_values(source), 1):
        title = text_in(value, "title") or text_in(value, "name") or ""
        try:
            conversation = convert(value)
        except UnknownShapeError as error:
            yield source.refuse(f"conversation {n} {title!r} {error}")
            continue
        records = list(records_of(source, conversation, context))
        yield from records or [source.skip(f"conversation {n} {title!r} has no message")]
