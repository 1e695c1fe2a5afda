"""Exchange of a request for its answer, without I/O: retries, and the parsing of answers.

Each call is a generator that yields steps (`Send`, `PauseSeconds`) and receives their results. The two clients only
carry the steps out, so they cannot differ in behaviour.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel, ValidationError

from vicw_client._connection import timeout_of
from vicw_client._problems import failure_of, invalid_request
from vicw_client.errors import (
    RetryLaterError,
    ServerUnreachableError,
    TimedOutError,
    UnexpectedAnswerError,
    VicwClientError,
)
from vicw_shared.wire.filters import Filter


@dataclass(frozen=True, slots=True)
class Send:
    """Send this request; give back the response, or the error that httpx raised."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float | None = None
    """Timeout of this request; None: the client's."""
    files: Sequence[tuple[str, Path]] = ()
    """Files to send as a form instead of a body, by the names that the server is told."""

    @property
    def timeout(self) -> dict[str, Any]:
        """Return the keyword argument for httpx, if any."""
        return {} if self.timeout_seconds is None else {"timeout": timeout_of(self.timeout_seconds)}


@dataclass(frozen=True, slots=True)
class PauseSeconds:
    """Wait this many seconds."""

    seconds: float


type Reply = httpx.Response | httpx.RequestError | None
type Steps[T] = Generator[Send | PauseSeconds, Reply, T]


@dataclass(frozen=True, slots=True)
class Retry:
    """Number of attempts of a call, and the pauses between them.

    The n-th pause (from 0) is drawn evenly from [0, min(longest, first · 2ⁿ)] seconds ("full jitter", Brooker,
    AWS Architecture Blog, 2015), and is at least the server's Retry-After, which itself counts up to ``longest``.
    """

    attempts: int = 5
    first_seconds: float = 0.25
    longest_seconds: float = 10.0
    jitter: Callable[[], float] = random.random

    def pause(self, n: int, retry_after: float | None) -> PauseSeconds:
        """Return the n-th pause."""
        ceiling = min(self.longest_seconds, self.first_seconds * 2**n)
        return PauseSeconds(max(self.jitter() * ceiling, min(retry_after or 0.0, self.longest_seconds)))


JSON = {"Content-Type": "application/json"}


def exchange(send: Send, retry: Retry) -> Steps[httpx.Response]:
    """Send a request until it is answered; raise the failure of the last attempt, or one that no retry mends."""
    tries = 0
    while True:
        reply = arrived((yield send))
        failure = failure_of(reply)
        if failure is None:
            assert isinstance(reply, httpx.Response)
            return reply
        tries += 1
        yield retry_pause(failure, tries, retry)


def retry_pause(failure: VicwClientError, tries: int, retry: Retry) -> PauseSeconds:
    """Return the pause after so many failures in a row. Raises the failure if it was the last, or no retry mends it."""
    if tries >= retry.attempts or not _is_temporary(failure):
        raise failure
    return retry.pause(tries - 1, getattr(failure, "retry_after", None))


def _is_temporary(failure: VicwClientError) -> bool:
    """Return whether a retry may help: lost connections, 429, 503. A full disk (507) needs a person; a retry after a
    timeout may double the load.
    """
    if isinstance(failure, RetryLaterError):
        return failure.problem.status in {429, 503}
    return isinstance(failure, ServerUnreachableError) and not isinstance(failure, TimedOutError)


type FilterLike = Filter | Mapping[str, Any]
"""A filter, or its fields as a dict."""


def filtered(fields: dict[str, Any], chosen: FilterLike | None) -> dict[str, Any]:
    """Return the fields of a request with its filter among them, if there is one."""
    return fields if chosen is None else {**fields, "filter": chosen}


class _Filtered(BaseModel):
    filter: Filter


def query_of(model: type[BaseModel], fields: Mapping[str, Any]) -> str:
    """Return the query of a URL with these fields of a model; None counts as left out.

    ``filter`` is a ``Filter`` or its fields. Raises BadRequestError naming the fields that are wrong.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    try:
        if "filter" in given:
            chosen = _Filtered.model_validate({"filter": given["filter"]}).filter
            given["filter"] = chosen.model_dump_json(exclude_unset=True)
        query = model.model_validate(given)
    except ValidationError as error:
        raise invalid_request(error) from error
    return query_text(query.model_dump(mode="json", exclude_unset=True))


def query_text(parameters: Mapping[str, Any]) -> str:
    """Return the query of a URL, "" without parameters; of a list each value, and None is left out."""
    pairs = [
        (name, str(item))
        for name, value in parameters.items()
        if value is not None
        for item in ([value] if isinstance(value, str | int | float) else value)
    ]
    return f"?{urlencode(pairs, errors='surrogatepass')}" if pairs else ""


def arrived(reply: Reply) -> httpx.Response | httpx.RequestError:
    """Return the reply to a ``Send``."""
    assert reply is not None, "a Send is answered with a reply"
    return reply


def body_of[M: BaseModel](model: type[M], request: M | None, fields: dict[str, Any]) -> bytes:
    """Return a request, or the one with these fields, as JSON. Raises BadRequestError naming the wrong fields."""
    if request is not None and fields:
        raise TypeError(f"give a {model.__name__} or its fields, not both")
    try:
        request = request or model.model_validate(fields)
    except ValidationError as error:
        raise invalid_request(error) from error
    # Defaults are left out: the server chooses them.
    return request.model_dump_json(exclude_unset=True).encode()


def parse[M: BaseModel](model: type[M], reply: httpx.Response) -> M:
    """Return an answer as its model. Raises UnexpectedAnswerError."""
    try:
        # A newer server may send more fields, which must not break an older client.
        return model.model_validate_json(reply.content, extra="ignore")
    except ValidationError as error:
        raise UnexpectedAnswerError(
            f"{reply.url} answered {reply.status_code}, but not with a {model.__name__}: {error.error_count()} fields "
            "are wrong; is this VICW, and of this version?"
        ) from error
