"""The protocol with no I/O in it: what to send, when to send it again, what an answer means.

Each call is a generator that yields what to do (`Send`, `Pause`) and is given what came of it. The two
clients only carry the steps out, so they cannot differ in behaviour.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import httpx
from pydantic import BaseModel, ValidationError

from vicw_client._connection import timeout_of
from vicw_client._problems import failing_in, failure_of, invalid_request
from vicw_client.errors import (
    JobFailedError,
    JobTimeoutError,
    RetryLaterError,
    ServerUnreachableError,
    TimedOutError,
    UnexpectedAnswerError,
    VicwClientError,
)
from vicw_shared.wire.entities import Entity, EntityPage, IdentityChange, MergeCandidatePage
from vicw_shared.wire.graph import GraphAnswer, GraphQuestion
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.knowledge import KnownPages
from vicw_shared.wire.retract import RetractRequest, RetractResponse
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

_POLL_FIRST_SECONDS = 0.1
_POLL_LONGEST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Send:
    """Send this request; give back the response, or the error that httpx raised."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float | None = None
    """How long to wait, where it is not as long as the client waits for everything."""

    @property
    def timeout(self) -> dict[str, Any]:
        """Return the argument for httpx, where there is one."""
        return {} if self.timeout_seconds is None else {"timeout": timeout_of(self.timeout_seconds)}


@dataclass(frozen=True, slots=True)
class PauseSeconds:
    """Wait so many seconds."""

    seconds: float


type Reply = httpx.Response | httpx.RequestError | None
type Steps[T] = Generator[Send | PauseSeconds, Reply, T]


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a call is tried, and the pauses between tries.

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


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the server can work; ``detail`` names what is missing. True and false like a bool.

    ``answered`` is false if there is no server at the address at all. ``store`` is the name of the store behind a
    server that is ready: another store at the same address has another.
    """

    ready: bool
    detail: str = ""
    answered: bool = True
    store: str | None = None

    def __bool__(self) -> bool:
        return self.ready


def ingest(
    request: IngestRequest | None, fields: dict[str, Any], key: str | None, retry: Retry, timeout: float | None = None
) -> Steps[IngestResponse]:
    """Store items. The key makes a second sending harmless, so there always is one."""
    body = _body(IngestRequest, request, fields)
    send = Send("POST", "/ingest", body, {**_JSON, "Idempotency-Key": key or str(uuid.uuid4())}, timeout)
    return _parse(IngestResponse, (yield from _exchange(send, retry)))


def retract(request: RetractRequest | None, fields: dict[str, Any], retry: Retry) -> Steps[RetractResponse]:
    """Take items back. Safe to send again as it is."""
    send = Send("POST", "/items/retract", _body(RetractRequest, request, fields), _JSON)
    return _parse(RetractResponse, (yield from _exchange(send, retry)))


def retrieve(
    request: RetrieveRequest | None, fields: dict[str, Any], retry: Retry, base: str, timeout: float | None = None
) -> Steps[RetrieveResponse]:
    """Ask a question; ``base`` is what ``asked_at`` returns."""
    send = Send("POST", f"{base}/retrieve", _body(RetrieveRequest, request, fields), _JSON, timeout)
    return _parse(RetrieveResponse, (yield from _exchange(send, retry)))


def graph[M: GraphQuestion](
    name: str, model: type[M], request: M | None, fields: dict[str, Any], retry: Retry, base: str
) -> Steps[GraphAnswer]:
    """Ask the graph the question called ``name``; ``base`` is what ``asked_at`` returns."""
    send = Send("POST", f"{base}/graph/{name}", _body(model, request, fields), _JSON)
    return _parse(GraphAnswer, (yield from _exchange(send, retry)))


def job(job_id: str, retry: Retry) -> Steps[JobStatus]:
    """Ask how far a job is."""
    send = Send("GET", f"/ingest/jobs/{quote(job_id, safe='')}")
    return _parse(JobStatus, (yield from _exchange(send, retry)))


def wait_for(
    awaited: str | IngestResponse, timeout_seconds: float, now: Callable[[], float], retry: Retry
) -> Steps[IngestResponse]:
    """Poll a job until it has ended, less and less often."""
    if isinstance(awaited, IngestResponse):
        if awaited.job is None:
            return awaited
        awaited = awaited.job
    deadline = now() + timeout_seconds
    pause = _POLL_FIRST_SECONDS
    while (status := (yield from job(awaited, retry))).status == "running":
        left = deadline - now()
        if left <= 0:
            raise JobTimeoutError(
                f"job {awaited} still has {status.passages_waiting} passages waiting after {timeout_seconds:g} s"
            )
        yield PauseSeconds(min(pause, left))
        pause = min(pause * 1.5, _POLL_LONGEST_SECONDS)
    if status.status == "failed":
        raise JobFailedError(status)
    if status.result is None:
        raise UnexpectedAnswerError(f"job {awaited} is done, but its record lacks the result")
    return status.result


def entities(query: Mapping[str, Any], retry: Retry) -> Steps[EntityPage]:
    """Ask for a page of a context's named things."""
    return _parse(EntityPage, (yield from _exchange(Send("GET", f"/entities{_query(query)}"), retry)))


