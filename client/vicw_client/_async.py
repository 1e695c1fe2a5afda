"""The client for asyncio."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, Self

import httpx

from vicw_client import _protocol
from vicw_client._protocol import Pause, Readiness, Reply, Retry, Send, Steps
from vicw_client._traces import trace_headers
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse


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
        self._http = httpx.AsyncClient(**_protocol.options(base_url, api_key, timeout_seconds), transport=transport)
        self._retrieve_path = _protocol.retrieve_path(retrieve_url, base_url)
        self._retry = retry or Retry()
        self.address = f"unix:{uds}" if uds else str(self._http.base_url).rstrip("/")

    async def ingest(
        self, request: IngestRequest | None = None, /, *, idempotency_key: str | None = None, **fields: Any
    ) -> IngestResponse:
        """Store items; see `VicwClient.ingest`."""
        return await self._run(_protocol.ingest(request, fields, idempotency_key, self._retry))

    async def retrieve(self, request: RetrieveRequest | None = None, /, **fields: Any) -> RetrieveResponse:
        """Ask a question; see `VicwClient.retrieve`."""
        return await self._run(_protocol.retrieve(request, fields, self._retry, self._retrieve_path))

    async def job(self, job_id: str) -> JobStatus:
        """Return how far a job is; see `VicwClient.job`."""
        return await self._run(_protocol.job(job_id, self._retry))

    async def wait_for(self, job: str | IngestResponse, timeout: float = 300.0) -> IngestResponse:
        """Wait until a job is done; see `VicwClient.wait_for`."""
        return await self._run(_protocol.wait_for(job, timeout, time.monotonic, self._retry))

    async def ready(self) -> Readiness:
        """Tell whether the server can work; see `VicwClient.ready`."""
        return await self._run(_protocol.ready())

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

    async def _carry_out(self, step: Send | Pause) -> Reply:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        headers = {**step.headers, **trace_headers()}
        try:
            return await self._http.request(step.method, step.path, content=step.body, headers=headers)
        except httpx.RequestError as error:
            return error
