"""Serves operations as ``POST /admin/NAME``, each as a task that ends with its connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import structlog
from fastapi import APIRouter, Request, Response, Security
from fastapi.responses import StreamingResponse

from vicw_core.changes import record_change_now
from vicw_core.tenants import require_tenant
from vicw_runtime.http import Caller, Gate, bearer_scheme, caller_of, refusals
from vicw_runtime.http.problems import unexpected
from vicw_runtime.operations.lines import MEDIA_TYPE, OperationLine, OperationProgress
from vicw_runtime.operations.memory import Memory
from vicw_runtime.operations.operation import AnyOperation, Report
from vicw_shared.errors import ForbiddenError, UnavailableError, VicwError
from vicw_shared.model.keys import Right
from vicw_shared.wire.base import Message
from vicw_shared.wire.problem import problem_of

_log = structlog.get_logger()
_FIRST_SECONDS = 1.0
"""How long an answer waits for its first line: an error until then has its own status."""
_SIGN_SECONDS = 5.0
"""Time without news after which an empty line says that the operation still runs."""
_PROGRESS_SECONDS = 0.1
_STOPPED = "is being stopped. What the operation has done so far stays; run the command again"


class _JsonLines(StreamingResponse):
    media_type = MEDIA_TYPE


class OperationServer:
    """The operations of a process and their running tasks. ``close`` ends these, before the stores are closed."""

    def __init__(self, operations: Iterable[AnyOperation], memory: Callable[[], Memory], tenant: str) -> None:
        """``tenant`` is the operator's, whose keys may run what is of all tenants."""
        self._operations = tuple(operations)
        self._memory = memory
        self._tenant = tenant
        self._tasks: set[asyncio.Task[None]] = set()

    def router(self, gate: Gate) -> APIRouter:
        """Return the routes; ``gate`` requires the right ``admin``, and the owner for what only the owner may call."""
        router = APIRouter(prefix="/admin", tags=["admin"], dependencies=[Security(bearer_scheme)])
        for operation in self._operations:
            router.add_api_route(
                f"/{operation.name}",
                self._endpoint(operation),
                methods=["POST"],
                operation_id=f"admin_{operation.name.replace('/', '_').replace('-', '_')}",
                summary=operation.summary,
                response_class=_JsonLines,
                responses={
                    200: {
                        "model": OperationLine[operation.item, operation.result],  # type: ignore[name-defined]
                        "description": "Lines of JSON: progress and items, then the result or a problem",
                    },
                    **refusals(401, 403, 404, 409, 413, 422, 503, 507),
                },
                route_class_override=gate.route(Right.ADMIN, owner=operation.owner_only),
            )
        return router

    async def close(self) -> None:
        """Stop the running operations and wait for their end."""
        for task in self._tasks:
            _stop(task)
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _endpoint(self, operation: AnyOperation) -> Callable[..., Any]:
        async def endpoint(body: Any, request: Request) -> Response:
            caller, memory = caller_of(request), self._memory()
            if operation.needs_owner(body):
                caller.require_owner()
            if operation.of_tenant:
                body = await _of_callers_tenant(body, caller, memory)
            else:
                caller.require_operator(self._tenant)
            if not caller.owner and (kind := operation.change(body)) is not None:
                await record_change_now(memory.graph, caller.tenant, kind, key=caller.key)
            running = _Running(operation, caller.key)
            task = asyncio.create_task(running.run(memory, body), name=operation.name)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            try:
                await running.begun()
            except BaseException:
                _stop(task)
                raise
            return _JsonLines(running.lines(task))

        endpoint.__name__ = operation.name.replace("/", "_")
        endpoint.__annotations__ = {"body": operation.request, "request": Request, "return": Response}
        return endpoint


async def _of_callers_tenant(body: Any, caller: Caller, memory: Memory) -> Any:
    """Return a request as this caller may make it: the owner as it is, a key for its own tenant.

    Raises ForbiddenError for a key without the right to read, or for the tenant of another, and InvalidInputError for
    a tenant of the owner's that has nothing stored.
    """
    if caller.owner:
        await require_tenant(memory.graph, body.tenant)
        return body
    caller.require(Right.RETRIEVE)
    if body.tenant not in {None, caller.tenant}:
        raise ForbiddenError("A key may do this for its own tenant alone: leave out `tenant`")
    return body.model_copy(update={"tenant": caller.tenant})


def _stop(task: asyncio.Task[None]) -> None:
    """Cancel a task once: a second time would break off its clean-up."""
    if not task.cancelling():
        task.cancel()


class _Running:
    """A running operation and the lines that are not sent yet."""

    def __init__(self, operation: AnyOperation, key: str | None) -> None:
        self._operation = operation
        self._key = key
        self._lines: asyncio.Queue[dict[str, Message]] = asyncio.Queue()
        self._has_line = asyncio.Event()
        self._error: VicwError | None = None
        self._progress: tuple[str, float] = "", float("-inf")

    async def run(self, memory: Memory, request: Message) -> None:
        """Run the operation; its end is the last line."""
        try:
            report: Report[Message] = Report(self._report, lambda item: self._put(item=item), self._key)
            result = await self._operation.run(memory, request, report)
        except VicwError as error:
            self._fail(error)
        except asyncio.CancelledError:
            self._fail(UnavailableError("server", _STOPPED))
            raise
        except Exception as error:
            _log.error("unexpected error", operation=self._operation.name, exc_info=error)
            self._fail(unexpected())
        else:
            self._put(result=result)

    async def begun(self) -> None:
        """Wait a moment for the first line. Raises the operation's error if it comes first."""
        try:
            async with asyncio.timeout(_FIRST_SECONDS):
                await self._has_line.wait()
        except TimeoutError:
            return
        if self._error is not None and self._lines.qsize() == 1:
            raise self._error

    async def lines(self, task: asyncio.Task[None]) -> AsyncIterator[bytes]:
        """Yield the lines until the last one; the end of the connection cancels ``task``."""
        try:
            while True:
                try:
                    async with asyncio.timeout(_SIGN_SECONDS):
                        line = await self._lines.get()
                except TimeoutError:
                    yield b"\n"
                    continue
                text = ", ".join(f'"{name}": {message.model_dump_json()}' for name, message in line.items())
                yield f"{{{text}}}\n".encode()
                if line.keys() & {"result", "problem"}:
                    return
        finally:
            _stop(task)

    def _report(self, step: str, done: int, total: int) -> None:
        last, at = self._progress
        if step != last or time.monotonic() - at >= _PROGRESS_SECONDS:
            self._progress = step, time.monotonic()
            self._put(progress=OperationProgress(step=step, done=done, total=total))

    def _fail(self, error: VicwError) -> None:
        self._error = error
        request_id = structlog.contextvars.get_contextvars().get("request_id")
        self._put(problem=problem_of(error, request_id))

    def _put(self, **line: Message) -> None:
        self._lines.put_nowait(line)
        self._has_line.set()
