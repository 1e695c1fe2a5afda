"""A response that goes on: server-sent events to whoever keeps reading."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_UNREAD_SECONDS = 30.0
_ABORT, _STOPPING = "vicw.abort", "vicw.stopping"
_log = structlog.get_logger()


class _UnreadError(Exception):
    """The other end does not read."""


class EventStream(Response):
    """Sends chunks as they come. Who does not read them is disconnected: nothing is collected for it.

    Chunks are asked for one by one, each when the one before has left for the other end, whose buffers are bounded.
    """

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes], *, unread_seconds: float = _UNREAD_SECONDS) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._chunks = chunks
        self._unread_seconds = unread_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        gone = asyncio.create_task(_until_gone(receive), name="event stream: other end")
        sending = asyncio.create_task(self._send(send), name="event stream")
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        except _UnreadError:
            _log.warning("a reader of events is disconnected: it does not read")
            scope.get(_ABORT, lambda: None)()
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await gone
        finally:
            for task in (gone, sending):
                task.cancel()
            await asyncio.wait({gone, sending})

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                try:
                    async with asyncio.timeout(self._unread_seconds):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                except TimeoutError:
                    raise _UnreadError from None
        await send({"type": "http.response.body", "body": b""})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def is_stopping(scope: Scope) -> bool:
    """Return whether the server that a request came to is being stopped: an answer that goes on then ends."""
    return bool(scope.get(_STOPPING, lambda: False)())


def with_stream_control(app: ASGIApp, stopping: Callable[[], bool]) -> ASGIApp:
    """Return an application whose streams end when its server is ``stopping``, and can cut their connection.

    uvicorn gives requests neither: it waits for them when it stops, and flushes what nobody reads before it closes.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope[_STOPPING] = stopping
            transport = getattr(getattr(send, "__self__", None), "transport", None)
            if transport is not None:
                scope[_ABORT] = transport.abort
        await app(scope, receive, send)

    return answer
