"""Pydantic's validation errors in VICW's own wording, for every place of validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vicw_shared.errors import FieldProblem

_MAX_PROBLEMS = 20
_FIXES = {
    "missing": "Add it",
    "extra_forbidden": "Remove it, or check its spelling",
    "blank": "Send some text, or leave the field out if it is optional",
    "unstorable": "Remove the character",
    "too_deep": "Flatten it",
    "timestamp_type": "Send RFC 3339 text",
    "timestamp_range": "Send a time between the years 0001 and 9999 UTC",
    "datetime_from_date_parsing": "Send RFC 3339 text such as 2026-01-19T10:00:00Z",
    "datetime_parsing": "Send RFC 3339 text such as 2026-01-19T10:00:00Z",
    "enum": "Use one of the values listed",
    "literal_error": "Use one of the values listed",
    "places": "Correct the placeholders in braces",
    "time_zone": "Send a name such as Europe/Berlin, or leave it out for UTC",
    "budget": "Leave one of them out",
    "filter_field": "Correct its name",
    "no_operator": "Add one of them",
    "null_operator": 'Leave the operator out; {"exists": false} finds items without a value',
    "null_condition": 'Leave it out; {"exists": false} finds items without a value',
    "scalar": "Send one value; `in` takes a list",
    "mixed_bounds": "Compare with numbers, or with text",
}
_OWN_WORDING = {
    "tuple_type": ("should be a list", "Send a JSON list"),
    "model_type": ("should be an object", "Send a JSON object"),
    "model_attributes_type": ("should be an object", "Send a JSON object"),
    "dict_type": ("should be an object", "Send a JSON object"),
    "bool_type": ("should be true or false", "Send true or false, without quotation marks"),
    "too_short": ("is empty", "Send at least one"),
    "timestamp_zone": ("has no time zone", "End it with Z or an offset such as +02:00"),
}
"""Problem and fix of errors that Pydantic words in Python's types."""


def describe(errors: Sequence[Any], root: str = "body") -> list[FieldProblem]:
    """Return at most twenty of the errors, each with its field and its fix; ``root`` is the field of others."""
    inner = {tuple(e["loc"][:depth]) for e in errors for depth in range(len(e["loc"]))}
    return [
        FieldProblem(_path(e["loc"]) or root, *_wording(e))
        # Only the innermost errors: a list with a wrong item is also reported as too short.
        for e in [e for e in errors if tuple(e["loc"]) not in inner][:_MAX_PROBLEMS]
    ]


def _wording(error: Any) -> tuple[str, str]:
    """Return the problem and the fix of one of Pydantic's errors."""
    kind, limits = error["type"], error.get("ctx", {})
    if kind in _OWN_WORDING:
        return _OWN_WORDING[kind]
    fix = _FIXES.get(kind, "Send what /docs describes")
    if kind == "greater_than_equal":
        fix = f"Send {limits['ge']} or more"
    elif kind == "less_than_equal":
        fix = f"Send {limits['le']} or less"
    message: str = error["msg"]
    return message[:1].lower() + message[1:], fix


def _path(location: Sequence[str | int]) -> str:
    """Return a location as a path: ``("items", 3, "text")`` is ``items[3].text``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path
