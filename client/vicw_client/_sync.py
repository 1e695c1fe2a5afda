"""The blocking client."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self

import httpx

from vicw_client import _connection, _imports, _protocol
from vicw_client._connection import trace_headers
from vicw_client._events import Feed, watch
from vicw_client._exchange import FilterLike, PauseSeconds, Reply, Retry, Send, Steps, filtered
from vicw_client._graph import GraphClient
from vicw_client._protocol import Readiness
from vicw_client.window.core import WindowCore
from vicw_client.window.options import WindowOptions, read_options
from vicw_client.window.sync_window import Window
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


class VicwClient:
    """A connection pool to one VICW server, for any number of threads. Close it, or use it in ``with``.

    ``base_url`` is by default the variable ``VICW_URL``, else ``http://127.0.0.1:8080``. Where retrieval is a service
    of its own, ``retrieve_url`` is its address, by default the variable ``VICW_RETRIEVE_URL``. ``api_key`` is the
    variable ``VICW_API_KEY``, else none; ``uds`` the path of a Unix socket to connect through instead of TCP.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        retrieve_url: str | None = None,
        api_key: str | None = None,
        uds: str | None = None,
        timeout_seconds: float = 120.0,
        retry: Retry | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if uds is not None:
            transport = httpx.HTTPTransport(uds=uds)
        self._http = httpx.Client(**_connection.options(base_url, api_key, timeout_seconds), transport=transport)
        self._retrieve_base = _connection.retrieve_base(retrieve_url, base_url)
        self._retry = retry or Retry()
        self.graph = GraphClient[GraphAnswer](self._run, self._retry, self._retrieve_base)
        self.address = f"unix:{uds}" if uds else str(self._http.base_url).rstrip("/")

    def ingest(
        self, request: IngestRequest | None = None, /, *, idempotency_key: str | None = None, **fields: Any
    ) -> IngestResponse:
        """Store items: an ``IngestRequest``, or its fields as keywords.

        Raises BadRequestError naming the wrong fields; then nothing is stored. A retry stores nothing twice.
        """
        return self._run(_protocol.ingest(request, fields, idempotency_key, self._retry))

    def retract(
        self,
        request: RetractRequest | None = None,
        /,
        *,
        filter: FilterLike | None = None,  # noqa: A002
        **fields: Any,
    ) -> RetractResponse:
        """Retract items: a ``RetractRequest``, or its fields as keywords.

        What only they support is retracted, too. Each id's ``status`` is ``retracted``, ``already`` (before this call)
        or ``unknown``. Time travel still finds them: see ``ended_at``.
        """
        return self._run(_protocol.retract(request, filtered(fields, filter), self._retry))

    def supersede(self, request: SupersedeRequest | None = None, /, **fields: Any) -> SupersedeResponse:
        """State that an item replaces another: a ``SupersedeRequest``, or its fields as keywords.

        The item ``old`` is past from then on: questions about the present find ``new`` alone. ``undo=True`` takes it
        back. Raises NotFoundError for an unknown item, ConflictError for a retracted one and for a circle.
        """
        return self._run(_protocol.supersede(request, fields, self._retry))

    def patch(
        self,
        uid: str | None = None,
        /,
        *,
        context: str | None = None,
        id: str | None = None,  # noqa: A002
        if_match: int | None = None,
        **fields: Any,
    ) -> PatchedItem:
        """Change single fields of an item, named by ``uid``, or by ``context`` and ``id``; the others stay.

        The fields are those of ``ItemPatch``; None sets one back to its default, and ``metadata`` is merged key by key.
        ``if_match``: the version that the change is for. Raises PreconditionFailedError if it is another,
        NotFoundError for an unknown item.
        """
        query = {"context": context, "id": id}
        return self._run(_protocol.patch(uid, query, fields, if_match, self._retry))

    def forget(
        self,
        request: EraseRequest | None = None,
        /,
        *,
        filter: FilterLike | None = None,  # noqa: A002
        **fields: Any,
    ) -> Erasure:
        """Erase for good: an ``EraseRequest``, or its fields as keywords. Needs a key with the right ``erase``.

        The answer is ``done`` with its proof, or ``running``: then ask `erasure` for it. Raises NotFoundError if
        nothing is called so, ConflictError if several things are.
        """
        return self._run(_protocol.forget(request, filtered(fields, filter), self._retry))

    def erasure(self, uid: str) -> Erasure:
        """Return the progress and the proof of an erasure, by its uid."""
        return self._run(_protocol.erasure(uid, self._retry))

    def audit(self, *, after: str | None = None, limit: int | None = None) -> AuditPage:
        """Return a page of who changed and erased how much, the latest first. Needs a key with the right ``audit``."""
        return self._run(_protocol.audit({"after": after, "limit": limit}, self._retry))

    def retrieve(
        self,
        request: RetrieveRequest | None = None,
        /,
        *,
        filter: FilterLike | None = None,  # noqa: A002
        **fields: Any,
    ) -> RetrieveResponse:
        """Ask a question: a ``RetrieveRequest``, or its fields as keywords."""
        return self._run(_protocol.retrieve(request, filtered(fields, filter), self._retry, self._retrieve_base))

    def items(self, *, filter: FilterLike | None = None, **fields: Any) -> ItemPage:  # noqa: A002
        """Return a page of items: ``ItemsQuery`` as keywords; ``next`` is the ``cursor`` of the next page.

        ``filter`` is a ``Filter`` or its fields as a dict, such as ``{"metadata.house": {"gte": 3}}``.
        """
        return self._run(_protocol.items(filtered(fields, filter), self._retry, self._retrieve_base))

    def item(self, uid: str | None = None, /, **fields: Any) -> ItemDetails:
        """Return an item whole, by its ``uid``, or by ``context`` and ``id``; ``viewer`` and so on as fields.

        Raises NotFoundError.
        """
        return self._run(_protocol.item(uid, fields, self._retry, self._retrieve_base))

    def contexts(self, **fields: Any) -> ContextPage:
        """Return a page of contexts with what each holds; ``next`` is the ``after`` of the next page."""
        return self._run(_protocol.contexts(fields, self._retry, self._retrieve_base))

    def timeline(self, context: str, /, **fields: Any) -> ItemPage:
        """Return a page of a context's items in order of time; ``next`` is the ``cursor`` of the next page.

        Raises NotFoundError for an unknown context.
        """
        return self._run(_protocol.timeline(context, fields, self._retry, self._retrieve_base))

    def users(self, **fields: Any) -> UserPage:
        """Return a page of who speaks in what is stored; ``next`` is the ``after`` of the next page."""
        return self._run(_protocol.users(fields, self._retry, self._retrieve_base))

    def profile(self, uid: str, /, **fields: Any) -> PersonProfile:
        """Return what a person told of themself, by the person's uid. Raises NotFoundError for an unknown one."""
        return self._run(_protocol.profile(uid, fields, self._retry, self._retrieve_base))

    def events(self, **fields: Any) -> Iterator[Event]:
        """Yield what is stored, changed and forgotten, each event once, as it happens: ``EventsQuery`` as keywords.

        ``after`` is the ``id`` of an event; ``follow=False`` ends after what there is since. A lost connection is made
        again, and goes on where it broke off.
        """
        return watch(self._http, Feed.of(fields, self._retry, self._retrieve_base))

    def stats(self, **fields: Any) -> StoreStats:
        """Return how much is stored, of the last ``days`` day by day."""
        return self._run(_protocol.stats(fields, self._retry, self._retrieve_base))

    def job(self, job_id: str) -> JobStatus:
        """Return the status of a job. Raises NotFoundError for an unknown one."""
        return self._run(_protocol.job(job_id, self._retry))

    def wait_for(self, job: str | IngestResponse, timeout: float = 300.0) -> IngestResponse:
        """Wait until ``retrieve`` finds all items; return the result. A response without a job is returned at once.

        Raises JobTimeoutError after ``timeout`` seconds; the job continues. Raises JobFailedError if passages failed.
        """
        return self._run(_protocol.wait_for(job, timeout, time.monotonic, self._retry))

    def import_files(self, paths: Sequence[str | PathLike[str]], **options: Any) -> ImportJob:
        """Upload files and folders to be imported as a job; the options are the fields of `ImportQuery`, as keywords.

        They are read by the server, as ``vicw ingest`` reads them here. The same upload again stores nothing twice.
        Raises BadRequestError, TooLargeError, RetryLaterError while too many imports are under way, OSError.
        """
        return self._run(_imports.import_files(paths, options, self._retry))

    def import_job(self, job: str) -> ImportJob:
        """Return how far an import is, with its report. Raises NotFoundError."""
        return self._run(_imports.import_job(job, self._retry))

    def cancel_import(self, job: str) -> ImportJob:
        """Have an import end; what it has stored stays. Raises NotFoundError."""
        return self._run(_imports.import_job(job, self._retry, cancel=True))

    def wait_for_import(self, job: str | ImportJob, timeout: float = 3600.0) -> ImportJob:
        """Wait until an import has ended, and return it: ``status`` says how, ``report`` what became of the files.

        Raises JobTimeoutError after ``timeout`` seconds; the import continues.
        """
        return self._run(_imports.wait_for_import(job, timeout, time.monotonic, self._retry))

    def entities(
        self,
        context: str,
        *,
        subtype: str | None = None,
        prefix: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> EntityPage:
        """Return a page of a context's entities, by name; ``after`` is the ``next`` of the page before."""
        query = {"context": context, "subtype": subtype, "prefix": prefix, "after": after, "limit": limit}
        return self._run(_protocol.entities(query, self._retry))

    def knowledge(self, context: str, folder: str, *, after: str | None = None, limit: int | None = None) -> KnownPages:
        """Return a page of a knowledge folder's pages, by path; ``after`` is the ``next`` of the page before."""
        query = {"context": context, "folder": folder, "after": after, "limit": limit}
        return self._run(_protocol.knowledge(query, self._retry))

    def entity(self, uid: str) -> Entity:
        """Return one entity and its identity. Raises NotFoundError."""
        return self._run(_protocol.entity(uid, self._retry))

    def entity_candidates(
        self,
        *contexts: str,
        subtype: str | None = None,
        threshold: float | None = None,
        limit: int | None = None,
    ) -> MergeCandidatePage:
        """Return pairs of entities that may be the same, the most similar first. Merges none of them."""
        query = {"context": contexts, "subtype": subtype, "threshold": threshold, "limit": limit}
        return self._run(_protocol.entity_candidates(query, self._retry))

    def merge(self, entity: str, into: str) -> IdentityChange:
        """Merge ``entity`` into ``into`` (uids). Raises ConflictError if it is merged into another one already."""
        fields = {"entity": entity, "into": into}
        return self._run(_protocol.change_identity("/entities/merge", MergeRequest, fields, self._retry))

    def split(self, entity: str, apart_from: str | None = None) -> IdentityChange:
        """Undo the merge of ``entity``, or state that it is not ``apart_from``; the two are not proposed again.

        Raises ConflictError if it is not merged and nothing is named.
        """
        fields = {"entity": entity} | ({"apart_from": apart_from} if apart_from is not None else {})
        return self._run(_protocol.change_identity("/entities/split", SplitRequest, fields, self._retry))

    def identify(self, user: str, person: str, *, holds: bool = True) -> IdentityChange:
        """State that a user is a person, or, with ``holds`` false, that the two are different.

        As a viewer a user sees the items about their person.
        """
        fields = {"user": user, "person": person, "holds": holds}
        return self._run(_protocol.change_identity("/entities/identify", IdentifyRequest, fields, self._retry))

    def rename(self, uid: str, name: str) -> IdentityChange:
        """Change the displayed name of an entity. Its uid stays, and the old name still finds it."""
        path = _protocol.renaming_path(uid)
        return self._run(_protocol.change_identity(path, RenameRequest, {"name": name}, self._retry))

    def feedback(self, request: FeedbackRequest | None = None, /, **fields: Any) -> Feedback:
        """Say that a result was useful or wrong for a question: a ``FeedbackRequest``, or its fields as keywords.

        Raises NotFoundError for an item that is not there, or that the ``viewer`` may not see.
        """
        return self._run(_protocol.feedback(request, fields, self._retry, self._retrieve_base))

    def list_feedback(self, **fields: Any) -> FeedbackPage:
        """Return a page of what was said of items; ``next`` is the ``after`` of the next page."""
        return self._run(_protocol.list_feedback(fields, self._retry, self._retrieve_base))

    def sleep(self, **fields: Any) -> SleepState:
        """Return the jobs of the sleep cycle, and a page of what they did, the latest step first.

        ``fields`` are those of a ``SleepQuery``; ``next`` of the answer is the ``after`` of the next page. Raises
        BadRequestError without the right ``admin``.
        """
        return self._run(_protocol.sleep(fields, self._retry, self._retrieve_base))

    def undo(self, step: str) -> SleepStep:
        """Undo a step of the sleep cycle, by its id. Raises NotFoundError, with the reason, if it cannot be undone.

        If a worker has not undone it yet, ``outcome`` is still ``done``.
        """
        return self._run(_protocol.undo(step))

    def run_job(self, job: str) -> SleepRunStarted:
        """Have a job of the sleep cycle run now: ``consolidation``, ``dream`` or ``resolve``; see ``sleep``.

        It is of all tenants: it takes a key of the operator's. Raises ConflictError, with the setting, if it does not
        run there.
        """
        return self._run(_protocol.run_job(job, self._retry))

    def check(self) -> CheckState:
        """Return what the last comparison of the two stores found. Raises BadRequestError without the right
        ``admin``."""
        return self._run(_protocol.check(self._retry, self._retrieve_base))

    def keys(self) -> Keys:
        """Return all keys of the tenant, without their secrets. Raises BadRequestError without the right
        ``admin``."""
        return self._run(_protocol.keys(self._retry))

    def create_key(self, *rights: Right, note: str = "") -> MadeKey:
        """Make a key with rights that the client's own key has; only this answer shows its ``token``.

        Raises BadRequestError if it has not.
        """
        return self._run(_protocol.create_key({"rights": rights, "note": note}))

    def revoke_key(self, key_id: str) -> Key:
        """Revoke a key. Raises NotFoundError if there is no valid one, ConflictError for the client's own."""
        return self._run(_protocol.revoke_key(key_id, self._retry))

    def webhooks(self) -> WebhookList:
        """Return all webhooks of the tenant, without their secrets. Needs a key with the right ``admin``."""
        return self._run(_protocol.webhooks(self._retry, self._retrieve_base))

    def create_webhook(self, url: str, *, kinds: Sequence[str] = ()) -> MadeWebhook:
        """Have events of these kinds (none: all) sent to ``url``; only this answer shows the ``secret``.

        Raises BadRequestError for an address that nothing is sent to, and without the rights ``admin`` and
        ``retrieve``; ConflictError while webhooks are off.
        """
        return self._run(_protocol.create_webhook({"url": url, "kinds": tuple(kinds)}, self._retrieve_base))

    def rotate_webhook(self, webhook: str, **fields: Any) -> MadeWebhook:
        """Give a webhook a new secret, which is in this answer alone; the old one signs as well for ``overlap_hours``.

        Raises NotFoundError.
        """
        return self._run(_protocol.rotate_webhook(webhook, fields, self._retrieve_base))

    def delete_webhook(self, webhook: str) -> None:
        """Remove a webhook by its id, with what waits for it. Raises NotFoundError."""
        self._run(_protocol.delete_webhook(webhook, self._retrieve_base))

    def dead_messages(self, webhook: str) -> DeadMessages:
        """Return what the receiver of a webhook did not take at any try. Raises NotFoundError."""
        return self._run(_protocol.dead_messages(webhook, self._retry, self._retrieve_base))

    def replay(self, webhook: str, messages: Sequence[str] | None = None) -> Replayed:
        """Have these dead messages (None: all) sent again, and return how many. Raises NotFoundError."""
        return self._run(_protocol.replay(webhook, messages, self._retrieve_base))

    def ready(self) -> Readiness:
        """Return whether the server is ready, and if not, why. A server that is down is not ready."""
        return self._run(_protocol.ready())

    def window(self, options: WindowOptions | None = None, /, **fields: Any) -> Window:
        """Open a conversation that may exceed the model's window: `WindowOptions`, or its fields as keywords.

        Nothing is sent yet. Raises BadRequestError naming the fields that are wrong, SpoolError.
        """
        core = WindowCore(read_options(options, fields), self._retry, self._retrieve_base)
        return Window(core, self._run)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run[T](self, steps: Steps[T]) -> T:
        reply: Reply = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            reply = self._carry_out(step)

    def _carry_out(self, step: Send | PauseSeconds) -> Reply:
        if isinstance(step, PauseSeconds):
            time.sleep(step.seconds)
            return None
        headers = {**step.headers, **trace_headers()}
        try:
            return self._http.request(
                step.method, step.path, **_imports.content_of(step), headers=headers, **step.timeout
            )
        except httpx.RequestError as error:
            return error
