"""Strict JSON bodies: no NaN, bounded nesting, and errors that name the position."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

from vicw_shared.errors import FieldProblem, InvalidInputError


class StrictRoute(APIRoute):
    """Route that parses its body with ``parse_json`` before FastAPI validates it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler; it parses the body first and puts it into Starlette's cache."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            body = await request.body()
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
