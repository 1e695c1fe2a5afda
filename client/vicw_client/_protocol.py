"""The protocol without I/O: requests, retries and the parsing of answers.

Each call is a generator that yields steps (`Send`, `PauseSeconds`) and receives their results. The two clients only
carry the steps out, so they cannot differ in behaviour.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
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
from vicw_shared.wire.changes import AuditPage
from vicw_shared.wire.entities import Entity, EntityPage, IdentityChange, MergeCandidatePage
from vicw_shared.wire.forget import EraseRequest, Erasure
from vicw_shared.wire.graph import GraphAnswer, GraphQuestion
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.keys import Key, Keys, MadeKey, NewKey
from vicw_shared.wire.knowledge import KnownPages
from vicw_shared.wire.patch import ItemPatch, PatchedItem
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
    """Timeout of this request; None: the client's."""

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


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the server can work; ``detail`` names what is missing. True and false like a bool.

    ``answered`` is false if no server answers at the address. ``store`` is the id of a ready server's store: another
    store at the same address has another id.
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
    """Store items, always with an idempotency key, so that a retry is harmless."""
    body = _body(IngestRequest, request, fields)
    send = Send("POST", "/ingest", body, {**_JSON, "Idempotency-Key": key or str(uuid.uuid4())}, timeout)
    return _parse(IngestResponse, (yield from _exchange(send, retry)))


def retract(request: RetractRequest | None, fields: dict[str, Any], retry: Retry) -> Steps[RetractResponse]:
    """Retract items. Idempotent."""
    send = Send("POST", "/items/retract", _body(RetractRequest, request, fields), _JSON)
    return _parse(RetractResponse, (yield from _exchange(send, retry)))


def patch(
    uid: str | None, query: Mapping[str, Any], fields: dict[str, Any], if_match: int | None, retry: Retry
) -> Steps[PatchedItem]:
    """Change fields of an item, named by ``uid`` or by context and id in the ``query``. Idempotent."""
    headers = _JSON | ({"If-Match": f'"{if_match}"'} if if_match is not None else {})
    path = f"/items/{quote(uid, safe='')}" if uid is not None else f"/items{_query(query)}"
    send = Send("PATCH", path, _body(ItemPatch, None, fields), headers)
    return _parse(PatchedItem, (yield from _exchange(send, retry)))


def forget(request: EraseRequest | None, fields: dict[str, Any], retry: Retry) -> Steps[Erasure]:
    """Begin to erase for good. Not sent again after a lost connection: what it names may be gone by then."""
    send = Send("POST", "/forget", _body(EraseRequest, request, fields), _JSON)
    return _parse(Erasure, (yield from _exchange(send, replace(retry, attempts=1))))


def erasure(uid: str, retry: Retry) -> Steps[Erasure]:
    """Request the progress of an erasure."""
    return _parse(Erasure, (yield from _exchange(Send("GET", f"/forget/{quote(uid, safe='')}"), retry)))


def audit(query: Mapping[str, Any], retry: Retry) -> Steps[AuditPage]:
    """Request a page of the record of changes."""
    return _parse(AuditPage, (yield from _exchange(Send("GET", f"/audit{_query(query)}"), retry)))


def retrieve(
    request: RetrieveRequest | None, fields: dict[str, Any], retry: Retry, base: str, timeout: float | None = None
) -> Steps[RetrieveResponse]:
    """Ask a question; ``base`` is what ``retrieve_base`` returns."""
    send = Send("POST", f"{base}/retrieve", _body(RetrieveRequest, request, fields), _JSON, timeout)
    return _parse(RetrieveResponse, (yield from _exchange(send, retry)))


def graph[M: GraphQuestion](
    name: str, model: type[M], request: M | None, fields: dict[str, Any], retry: Retry, base: str
) -> Steps[GraphAnswer]:
    """Ask the graph the question called ``name``; ``base`` is what ``retrieve_base`` returns."""
    send = Send("POST", f"{base}/graph/{name}", _body(model, request, fields), _JSON)
    return _parse(GraphAnswer, (yield from _exchange(send, retry)))


def job(job_id: str, retry: Retry) -> Steps[JobStatus]:
    """Request the status of a job."""
    send = Send("GET", f"/ingest/jobs/{quote(job_id, safe='')}")
    return _parse(JobStatus, (yield from _exchange(send, retry)))


