"""Rows of an export: nodes, edges and records as JSON lines.

Fields with their default value are left out. Instants are ISO 8601 in UTC, to the microsecond.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from vicw_core.archive import refusal
from vicw_shared.model import Edge, Node
from vicw_shared.model.keys import ApiKey
from vicw_shared.ports import MaintenanceStep

UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterRow:
    """The highest number assigned so far in a context: of arrivals (``flow`` None) or of a flow's steps."""

    tenant: str
    context: str
    flow: str | None
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingExtractionRow:
    """An item that a language model has not extracted yet."""

    tenant: str
    context: str
    item: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UseRow:
    """Number of ``times`` that answers have shown an item, and the ``last`` time."""

    tenant: str
    context: str
    item: str
    times: int
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRow:
    """The stored answer to a request with an idempotency key."""

    tenant: str
    key: str
    fingerprint: str
    created_at: datetime
    body: Mapping[str, object] = field(default_factory=dict)


type Row = Node | Edge | CounterRow | PendingExtractionRow | UseRow | ReceiptRow | MaintenanceStep | ApiKey

_UIDS: Mapping[type, tuple[str, ...]] = {
    Node: ("uid", "qdrant_id"),
    Edge: ("id", "source", "target"),
    PendingExtractionRow: ("item",),
    UseRow: ("item",),
}
"""Fields with UUIDs in canonical form."""
_FRACTIONS: Mapping[type, tuple[str, ...]] = {Edge: ("weight",), Node: ("importance",)}
"""Fields with numbers in [0, 1], or None."""
_COUNTS: Mapping[type, tuple[str, ...]] = {
    Node: ("version", "flow_step", "own_step", "arrival"),
    CounterRow: ("value",),
    UseRow: ("times",),
}
"""Fields with signed 64-bit integers, or None."""
_INT64_LIMIT = 2**63


class RowType[T: Row]:
    """Serialiser of one kind of row."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._adapter = TypeAdapter(kind)
        self._fields = [(column.name, _default(column)) for column in fields(kind)]
        self._names = {name for name, _ in self._fields}
        self._times = [column.name for column in fields(kind) if "datetime" in str(column.type)]

    def dump(self, row: T) -> str:
        """Return a row as one line, without the newline."""
        values = {name: getattr(row, name) for name, _ in self._fields}
        changed = {name: _plain(values[name]) for name, default in self._fields if values[name] != default}
        return json.dumps(changed, ensure_ascii=False, separators=(",", ":"))

    def load(self, line: str, file: str, number: int) -> T:
        """Return the row of a line. Raises InvalidInputError that names the file, the line and the field."""
        try:
            row = self._adapter.validate_json(line, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            path = ".".join(map(str, first["loc"]))
            raise refusal(file, f"{path or 'the line'}: {first['msg']}", line=number) from error
        try:
            parsed = json.loads(line, parse_constant=_refused, parse_float=_finite)
        except ValueError as error:
            raise refusal(file, f"the line: {error}", line=number) from error
        if unknown := sorted(parsed.keys() - self._names):
            raise refusal(file, f"{unknown[0]!r} is not a known field", line=number)
        if problem := self._flaw(row):
            raise refusal(file, problem, line=number)
        return row

    def _flaw(self, row: T) -> str | None:
        """Return the first fault of a value that its type allows but a store does not, or None."""
        for name in _UIDS.get(self._kind, ()):
            if (uid := getattr(row, name)) is not None and not UID.fullmatch(uid):
                return f"{name}: {uid[:50]!r} is not a UUID"
        for name in self._times:
            if (at := getattr(row, name)) is not None and (problem := _time_flaw(at)):
                return f"{name}: {problem}"
        for name in _FRACTIONS.get(self._kind, ()):
            if (share := getattr(row, name)) is not None and not 0 <= share <= 1:
                return f"{name}: {share} is outside [0, 1]"
        for name in _COUNTS.get(self._kind, ()):
            if (count := getattr(row, name)) is not None and not -_INT64_LIMIT <= count < _INT64_LIMIT:
                return f"{name}: {count} has more than 64 bits"
        return None


def _refused(constant: str) -> float:
    """Reject a constant that is not valid JSON, which a store could not return."""
    raise ValueError(f"{constant} is not a finite number")


def _finite(text: str) -> float:
    """Parse a number. Raises ValueError for a number that is not finite, which no store accepts."""
    return number if math.isfinite(number := float(text)) else _refused(text[:50])


def _default(column: Any) -> object:
    """Return a field's default; MISSING, which equals no value, if it has none."""
    if column.default is not MISSING:
        return column.default
    return column.default_factory() if column.default_factory is not MISSING else MISSING


def _time_flaw(at: datetime) -> str | None:
    if at.tzinfo is None:
        return "is without a time zone"
    try:
        at.astimezone(UTC)
    except OverflowError:
        return f"{at.isoformat()} is before the year 1 or after 9999 in UTC"
    return None


def _plain(value: object) -> object:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


NODES = RowType(Node)
EDGES = RowType(Edge)
COUNTERS = RowType(CounterRow)
PENDING_EXTRACTIONS = RowType(PendingExtractionRow)
USES = RowType(UseRow)
RECEIPTS = RowType(ReceiptRow)
STEPS = RowType(MaintenanceStep)
KEYS = RowType(ApiKey)
