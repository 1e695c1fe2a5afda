"""The blocking client."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

import httpx

from vicw_client import _protocol
from vicw_client._protocol import Pause, Readiness, Reply, Retry, Send, Steps
from vicw_client._traces import trace_headers
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse


class VicwClient:
    """A connection pool to one VICW server; may be shared by threads; close it, or use it in ``with``.

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
        self._http = httpx.Client(**_protocol.options(base_url, api_key, timeout_seconds), transport=transport)
        self._retrieve_path = _protocol.retrieve_path(retrieve_url, base_url)
        self._retry = retry or Retry()
        self.address = f"unix:{uds}" if uds else str(self._http.base_url).rstrip("/")

    def ingest(
        self, request: IngestRequest | None = None, /, *, idempotency_key: str | None = None, **fields: Any
    ) -> IngestResponse:
        """Store items: an ``IngestRequest``, or its fields as keywords.

        Raises BadRequestError naming the wrong fields; then nothing is stored. A retry stores nothing twice.
        """
        return self._run(_protocol.ingest(request, fields, idempotency_key, self._retry))

    def retrieve(self, request: RetrieveRequest | None = None, /, **fields: Any) -> RetrieveResponse:
        """Ask a question: a ``RetrieveRequest``, or its fields as keywords."""
        return self._run(_protocol.retrieve(request, fields, self._retry, self._retrieve_path))

    def job(self, job_id: str) -> JobStatus:
        """Return how far a job is. Raises NotFoundError for an unknown one."""
        return self._run(_protocol.job(job_id, self._retry))

    def wait_for(self, job: str | IngestResponse, timeout: float = 300.0) -> IngestResponse:
        """Return the outcome once ``retrieve`` finds all of it; at once for a response without a job.

        Raises JobTimeoutError after ``timeout`` seconds; the job goes on. JobFailedError if passages were given up.
        """
        return self._run(_protocol.wait_for(job, timeout, time.monotonic, self._retry))

    def ready(self) -> Readiness:
        """Tell whether the server can work, and if not, why. A server that is down is not ready."""
        return self._run(_protocol.ready())

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

    def _carry_out(self, step: Send | Pause) -> Reply:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        headers = {**step.headers, **trace_headers()}
        try:
            return self._http.request(step.method, step.path, content=step.body, headers=headers)
        except httpx.RequestError as error:
            return error
