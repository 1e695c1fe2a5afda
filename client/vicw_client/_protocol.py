"""The calls of the API, without I/O: what each one sends, and what it makes of the answer."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from vicw_client._exchange import (
    JSON,
    PauseSeconds,
    Retry,
    Send,
    Steps,
    arrived,
    body_of,
    exchange,
    parse,
    query_of,
    query_text,
)
from vicw_client._problems import failing_in, failure_of
from vicw_client.errors import (
    JobFailedError,
    JobTimeoutError,
    RetryLaterError,
    ServerUnreachableError,
    UnexpectedAnswerError,
)
from vicw_shared.wire.changes import AuditPage
from vicw_shared.wire.entities import Entity, EntityPage, IdentityChange, MergeCandidatePage
from vicw_shared.wire.feedback import Feedback, FeedbackPage, FeedbackQuery, FeedbackRequest
from vicw_shared.wire.forget import EraseRequest, Erasure
from vicw_shared.wire.graph import GraphAnswer, GraphQuestion
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.items import ContextPage, ContextsQuery, ItemDetails, ItemPage, ItemQueryById, ItemsQuery
from vicw_shared.wire.keys import Key, Keys, MadeKey, NewKey
from vicw_shared.wire.knowledge import KnownPages
from vicw_shared.wire.patch import ItemPatch, PatchedItem
from vicw_shared.wire.people import PersonProfile, ProfileQuery, UserPage, UsersQuery
from vicw_shared.wire.retract import RetractRequest, RetractResponse
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse
from vicw_shared.wire.sleep import CheckState, SleepQuery, SleepRun, SleepRunStarted, SleepState, SleepStep, SleepUndo
from vicw_shared.wire.stats import StatsQuery, StoreStats
from vicw_shared.wire.supersede import SupersedeRequest, SupersedeResponse
from vicw_shared.wire.timeline import TimelineQuery
from vicw_shared.wire.webhooks import (
    DeadMessages,
    MadeWebhook,
    NewSecret,
    NewWebhook,
    Replayed,
    WebhookList,
    WebhookReplay,
)

_POLL_FIRST_SECONDS = 0.1
_POLL_LONGEST_SECONDS = 2.0


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
    body = body_of(IngestRequest, request, fields)
    send = Send("POST", "/ingest", body, {**JSON, "Idempotency-Key": key or str(uuid.uuid4())}, timeout)
    return parse(IngestResponse, (yield from exchange(send, retry)))


def retract(request: RetractRequest | None, fields: dict[str, Any], retry: Retry) -> Steps[RetractResponse]:
    """Retract items. Idempotent."""
    send = Send("POST", "/items/retract", body_of(RetractRequest, request, fields), JSON)
    return parse(RetractResponse, (yield from exchange(send, retry)))


def supersede(request: SupersedeRequest | None, fields: dict[str, Any], retry: Retry) -> Steps[SupersedeResponse]:
    """State that an item replaces another. Idempotent."""
    send = Send("POST", "/supersede", body_of(SupersedeRequest, request, fields), JSON)
    return parse(SupersedeResponse, (yield from exchange(send, retry)))


def patch(
    uid: str | None, query: Mapping[str, Any], fields: dict[str, Any], if_match: int | None, retry: Retry
) -> Steps[PatchedItem]:
    """Change fields of an item, named by ``uid`` or by context and id in the ``query``. Idempotent."""
    headers = JSON | ({"If-Match": f'"{if_match}"'} if if_match is not None else {})
    path = f"/items/{quote(uid, safe='')}" if uid is not None else f"/items{query_text(query)}"
    send = Send("PATCH", path, body_of(ItemPatch, None, fields), headers)
    return parse(PatchedItem, (yield from exchange(send, retry)))


def forget(request: EraseRequest | None, fields: dict[str, Any], retry: Retry) -> Steps[Erasure]:
    """Begin to erase for good. Not sent again after a lost connection: what it names may be gone by then."""
    send = Send("POST", "/forget", body_of(EraseRequest, request, fields), JSON)
    return parse(Erasure, (yield from exchange(send, replace(retry, attempts=1))))


def erasure(uid: str, retry: Retry) -> Steps[Erasure]:
    """Request the progress of an erasure."""
    return parse(Erasure, (yield from exchange(Send("GET", f"/forget/{quote(uid, safe='')}"), retry)))


def audit(query: Mapping[str, Any], retry: Retry) -> Steps[AuditPage]:
    """Request a page of the record of changes."""
    return parse(AuditPage, (yield from exchange(Send("GET", f"/audit{query_text(query)}"), retry)))


def retrieve(
    request: RetrieveRequest | None, fields: dict[str, Any], retry: Retry, base: str, timeout: float | None = None
) -> Steps[RetrieveResponse]:
    """Ask a question; ``base`` is what ``retrieve_base`` returns."""
    send = Send("POST", f"{base}/retrieve", body_of(RetrieveRequest, request, fields), JSON, timeout)
    return parse(RetrieveResponse, (yield from exchange(send, retry)))


def items(fields: Mapping[str, Any], retry: Retry, base: str) -> Steps[ItemPage]:
    """Request a page of items; ``base`` is what ``retrieve_base`` returns."""
    return parse(ItemPage, (yield from exchange(Send("GET", f"{base}/items{query_of(ItemsQuery, fields)}"), retry)))


def item(uid: str | None, fields: Mapping[str, Any], retry: Retry, base: str) -> Steps[ItemDetails]:
    """Request one item, by its uid or by ``context`` and ``id``; ``base`` is what ``retrieve_base`` returns."""
    if uid is None:
        path = f"/items{query_of(ItemsQuery, fields)}"
    else:
        path = f"/items/{quote(uid, safe='')}{query_of(ItemQueryById, fields)}"
    return parse(ItemDetails, (yield from exchange(Send("GET", f"{base}{path}"), retry)))


def contexts(fields: Mapping[str, Any], retry: Retry, base: str) -> Steps[ContextPage]:
    """Request a page of contexts; ``base`` is what ``retrieve_base`` returns."""
    query = query_of(ContextsQuery, fields)
    return parse(ContextPage, (yield from exchange(Send("GET", f"{base}/contexts{query}"), retry)))


def timeline(context: str, fields: Mapping[str, Any], retry: Retry, base: str) -> Steps[ItemPage]:
    """Request a page of a context's timeline; ``base`` is what ``retrieve_base`` returns."""
    path = f"/contexts/{quote(context, safe='')}/timeline{query_of(TimelineQuery, fields)}"
    return parse(ItemPage, (yield from exchange(Send("GET", f"{base}{path}"), retry)))