def entity_candidates(query: Mapping[str, Any], retry: Retry) -> Steps[MergeCandidatePage]:
    """Ask which things may be one."""
    return _parse(
        MergeCandidatePage, (yield from _exchange(Send("GET", f"/entities/candidates{_query(query)}"), retry))
    )


def knowledge(query: Mapping[str, Any], retry: Retry) -> Steps[KnownPages]:
    """Ask which pages a knowledge folder has."""
    return _parse(KnownPages, (yield from _exchange(Send("GET", f"/knowledge{_query(query)}"), retry)))


def entity(uid: str, retry: Retry) -> Steps[Entity]:
    """Ask for one thing."""
    return _parse(Entity, (yield from _exchange(Send("GET", f"/entities/{quote(uid, safe='')}"), retry)))


def change_identity(path: str, model: type[BaseModel], fields: dict[str, Any], retry: Retry) -> Steps[IdentityChange]:
    """Merge, split or rename: a second sending finds it done."""
    send = Send("POST", path, _body(model, None, fields), _JSON)
    return _parse(IdentityChange, (yield from _exchange(send, retry)))


def renaming_path(uid: str) -> str:
    """Return where a thing gets another name."""
    return f"/entities/{quote(uid, safe='')}/rename"


def ready() -> Steps[Readiness]:
    """Ask whether the server can work; one that is down is an answer, not an error."""
    reply = yield Send("GET", "/readyz")
    failure = failure_of(_arrived(reply))
    if failure is None:
        return Readiness(True, store=_store_in(_arrived(reply)))
    if isinstance(failure, RetryLaterError) and isinstance(reply, httpx.Response):
        return Readiness(False, failing_in(reply))
    if isinstance(failure, ServerUnreachableError):
        return Readiness(False, str(failure), answered=False)
    raise failure


def _store_in(reply: httpx.Response | httpx.RequestError) -> str | None:
    try:
        return str(reply.json()["store"]) if isinstance(reply, httpx.Response) else None
    except (ValueError, KeyError, TypeError):
        return None


_JSON = {"Content-Type": "application/json"}


def _exchange(send: Send, retry: Retry) -> Steps[httpx.Response]:
    tries = 0
    while True:
        reply = _arrived((yield send))
        failure = failure_of(reply)
        if failure is None:
            assert isinstance(reply, httpx.Response)
            return reply
        tries += 1
        if tries >= retry.attempts or not _passes_by_itself(failure):
            raise failure
        yield retry.pause(tries - 1, getattr(failure, "retry_after", None))


def _passes_by_itself(failure: VicwClientError) -> bool:
    """Lost connections and 429, 503. A full disk (507) wants a person; a timeout may double the load."""
    if isinstance(failure, RetryLaterError):
        return failure.problem.status in {429, 503}
    return isinstance(failure, ServerUnreachableError) and not isinstance(failure, TimedOutError)


def _query(given: Mapping[str, Any]) -> str:
    pairs = [
        (name, str(one))
        for name, value in given.items()
        if value is not None
        for one in ([value] if isinstance(value, str | int | float) else value)
    ]
    return f"?{urlencode(pairs, errors='surrogatepass')}" if pairs else ""


def _arrived(reply: Reply) -> httpx.Response | httpx.RequestError:
    assert reply is not None, "a Send is answered with a reply"
    return reply


def _body[M: BaseModel](model: type[M], request: M | None, fields: dict[str, Any]) -> bytes:
    if request is not None and fields:
        raise TypeError(f"give a {model.__name__} or its fields, not both")
    try:
        request = request or model.model_validate(fields)
    except ValidationError as error:
        raise invalid_request(error) from error
    # Defaults stay out: they are the server's to choose.
    return request.model_dump_json(exclude_unset=True).encode()


def _parse[M: BaseModel](model: type[M], reply: httpx.Response) -> M:
    try:
        # A newer server may say more; that must not break an older client.
        return model.model_validate_json(reply.content, extra="ignore")
    except ValidationError as error:
        raise UnexpectedAnswerError(
            f"{reply.url} answered {reply.status_code} with something else than a {model.__name__}: "
            f"{error.error_count()} fields are wrong; is this VICW, and of this version?"
        ) from error
