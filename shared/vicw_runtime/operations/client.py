"""Calls an operation of a server."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import ValidationError

from vicw_runtime.operations.lines import OperationLine
from vicw_runtime.operations.operation import Operation, Report
from vicw_shared.errors import (
    NOTHING_HERE,
    FatalError,
    ForbiddenError,
    MissingRecordError,
    SettingsError,
    UnauthorizedError,
    UnavailableError,
)
from vicw_shared.wire.base import Message
from vicw_shared.wire.problem import Problem, error_of

_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 60.0
"""A server gives a sign of life every few seconds."""
KEY = "VICW_API_KEY"


class NoOperationError(MissingRecordError):
    """The server has no operations: it is a service of the platform, or none of VICW's."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server that has the memory open. ``token`` is a key, or what the owner of its data directory sends."""

    url: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def at(cls, url: str) -> ServerAddress:
        """Return the server at an address, with the key in ``VICW_API_KEY`` if it is set.

        Raises SettingsError if that cannot be sent: an error of the HTTP library would show the key.
        """
        key = os.environ.get(KEY, "").strip()
        if not key.isprintable():
            raise SettingsError(f"{KEY} holds a line break or another control character, which no key has")
        return cls(url, key or None)


def call[R: Message, I: Message](
    server: ServerAddress, operation: Operation[Any, Any, R, I], request: Message, report: Report[I]
) -> R:
    """Have a server run an operation; return its result.

    Raises the error that the operation raises there, NoOperationError if there are none, UnavailableError if the server
    does not answer or ends meanwhile, and FatalError if what answers is no such server.
    """
    headers = {b"Content-Type": b"application/json"}
    if server.token is not None:
        headers[b"Authorization"] = f"Bearer {server.token}".encode()
    body = request.model_dump_json(exclude_defaults=True)
    line_model = OperationLine[operation.item, operation.result]  # type: ignore[name-defined]
    timeout = httpx.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
    url = f"{server.url.rstrip('/')}/admin/{operation.name}"
    try:
        with httpx.stream("POST", url, content=body, headers=headers, timeout=timeout, trust_env=False) as answer:
            if not answer.is_success:
                raise _refusal(server, answer.status_code, answer.read())
            for text in _lines(answer.iter_bytes()):
                if not text:
                    continue
                line = line_model.model_validate_json(text)
                if line.result is not None:
                    return line.result  # type: ignore[no-any-return]
                if line.problem is not None:
                    raise error_of(line.problem)
                if line.item is not None:
                    report.item(line.item)
                if line.progress is not None:
                    report.progress(line.progress.step, line.progress.done, line.progress.total)
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise UnavailableError(
            "server", f"{server.url} does not answer: {str(error) or type(error).__name__}"
        ) from error
    except ValidationError as error:
        raise FatalError(f"The server at {server.url} answers with what this version of vicw cannot read") from error
    raise UnavailableError(
        "server", f"{server.url} ended meanwhile. What it has done so far stays; run the command again"
    )


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of an answer. httpx's own also end at U+2028 and the like, which JSON holds unescaped."""
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    yield rest


def _refusal(server: ServerAddress, status: int, body: bytes) -> Exception:
    try:
        problem = Problem.model_validate_json(body)
    except ValidationError:
        if status == 404:
            return NoOperationError(f"The server at {server.url} has no operations: is it one of VICW's?")
        text = body[:200].decode(errors="replace")
        return FatalError(f"The server at {server.url} answers {status}: {text}")
    error = error_of(problem)
    if isinstance(error, MissingRecordError) and error.detail == NOTHING_HERE:
        return NoOperationError(
            f"The server at {server.url} does not have this: a service of the platform has no /admin"
        )
    if isinstance(error, UnauthorizedError | ForbiddenError):
        return type(error)(f"The server at {server.url} refuses: {error.detail}")
    return error
