"""Write a file, and read it as an import does."""

from __future__ import annotations

import json
from pathlib import Path

from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, Skipped, SourceItem


def written(path: Path, value: object) -> Path:
    """Write text, bytes, or anything else as JSON; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
    path.write_bytes(data)
    return path


def json_lines(path: Path, *values: object) -> Path:
    """Write a file of JSON Lines; return the path."""
    return written(path, "".join(f"{json.dumps(value)}\n" for value in values))


def records_in(path: Path, options: ImportOptions | None = None) -> list[Record]:
    """Return all records of a file or folder."""
    return list(read_paths([path], options))


def items_in(path: Path, options: ImportOptions | None = None) -> list[SourceItem]:
    """Return the items of a file or folder."""
    return [record for record in records_in(path, options) if isinstance(record, SourceItem)]


def refusals_in(path: Path) -> list[Refused]:
    """Return what was refused of a file or folder."""
    return [record for record in records_in(path) if isinstance(record, Refused)]


def skips_in(path: Path) -> list[Skipped]:
    """Return what was passed over of a file or folder."""
    return [record for record in records_in(path) if isinstance(record, Skipped)]


def said(items: list[SourceItem]) -> list[tuple[str | None, str]]:
    """Return speaker and text of items."""
    return [(one.item.speaker, one.item.text) for one in items]
