"""Mapping of errors to HTTP problem documents (RFC 9457)."""

from __future__ import annotations

from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import Counter
from starlette.exceptions import HTTPException
from starlette.routing import Match

from vicw_shared.errors import (
    NOTHING_HERE,
    ForbiddenError,
    InvalidInputError,
    MissingRecordError,
    RetryableError,
    UnauthorizedError,
    VicwError,
)
from vicw_shared.wire.problem import MEDIA_TYPE, Problem, problem_of
from vicw_shared.wire.validation_errors import describe

_log = structlog.get_logger()
PROBLEMS = Counter("vicw_http_problems_total", "Requests answered with a problem document", ["problem"])
_LOCATIONS = {"body", "query", "path", "header"}
"""Location prefixes that FastAPI adds to a field; a caller does not need them."""


def install(app: FastAPI) -> None:
    """Make ``app`` answer every expected error with a problem document."""

    async def expected(_: Request, error: Exception) -> Response:
        assert isinstance(error, VicwError)
        if error.status >= 500:
            _log.warning("request failed", problem=error.slug, detail=error.detail)
        return respond(error)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return respond(InvalidInputError(*describe([_strip_location(e) for e in error.errors()])))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404:
            return respond(MissingRecordError(NOTHING_HERE))
        headers, detail = dict(error.headers or {}), str(error.detail)
        if error.status_code == 405:
            headers["Allow"] = ", ".join(sorted(_methods(request)))
            detail = f"{request.method} is not allowed at {request.url.path}. Send {headers['Allow']}"
        named = VicwError(detail)
        named.status, named.title, named.slug = error.status_code, str(error.detail), f"http-{error.status_code}"
        return respond(named, headers=headers)

    app.add_exception_handler(VicwError, expected)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def _methods(request: Request) -> set[str]:
    """Return the methods of the request's path over all routes; the error itself lists those of one route."""
    return {
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        for route in request.app.routes
        if route.matches({**request.scope, "method": method})[0] is Match.FULL
    }


def respond(error: VicwError, headers: Any = None) -> Response:
    """Return an error's response, with ``Retry-After`` for a RetryableError."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    PROBLEMS.labels(error.slug).inc()
    body: Problem = problem_of(error, request_id)
    extra = dict(headers or {})
    if isinstance(error, RetryableError):
        extra["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, UnauthorizedError | ForbiddenError) and error.challenge is not None:
        extra["WWW-Authenticate"] = error.challenge
    content = body.model_dump_json(exclude_defaults=True).encode("utf-8", "backslashreplace")
    return Response(content, body.status, extra, MEDIA_TYPE)


def unexpected() -> VicwError:
    """Return what is said of an unexpected error; it reveals no details."""
    return VicwError("An unexpected error; the log has it under this request id")


def _strip_location(error: Any) -> Any:
    location = error["loc"]
    return {**error, "loc": location[1:]} if location and location[0] in _LOCATIONS else error


_DESCRIPTIONS = {
    401: "Missing or invalid key",
    403: "The key lacks the right",
    404: "Not found",
    409: "Contradicts an earlier request",
    412: "If-Match does not name the stored version; nothing was changed",
    413: "Over a size limit",
    422: "A field is wrong; nothing was stored",
    429: "Too much work is waiting; try again after a while",
    503: "A dependency is down",
    507: "The disk is full; nothing was stored",
}
_PROBLEM = {"$ref": f"#/components/schemas/{Problem.__name__}"}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return a route's ``responses`` for refusals with these statuses."""
    return {status: {"model": Problem, "description": _DESCRIPTIONS[status]} for status in statuses}


def name_media_types(app: FastAPI) -> None:
    """Give problem documents their media type in the OpenAPI: FastAPI supports only one media type per route."""
    build = app.openapi

    def openapi() -> dict[str, Any]:
        document = build()
        for methods in document.get("paths", {}).values():
            for operation in methods.values():
                for response in operation["responses"].values():
                    contents = response.get("content", {}).values()
                    if any(content.get("schema") == _PROBLEM for content in contents):
                        response["content"] = {MEDIA_TYPE: {"schema": _PROBLEM}}
        return document

    app.openapi = openapi  # type: ignore[method-assign]