def users(fields: Mapping[str, Any], retry: Retry, base: str) -> Steps[UserPage]:
    """Request a page of users; ``base`` is what ``retrieve_base`` returns."""
    return parse(UserPage, (yield from exchange(Send("GET", f"{base}/users{query_of(UsersQuery, fields)}"), retry)))


def profile(uid: str, fields: Mapping[str, Any], retry: Retry, base: str) -> Steps[PersonProfile]:
    """Request a person's profile; ``base`` is what ``retrieve_base`` returns."""
    path = f"/people/{quote(uid, safe='')}/profile{query_of(ProfileQuery, fields)}"
    return parse(PersonProfile, (yield from exchange(Send("GET", f"{base}{path}"), retry)))


def stats(fields: Mapping[str, Any], retry: Retry, base: str) -> Steps[StoreStats]:
    """Request the counts of what is stored; ``base`` is what ``retrieve_base`` returns."""
    query = query_of(StatsQuery, fields)
    return parse(StoreStats, (yield from exchange(Send("GET", f"{base}/stats{query}"), retry)))


def graph[M: GraphQuestion](
    name: str, model: type[M], request: M | None, fields: dict[str, Any], retry: Retry, base: str
) -> Steps[GraphAnswer]:
    """Ask the graph the question called ``name``; ``base`` is what ``retrieve_base`` returns."""
    send = Send("POST", f"{base}/graph/{name}", body_of(model, request, fields), JSON)
    return parse(GraphAnswer, (yield from exchange(send, retry)))


def job(job_id: str, retry: Retry) -> Steps[JobStatus]:
    """Request the status of a job."""
    send = Send("GET", f"/ingest/jobs/{quote(job_id, safe='')}")
    return parse(JobStatus, (yield from exchange(send, retry)))


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
    return parse(EntityPage, (yield from exchange(Send("GET", f"/entities{query_text(query)}"), retry)))


def entity_candidates(query: Mapping[str, Any], retry: Retry) -> Steps[MergeCandidatePage]:
    """Request pairs of entities that may be the same."""
    return parse(
        MergeCandidatePage, (yield from exchange(Send("GET", f"/entities/candidates{query_text(query)}"), retry))
    )


def knowledge(query: Mapping[str, Any], retry: Retry) -> Steps[KnownPages]:
    """Request the pages of a knowledge folder."""
    return parse(KnownPages, (yield from exchange(Send("GET", f"/knowledge{query_text(query)}"), retry)))


def entity(uid: str, retry: Retry) -> Steps[Entity]:
    """Request one entity."""
    return parse(Entity, (yield from exchange(Send("GET", f"/entities/{quote(uid, safe='')}"), retry)))


def change_identity(path: str, model: type[BaseModel], fields: dict[str, Any], retry: Retry) -> Steps[IdentityChange]:
    """Merge, split, identify or rename. Idempotent."""
    send = Send("POST", path, body_of(model, None, fields), JSON)
    return parse(IdentityChange, (yield from exchange(send, retry)))


def renaming_path(uid: str) -> str:
    """Return the path that renames an entity."""
    return f"/entities/{quote(uid, safe='')}/rename"


