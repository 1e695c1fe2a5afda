"""Request bodies: strict JSON with errors that name the place, and memory limits for one body and for all in flight."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Message, Receive

from vicw_shared.errors import FieldProblem, InvalidInputError, LimitExceededError, OverloadedError

STREAMED = frozenset({("POST", "/import")})
"""Requests whose bodies go to the disk as they arrive, under limits of their own: they are counted nowhere here."""


class StrictRoute(APIRoute):
    """Route that parses its body with ``parse_json`` before FastAPI validates it, unless its handler reads it."""

    reads_body = True

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler; it parses the body first and puts it into Starlette's cache."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            body = await request.body() if self.reads_body else b""
            if body and self.body_field is not None:
                _require_json(request.headers.get("content-type", ""))
                request._json = parse_json(body)  # Starlette's own cache of the parsed body
            return await handle(request)

        return strict


def parse_json(body: bytes) -> Any:
    """Parse a request body.

    Raises InvalidInputError that names the fault and its position: not UTF-8, not JSON, a number that is not finite or
    too long, nested too deep.
    """
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise _broken(f"is not valid UTF-8 at byte {error.start}", "Send UTF-8") from error
    except json.JSONDecodeError as error:
        raise _broken(f"is not valid JSON at character {error.pos}: {error.msg}", "Mend the JSON") from error
    except RecursionError as error:
        raise _broken("is nested too deep", "Flatten it") from error
    except ValueError as error:
        raise _broken(f"has a number that cannot be read: {error}", "Send a smaller number") from error


def _require_json(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        sent = f"is sent as {kind!r}" if kind else "is sent without a Content-Type"
        raise _broken(sent, "Send JSON with the header Content-Type: application/json")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _broken(f"contains {digits[:40]}, which is beyond what a float holds", "Send a smaller number")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise _broken(f"contains {name}, which JSON does not know", "Send a finite number or null")


def _broken(problem: str, fix: str) -> InvalidInputError:
    return InvalidInputError(FieldProblem("body", problem, fix))


class Bodies:
    """Counts the bytes of bodies until their requests are answered: processing a body takes several times its size."""

    def __init__(self, max_bytes: int, max_total_bytes: int) -> None:
        """Allow ``max_bytes`` per body, and ``max_total_bytes`` for all at once; a body alone is always read."""
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        self._in_flight = 0

    @contextmanager
    def reading(self, declared: int, receive: Receive) -> Iterator[Receive]:
        """Yield a replacement of ``receive``; ``declared`` is the body's Content-Length, 0 without one.

        This call and the replacement raise LimitExceededError for an oversized body, and OverloadedError while other
        bodies leave no room.
        """
        self._require_allowed(declared)
        counted, received = self._take(0, declared), 0

        async def counting() -> Message:
            nonlocal counted, received
            message = await receive()
            received += len(message.get("body", b""))
            self._require_allowed(received)
            if received > counted:
                counted = self._take(counted, received)
            return message

        try:
            yield counting
        finally:
            self._in_flight -= counted

    def _require_allowed(self, size: int) -> None:
        if size > self._max_bytes:
            raise LimitExceededError(
                f"body: over {self._max_bytes} bytes (VICW_MAX_BODY_BYTES). "
                "Send it in several requests, or raise the limit"
            )

    def _take(self, counted: int, size: int) -> int:
        others = self._in_flight - counted
        if others and others + size > self._max_total_bytes:
            raise OverloadedError(
                f"body: with those of other requests under way it is over {self._max_total_bytes} bytes "
                "(VICW_MAX_BODIES_BYTES). Send it again in a moment, or in several requests"
            )
        self._in_flight = others + size
        return size
