"""Records as lines of JSON, from the process that reads files to the one that stores their items."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from vicw_readers.records import Noted, Record, Refused, Report, Skipped, SourceItem
from vicw_shared.wire.ingest import Item

_REPORTS: dict[str, type[Report]] = {kind.__name__: kind for kind in (Refused, Skipped, Noted)}


def as_line(record: Record) -> bytes:
    """Return a record as a line.

    >>> from_line(as_line(Skipped("a.png", "is a picture")))
    Skipped(path='a.png', reason='is a picture', kind='')
    """
    if isinstance(record, SourceItem):
        fields = {name: getattr(record, name) for name in ("context", "domain", "path", "line", "reader")}
        ids = None if record.flow_ids is None else sorted(record.flow_ids)
        message = {**fields, "item": record.item.model_dump(mode="json", exclude_unset=True), "flow_ids": ids}
    else:
        message = {"report": type(record).__name__, **asdict(record)}
    return json.dumps(message).encode("ascii") + b"\n"


def from_line(line: bytes) -> Record:
    """Return the record of a line of ``as_line``."""
    message: dict[str, Any] = json.loads(line)
    if (kind := message.pop("report", None)) is not None:
        return _REPORTS[kind](**message)
    ids = message.pop("flow_ids")
    item = Item.model_validate_json(json.dumps(message.pop("item")))
    return SourceItem(**message, item=item, flow_ids=None if ids is None else frozenset(ids))
