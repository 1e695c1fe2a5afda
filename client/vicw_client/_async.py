"""The client for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self

import httpx

from vicw_client import _connection, _imports, _protocol
from vicw_client._connection import trace_headers
from vicw_client._events import Feed, watch_async
from vicw_client._exchange import FilterLike, PauseSeconds, Reply, Retry, Send, Steps, filtered
from vicw_client._graph import GraphClient
from vicw_client._protocol import Readiness
from vicw_client.window.async_window import AsyncWindow
from vicw_client.window.core import WindowCore
from vicw_client.window.options import WindowOptions, read_options
from vicw_shared.model.keys import Right
from vicw_shared.wire.changes import AuditPage
from vicw_shared.wire.entities import (
    Entity,
    EntityPage,
    IdentifyRequest,
    IdentityChange,
    MergeCandidatePage,
    MergeRequest,
    RenameRequest,
    SplitRequest,
)
from vicw_shared.wire.events import Event
from vicw_shared.wire.feedback import Feedback, FeedbackPage, FeedbackRequest
from vicw_shared.wire.file_import import ImportJob
from vicw_shared.wire.forget import EraseRequest, Erasure
from vicw_shared.wire.graph import GraphAnswer
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.items import ContextPage, ItemDetails, ItemPage
from vicw_shared.wire.keys import Key, Keys, MadeKey
from vicw_shared.wire.knowledge import KnownPages
from vicw_shared.wire.patch import PatchedItem
from vicw_shared.wire.people import PersonProfile, UserPage
from vicw_shared.wire.retract import RetractRequest, RetractResponse
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse
from vicw_shared.wire.sleep import CheckState, SleepRunStarted, SleepState, SleepStep
from vicw_shared.wire.stats import StoreStats
from vicw_shared.wire.supersede import SupersedeRequest, SupersedeResponse
from vicw_shared.wire.webhooks import DeadMessages, MadeWebhook, Replayed, WebhookList


class AsyncVicwClient:
    """`VicwClient` for asyncio: the same arguments, methods and errors; close it, or use it in ``async with``."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        retrieve_url: str | None = None,
        api_key: str | None = None,
        uds: str | None = None,
        timeout_seconds: float = 120.0,
        retry: Retry | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if uds is not None:
            transport = httpx.AsyncHTTPTransport(uds=uds)
        self._http = httpx.AsyncClient(**_connection.options(base_url, api_key, timeout_seconds), transport=transport)
        self._retrieve_base = _connection.retrieve_base(retrieve_url, base_url)
        self._retry = retry or Retry()
        self.graph = GraphClient[Coroutine[Any, Any, GraphAnswer]](self._run, self._retry, self._retrieve_base)
        self.address = f"unix:{uds}" if uds else str(self._http.base_url).rstrip("/")

    async def ingest(
        self, request: IngestRequest | None = None, /, *, idempotency_key: str | None = None, **fields: Any
    ) -> IngestResponse:
        """Store items; see `VicwClient.ingest`."""
        return await self._run(_protocol.ingest(request, fields, idempotency_key, self._retry))

    async def retract(
        self,
        request: RetractRequest | None = None,
        /,
        *,
        filter: FilterLike | None = None,  # noqa: A002
        **fields: Any,
    ) -> RetractResponse:
        """Take items back; see `VicwClient.retract`."""
        return await self._run(_protocol.retract(request, filtered(fields, filter), self._retry))

    async def supersede(self, request: SupersedeRequest | None = None, /, **fields: Any) -> SupersedeResponse:
        """State that an item replaces another; see `VicwClient.supersede`."""
        return await self._run(_protocol.supersede(request, fields, self._retry))

    async def patch(
        self,
        uid: str | None = None,
        /,
        *,
        context: str | None = None,
        id: str | None = None,  # noqa: A002
        if_match: int | None = None,
        **fields: Any,
    ) -> PatchedItem:
        """Change single fields of an item; see `VicwClient.patch`."""
        query = {"context": context, "id": id}
        return await self._run(_protocol.patch(uid, query, fields, if_match, self._retry))

    async def forget(
        self,
        request: EraseRequest | None = None,
        /,
        *,
        filter: FilterLike | None = None,  # noqa: A002
        **fields: Any,
    ) -> Erasure:
        """Erase for good; see `VicwClient.forget`."""
        return await self._run(_protocol.forget(request, filtered(fields, filter), self._retry))

    async def erasure(self, uid: str) -> Erasure:
        """Return the progress and the proof of an erasure, by its uid."""
        return await self._run(_protocol.erasure(uid, self._retry))

    async def audit(self, *, after: str | None = None, limit: int | None = None) -> AuditPage:
        """Return a page of the record of changes; see `VicwClient.audit`."""
        return await self._run(_protocol.audit({"after": after, "limit": limit}, self._retry))

    async def retrieve(
        self,
        request: RetrieveRequest | None = None,
        /,
        *,
        filter: FilterLike | None = None,  # noqa: A002
        **fields: Any,
    ) -> RetrieveResponse:
        """Ask a question; see `VicwClient.retrieve`."""
        return await self._run(_protocol.retrieve(request, filtered(fields, filter), self._retry, self._retrieve_base))

    async def items(self, *, filter: FilterLike | None = None, **fields: Any) -> ItemPage:  # noqa: A002
        """Return a page of items; see `VicwClient.items`."""
        return await self._run(_protocol.items(filtered(fields, filter), self._retry, self._retrieve_base))

    async def item(self, uid: str | None = None, /, **fields: Any) -> ItemDetails:
        """Return an item whole; see `VicwClient.item`."""
        return await self._run(_protocol.item(uid, fields, self._retry, self._retrieve_base))

    async def contexts(self, **fields: Any) -> ContextPage:
        """Return a page of contexts; see `VicwClient.contexts`."""
        return await self._run(_protocol.contexts(fields, self._retry, self._retrieve_base))

    async def timeline(self, context: str, /, **fields: Any) -> ItemPage:
        """Return a page of a context's timeline; see `VicwClient.timeline`."""
        return await self._run(_protocol.timeline(context, fields, self._retry, self._retrieve_base))

    async def users(self, **fields: Any) -> UserPage:
        """Return a page of users; see `VicwClient.users`."""
        return await self._run(_protocol.users(fields, self._retry, self._retrieve_base))

    async def profile(self, uid: str, /, **fields: Any) -> PersonProfile:
        """Return a person's profile; see `VicwClient.profile`."""
        return await self._run(_protocol.profile(uid, fields, self._retry, self._retrieve_base))

    def events(self, **fields: Any) -> AsyncIterator[Event]:
        """Yield events as they happen; see `VicwClient.events`."""
        return watch_async(self._http, Feed.of(fields, self._retry, self._retrieve_base))

    async def stats(self, **fields: Any) -> StoreStats:
        """Return how much is stored; see `VicwClient.stats`."""
        return await self._run(_protocol.stats(fields, self._retry, self._retrieve_base))

    async def job(self, job_id: str) -> JobStatus:
        """Return how far a job is; see `VicwClient.job`."""
        return await self._run(_protocol.job(job_id, self._retry))

    async def wait_for(self, job: str | IngestResponse, timeout: float = 300.0) -> IngestResponse:
        """Wait until a job is done; see `VicwClient.wait_for`."""
        return await self._run(_protocol.wait_for(job, timeout, time.monotonic, self._retry))

    async def import_files(self, paths: Sequence[str | PathLike[str]], **options: Any) -> ImportJob:
        """Upload files to be imported; see `VicwClient.import_files`."""
        return await self._run(_imports.import_files(paths, options, self._retry))

    async def import_job(self, job: str) -> ImportJob:
        """Return how far an import is; see `VicwClient.import_job`."""
        return await self._run(_imports.import_job(job, self._retry))

    async def cancel_import(self, job: str) -> ImportJob:
        """Have an import end; see `VicwClient.cancel_import`."""
        return await self._run(_imports.import_job(job, self._retry, cancel=True))

    async def wait_for_import(self, job: str | ImportJob, timeout: float = 3600.0) -> ImportJob:
        """Wait until an import has ended; see `VicwClient.wait_for_import`."""
        return await self._run(_imports.wait_for_import(job, timeout, time.monotonic, self._retry))

    async def entities(
        self,
        context: str,
        *,
        subtype: str | None = None,
        prefix: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> EntityPage:
        """Return a page of a context's entities; see `VicwClient.entities`."""
        query = {"context": context, "subtype": subtype, "prefix": prefix, "after": after, "limit": limit}
        return await self._run(_protocol.entities(query, self._retry))

    async def knowledge(
        self, context: str, folder: str, *, after: str | None = None, limit: int | None = None
    ) -> KnownPages:
        """Return a page of a knowledge folder's pages, by path; ``after`` is the ``next`` of the page before."""
        query = {"context": context, "folder": folder, "after": after, "limit": limit}
        return await self._run(_protocol.knowledge(query, self._retry))

    async def entity(self, uid: str) -> Entity:
        """Return one entity and its identity; see `VicwClient.entity`."""
        return await self._run(_protocol.entity(uid, self._retry))

    async def entity_candidates(
        self,
        *contexts: str,
        subtype: str | None = None,
        threshold: float | None = None,
        limit: int | None = None,
    ) -> MergeCandidatePage:
        """Return pairs of entities that may be the same; see `VicwClient.entity_candidates`."""
        query = {"context": contexts, "subtype": subtype, "threshold": threshold, "limit": limit}
        return await self._run(_protocol.entity_candidates(query, self._retry))

    async def merge(self, entity: str, into: str) -> IdentityChange:
        """Merge one entity into another; see `VicwClient.merge`."""
        fields = {"entity": entity, "into": into}
        return await self._run(_protocol.change_identity("/entities/merge", MergeRequest, fields, self._retry))

    async def split(self, entity: str, apart_from: str | None = None) -> IdentityChange:
        """Undo a merge, or keep two entities apart; see `VicwClient.split`."""
        fields = {"entity": entity} | ({"apart_from": apart_from} if apart_from is not None else {})
        return await self._run(_protocol.change_identity("/entities/split", SplitRequest, fields, self._retry))

    async def identify(self, user: str, person: str, *, holds: bool = True) -> IdentityChange:
        """State which person a user is; see `VicwClient.identify`."""
        fields = {"user": user, "person": person, "holds": holds}
        return await self._run(_protocol.change_identity("/entities/identify", IdentifyRequest, fields, self._retry))

    async def rename(self, uid: str, name: str) -> IdentityChange:
        """Change the displayed name of an entity; see `VicwClient.rename`."""
        path = _protocol.renaming_path(uid)
        return await self._run(_protocol.change_identity(path, RenameRequest, {"name": name}, self._retry))

    async def feedback(self, request: FeedbackRequest | None = None, /, **fields: Any) -> Feedback:
        """Say that a result was useful or wrong; see `VicwClient.feedback`."""
        return await self._run(_protocol.feedback(request, fields, self._retry, self._retrieve_base))

    async def list_feedback(self, **fields: Any) -> FeedbackPage:
        """Return a page of what was said of items; see `VicwClient.list_feedback`."""
        return await self._run(_protocol.list_feedback(fields, self._retry, self._retrieve_base))

    async def sleep(self, **fields: Any) -> SleepState:
        """Return the jobs of the sleep cycle and what they did; see `VicwClient.sleep`."""
        return await self._run(_protocol.sleep(fields, self._retry, self._retrieve_base))

    async def undo(self, step: str) -> SleepStep:
        """Undo a step of the sleep cycle; see `VicwClient.undo`."""
        return await self._run(_protocol.undo(step))

    async def run_job(self, job: str) -> SleepRunStarted:
        """Have a job of the sleep cycle run now; see `VicwClient.run_job`."""
        return await self._run(_protocol.run_job(job, self._retry))

    async def check(self) -> CheckState:
        """Return what the last comparison of the stores found; see `VicwClient.check`."""
        return await self._run(_protocol.check(self._retry, self._retrieve_base))

    async def keys(self) -> Keys:
        """Return all keys of the tenant; see `VicwClient.keys`."""
        return await self._run(_protocol.keys(self._retry))

    async def create_key(self, *rights: Right, note: str = "") -> MadeKey:
        """Make a key; see `VicwClient.create_key`."""
        return await self._run(_protocol.create_key({"rights": rights, "note": note}))

    async def revoke_key(self, key_id: str) -> Key:
        """Revoke a key; see `VicwClient.revoke_key`."""
        return await self._run(_protocol.revoke_key(key_id, self._retry))

    async def webhooks(self) -> WebhookList:
        """Return all webhooks of the tenant; see `VicwClient.webhooks`."""
        return await self._run(_protocol.webhooks(self._retry, self._retrieve_base))

    async def create_webhook(self, url: str, *, kinds: Sequence[str] = ()) -> MadeWebhook:
        """Have events sent to an address; see `VicwClient.create_webhook`."""
        return await self._run(_protocol.create_webhook({"url": url, "kinds": tuple(kinds)}, self._retrieve_base))

    async def rotate_webhook(self, webhook: str, **fields: Any) -> MadeWebhook:
        """Give a webhook a new secret; see `VicwClient.rotate_webhook`."""
        return await self._run(_protocol.rotate_webhook(webhook, fields, self._retrieve_base))

    async def delete_webhook(self, webhook: str) -> None:
        """Remove a webhook; see `VicwClient.delete_webhook`."""
        await self._run(_protocol.delete_webhook(webhook, self._retrieve_base))

    async def dead_messages(self, webhook: str) -> DeadMessages:
        """Return what a receiver did not take; see `VicwClient.dead_messages`."""
        return await self._run(_protocol.dead_messages(webhook, self._retry, self._retrieve_base))

    async def replay(self, webhook: str, messages: Sequence[str] | None = None) -> Replayed:
        """Have dead messages sent again; see `VicwClient.replay`."""
        return await self._run(_protocol.replay(webhook, messages, self._retrieve_base))

    async def ready(self) -> Readiness:
        """Return whether the server is ready; see `VicwClient.ready`."""
        return await self._run(_protocol.ready())

    def window(self, options: WindowOptions | None = None, /, **fields: Any) -> AsyncWindow:
        """Open a conversation that may exceed the model's window; see `VicwClient.window`."""
        core = WindowCore(read_options(options, fields), self._retry, self._retrieve_base)
        return AsyncWindow(core, self._run)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _run[T](self, steps: Steps[T]) -> T:
        reply: Reply = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            reply = await self._carry_out(step)

    async def _carry_out(self, step: Send | PauseSeconds) -> Reply:
        if isinstance(step, PauseSeconds):
            await asyncio.sleep(step.seconds)
            return None
        headers = {**step.headers, **trace_headers()}
        try:
            return await self._http.request(
                step.method, step.path, **_imports.content_of(step), headers=headers, **step.timeout
            )
        except httpx.RequestError as error:
            return error
