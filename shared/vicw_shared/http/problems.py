"""Errors become HTTP here and nowhere else (RFC 9457)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from vicw_shared.errors import FieldProblem, InvalidInputError, NotFoundError, RetryableError, VicwError
from vicw_shared.wire.problem import MEDIA_TYPE, Problem, problem_of

_log = structlog.get_logger()
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
}


def install(app: FastAPI) -> None:
    """Make every error that ``app`` foresees a problem document."""

    async def known(_: Request, error: Exception) -> Response:
        assert isinstance(error, VicwError)
        if error.status >= 500:
            _log.warning("request failed", problem=error.slug, detail=error.detail)
        return respond(error)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return respond(InvalidInputError(*describe(error.errors())))

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404:
            return respond(NotFoundError("There is nothing at this address; /docs lists what there is"))
        named = VicwError(str(error.detail))
        named.status, named.title, named.slug = error.status_code, str(error.detail), f"http-{error.status_code}"
        return respond(named, headers=error.headers)

    app.add_exception_handler(VicwError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def respond(error: VicwError, headers: Any = None) -> Response:
    """Return the response of an error, with ``Retry-After`` where waiting helps."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    body: Problem = problem_of(error, request_id)
    extra = dict(headers or {})
    if isinstance(error, RetryableError):
        extra["Retry-After"] = str(error.retry_after_seconds)
    content = body.model_dump_json(exclude_defaults=True).encode("utf-8", "backslashreplace")
    return Response(content, body.status, extra, MEDIA_TYPE)


def unexpected() -> Response:
    """Return the response of an error that nobody foresaw; it tells nothing of it."""
    return respond(VicwError("An unexpected error; the log has it under this request id"))


_SAID = {
    "tuple_type": ("should be a list", "Send a JSON list"),
    "model_type": ("should be an object", "Send a JSON object"),
    "model_attributes_type": ("should be an object", "Send a JSON object"),
    "dict_type": ("should be an object", "Send a JSON object"),
    "too_short": ("is empty", "Send at least one"),
    "timestamp_zone": ("has no time zone", "End it with Z or an offset such as +02:00"),
}
"""Where Pydantic speaks of Python's types."""


def _said(error: Any) -> tuple[str, str]:
    """Return the problem and the fix of one error of Pydantic's."""
    kind, limits = error["type"], error.get("ctx", {})
    if kind in _SAID:
        return _SAID[kind]
    fix = _FIXES.get(kind, "Send what /docs describes")
    if kind == "greater_than_equal":
        fix = f"Send {limits['ge']} or more"
    elif kind == "less_than_equal":
        fix = f"Send {limits['le']} or less"
    return _sentence(error["msg"]), fix


def describe(errors: Sequence[Any]) -> list[FieldProblem]:
    """Say in our words what Pydantic found, at most twenty of it."""
    inner = {tuple(e["loc"][:depth]) for e in errors for depth in range(len(e["loc"]))}
    return [
        FieldProblem(_path(e["loc"]), *_said(e))
        # A list with a wrong item is also reported as too short: an echo.
        for e in [e for e in errors if tuple(e["loc"]) not in inner][:20]
    ]


def _path(location: Sequence[str | int]) -> str:
    parts = location[1:] if location and location[0] in {"body", "query", "path", "header"} else location
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path or "body"


def _sentence(message: str) -> str:
    return message[:1].lower() + message[1:]