def feedback(request: FeedbackRequest | None, fields: dict[str, Any], retry: Retry, base: str) -> Steps[Feedback]:
    """Say that a result was useful or wrong. Idempotent."""
    send = Send("POST", f"{base}/feedback", body_of(FeedbackRequest, request, fields), JSON)
    return parse(Feedback, (yield from exchange(send, retry)))


def list_feedback(fields: dict[str, Any], retry: Retry, base: str) -> Steps[FeedbackPage]:
    """Request a page of what was said of items."""
    send = Send("GET", f"{base}/feedback{query_of(FeedbackQuery, fields)}")
    return parse(FeedbackPage, (yield from exchange(send, retry)))


def sleep(fields: dict[str, Any], retry: Retry, base: str) -> Steps[SleepState]:
    """Request the jobs of the sleep cycle and a page of its log. ``base`` is the retrieval service's, if separate."""
    return parse(SleepState, (yield from exchange(Send("GET", f"{base}/sleep{query_of(SleepQuery, fields)}"), retry)))


def undo(step: str) -> Steps[SleepStep]:
    """Undo a step. Not tried again: if the first answer was lost, the step is undone already."""
    send = Send("POST", "/sleep/undo", body_of(SleepUndo, None, {"step": step}), JSON)
    return parse(SleepStep, (yield from exchange(send, Retry(attempts=1))))


def run_job(job: str, retry: Retry) -> Steps[SleepRunStarted]:
    """Have a job of the sleep cycle run now."""
    send = Send("POST", "/sleep/run", body_of(SleepRun, None, {"job": job}), JSON)
    return parse(SleepRunStarted, (yield from exchange(send, retry)))


def check(retry: Retry, base: str) -> Steps[CheckState]:
    """Request whether the two stores agree."""
    return parse(CheckState, (yield from exchange(Send("GET", f"{base}/check"), retry)))


def keys(retry: Retry) -> Steps[Keys]:
    """Request the keys of the tenant."""
    return parse(Keys, (yield from exchange(Send("GET", "/keys"), retry)))


def create_key(fields: dict[str, Any]) -> Steps[MadeKey]:
    """Make a key. Not tried again: if the first answer was lost, that would be a second key."""
    send = Send("POST", "/keys", body_of(NewKey, None, fields), JSON)
    return parse(MadeKey, (yield from exchange(send, Retry(attempts=1))))


def revoke_key(key_id: str, retry: Retry) -> Steps[Key]:
    """Revoke a key."""
    return parse(Key, (yield from exchange(Send("DELETE", f"/keys/{quote(key_id, safe='')}"), retry)))


def webhooks(retry: Retry, base: str) -> Steps[WebhookList]:
    """Request the webhooks of the tenant."""
    return parse(WebhookList, (yield from exchange(Send("GET", f"{base}/webhooks"), retry)))


def create_webhook(fields: dict[str, Any], base: str) -> Steps[MadeWebhook]:
    """Make a webhook. Not tried again: if the first answer was lost, that would be a second one."""
    send = Send("POST", f"{base}/webhooks", body_of(NewWebhook, None, fields), JSON)
    return parse(MadeWebhook, (yield from exchange(send, Retry(attempts=1))))


def rotate_webhook(webhook: str, fields: dict[str, Any], base: str) -> Steps[MadeWebhook]:
    """Request a new secret. Not tried again: if the first answer was lost, the old secret would end at once."""
    send = Send("POST", f"{base}/webhooks/{quote(webhook, safe='')}/secret", body_of(NewSecret, None, fields), JSON)
    return parse(MadeWebhook, (yield from exchange(send, Retry(attempts=1))))


def delete_webhook(webhook: str, base: str) -> Steps[None]:
    """Remove a webhook. Not tried again: if the first answer was lost, it is removed."""
    send = Send("DELETE", f"{base}/webhooks/{quote(webhook, safe='')}")
    yield from exchange(send, Retry(attempts=1))


def dead_messages(webhook: str, retry: Retry, base: str) -> Steps[DeadMessages]:
    """Request the messages that a receiver did not take."""
    send = Send("GET", f"{base}/webhooks/{quote(webhook, safe='')}/dead")
    return parse(DeadMessages, (yield from exchange(send, retry)))


def replay(webhook: str, messages: Sequence[str] | None, base: str) -> Steps[Replayed]:
    """Have dead messages sent again. Not tried again: they are no dead ones then."""
    fields = {} if messages is None else {"messages": tuple(messages)}
    send = Send("POST", f"{base}/webhooks/{quote(webhook, safe='')}/replay", body_of(WebhookReplay, None, fields), JSON)
    return parse(Replayed, (yield from exchange(send, Retry(attempts=1))))


def ready() -> Steps[Readiness]:
    """Check whether the server is ready; a server that is down is a result, not an error."""
    reply = yield Send("GET", "/readyz")
    failure = failure_of(arrived(reply))
    if failure is None:
        return Readiness(True, store=_store_in(arrived(reply)))
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