def wait_for(
    awaited: str | IngestResponse, timeout_seconds: float, now: Callable[[], float], retry: Retry
) -> Steps[IngestResponse]:
    """Poll a job until it ends, with growing pauses."""
    if isinstance(awaited, IngestResponse):
        if awaited.job is None:
            return awaited
        awaited = awaited.job
    deadline = now() + timeout_seconds
    pause = _POLL_FIRST_SECONDS
    while (status := (yield from job(awaited, retry))).status == "running":
        remaining = deadline - now()
        if remaining <= 0:
            raise JobTimeoutError(
                f"job {awaited} still has {status.passages_waiting} passages waiting after {timeout_seconds:g} s"
            )
        yield PauseSeconds(min(pause, remaining))
        pause = min(pause * 1.5, _POLL_LONGEST_SECONDS)
    if status.status == "failed":
        raise JobFailedError(status)
    if status.result is None:
        raise UnexpectedAnswerError(f"job {awaited} is done, but its record lacks the result")
    return status.result


def entities(query: Mapping[str, Any], retry: Retry) -> Steps[EntityPage]:
    """Request a page of a context's entities."""
    return _parse(EntityPage, (yield from _exchange(Send("GET", f"/entities{_query(query)}"), retry)))


def entity_candidates(query: Mapping[str, Any], retry: Retry) -> Steps[MergeCandidatePage]:
    """Request pairs of entities that may be the same."""
    return _parse(
        MergeCandidatePage, (yield from _exchange(Send("GET", f"/entities/candidates{_query(query)}"), retry))
    )


def knowledge(query: Mapping[str, Any], retry: Retry) -> Steps[KnownPages]:
    """Request the pages of a knowledge folder."""
    return _parse(KnownPages, (yield from _exchange(Send("GET", f"/knowledge{_query(query)}"), retry)))


def entity(uid: str, retry: Retry) -> Steps[Entity]:
    """Request one entity."""
    return _parse(Entity, (yield from _exchange(Send("GET", f"/entities/{quote(uid, safe='')}"), retry)))


def change_identity(path: str, model: type[BaseModel], fields: dict[str, Any], retry: Retry) -> Steps[IdentityChange]:
    """Merge, split, identify or rename. Idempotent."""
    send = Send("POST", path, _body(model, None, fields), _JSON)
    return _parse(IdentityChange, (yield from _exchange(send, retry)))


def renaming_path(uid: str) -> str:
    """Return the path that renames an entity."""
    return f"/entities/{quote(uid, safe='')}/rename"


def keys(retry: Retry) -> Steps[Keys]:
    """Request the keys of the tenant."""
    return _parse(Keys, (yield from _exchange(Send("GET", "/keys"), retry)))


def create_key(fields: dict[str, Any]) -> Steps[MadeKey]:
    """Make a key. Not tried again: if the first answer was lost, that would be a second key."""
    send = Send("POST", "/keys", _body(NewKey, None, fields), _JSON)
    return _parse(MadeKey, (yield from _exchange(send, Retry(attempts=1))))


def revoke_key(key_id: str, retry: Retry) -> Steps[Key]:
    """Revoke a key."""
    return _parse(Key, (yield from _exchange(Send("DELETE", f"/keys/{quote(key_id, safe='')}"), retry)))


def ready() -> Steps[Readiness]:
    """Check whether the server is ready; a server that is down is a result, not an error."""
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
        if tries >= retry.attempts or not _is_temporary(failure):
            raise failure
        yield retry.pause(tries - 1, getattr(failure, "retry_after", None))


def _is_temporary(failure: VicwClientError) -> bool:
    """Return whether a retry may help: lost connections, 429, 503. A full disk (507) needs a person; a retry after a
    timeout may double the load.
    """
    if isinstance(failure, RetryLaterError):
        return failure.problem.status in {429, 503}
    return isinstance(failure, ServerUnreachableError) and not isinstance(failure, TimedOutError)


def _query(parameters: Mapping[str, Any]) -> str:
    pairs = [
        (name, str(item))
        for name, value in parameters.items()
        if value is not None
        for item in ([value] if isinstance(value, str | int | float) else value)
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
    # Defaults are left out: the server chooses them.
    return request.model_dump_json(exclude_unset=True).encode()


def _parse[M: BaseModel](model: type[M], reply: httpx.Response) -> M:
    try:
        # A newer server may send more fields, which must not break an older client.
        return model.model_validate_json(reply.content, extra="ignore")
    except ValidationError as error:
        raise UnexpectedAnswerError(
            f"{reply.url} answered {reply.status_code}, but not with a {model.__name__}: {error.error_count()} fields "
            "are wrong; is this VICW, and of this version?"
        ) from error
