"""Reader of JSON Lines of items, plain or gzipped: a broken line is refused alone."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from gzip import BadGzipFile
from typing import Any, BinaryIO, NoReturn

from pydantic import ValidationError

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.limits import limits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.intake.text_decoder import UTF16_MARKS, decode
from vicw_readers.records import NothingToReadError, Record, UnreadableFileError, faults_of
from vicw_shared.wire.base import Id, Message, Prose

_SUFFIXES = {".jsonl", ".ndjson"}


class _Place(Message):
    context: Id | None = None
    domain: Prose | None = None


class ItemLinesReader:
    """Lines of items, as in ``POST /ingest``."""

    name = "items"
    title = "JSON Lines of items"
    files = ("*.jsonl", "*.ndjson", "*.jsonl.gz")
    keeps = "all fields of an item; a line is an item"
    leaves = "lines that are no item, each refused by its number"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether the suffix is one of JSON Lines: each line is judged by itself."""
        return start.suffix in _SUFFIXES

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the item of each line."""
        return read_jsonl(source)


def read_jsonl(source: SourceFile) -> Iterator[Record]:
    """Yield the item of each line; the line's own ``context`` and ``domain`` override the user's options.

    Blank lines are skipped. An item without an id gets none.
    """
    count = 0
    with source.open() as file:
        try:
            for count, raw in enumerate(_lines(file), 1):
                if raw is None:
                    yield source.refuse(
                        f"is longer than {limits().line_bytes} bytes", count, fix="Raise VICW_READERS_LINE_MB"
                    )
                elif count == 1 and raw.startswith(UTF16_MARKS):
                    raise UnreadableFileError("is UTF-16; JSON Lines are UTF-8")
                elif raw.strip():
                    yield _record(source, raw, count)
        except (EOFError, zlib.error, BadGzipFile) as error:
            raise UnreadableFileError(f"is a broken gzip file: {error}", count + 1) from error
    if not count:
        raise NothingToReadError("is empty")


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield lines, None for one that is too long; never holds more than the limit."""
    most = limits().line_bytes
    while line := file.readline(most + 1):
        if len(line) <= most:
            yield line
            continue
        yield None
        while line and not line.endswith(b"\n"):
            line = file.readline(most)


def _record(source: SourceFile, raw: bytes, line: int) -> Record:
    try:
        fields = _object(raw)
        if isinstance(fields.get("id"), int) and not isinstance(fields["id"], bool):
            fields["id"] = str(fields["id"])  # numbers as ids are what databases export
        place = _Place.model_validate({key: fields.pop(key, None) for key in ("context", "domain")})
    except UnreadableFileError as error:
        return source.refuse(error.reason, line)
    except ValidationError as error:
        return source.refuse(faults_of(error), line)
    return source.item(fields, line=line, said_context=place.context, said_domain=place.domain)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(decode(raw), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise UnreadableFileError(f"is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"is not JSON that can be stored: {error}") from None
    if not isinstance(value, dict):
        raise UnreadableFileError("is not a JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
