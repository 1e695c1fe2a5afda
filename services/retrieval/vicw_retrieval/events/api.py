"""Endpoint of events."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response, Security

from vicw_retrieval.events.service import LATE, EventReader, moment_of
from vicw_retrieval.ports import RetrievalPorts
from vicw_runtime.http import EventStream, Gate, bearer_scheme, is_stopping, refusals, tenant_of
from vicw_shared.clock import now, to_us
from vicw_shared.errors import OverloadedError, VicwError
from vicw_shared.model.keys import Right
from vicw_shared.wire.events import MEDIA_TYPE, Event, EventsQuery
from vicw_shared.wire.examples import story

_READ_SECONDS = 1.0
_HEARTBEAT_SECONDS = 15.0
_HEARTBEAT = b": \n\n"
_EXAMPLE = {
    # What readers of such documents take the schema of a stream to be: that of the fields of one event.
    "schema": {"type": "object", "properties": {name: {"type": "string"} for name in ("id", "event", "data", "retry")}},
    "example": {
        "id": story.EVENT,
        "event": "stored",
        "data": f'{{"id": "{story.EVENT}", "kind": "stored", "at": "{story.STORED_AT}", "uid": '
        f'"{story.BETRAYAL_UID}", "context": "{story.NOVEL}", "count": 1}}',
    },
}
_log = structlog.get_logger()


def create_events_router(ports: Callable[[], RetrievalPorts], gate: Gate) -> APIRouter:
    """Return the route behind ``gate``. ``ports`` is called for each read."""
    router = APIRouter(route_class=gate.route(Right.RETRIEVE), tags=["events"], dependencies=[Security(bearer_scheme)])
    open_streams: Counter[str] = Counter()

    async def counted(http: Request) -> AsyncIterator[None]:
        """Count a stream from its request on until its answer ends, also if that never begins."""
        tenant, most = tenant_of(http), ports().limits.event_streams
        if open_streams[tenant] >= most:
            raise OverloadedError(
                f"events: {most} streams are open (VICW_MAX_EVENT_STREAMS). Close one, or raise the limit"
            )
        open_streams[tenant] += 1
        try:
            yield
        finally:
            open_streams[tenant] -= 1
            if not open_streams[tenant]:
                del open_streams[tenant]

    @router.get(
        "/events",
        operation_id="watch_events",
        summary="Watch what is stored, changed and forgotten",
        response_class=Response,
        dependencies=[Depends(counted)],
        responses={
            200: {"description": "Server-sent events; `data` of each is an `Event`", "content": {MEDIA_TYPE: _EXAMPLE}},
            **refusals(401, 403, 422, 429, 503),
        },
    )
    async def get_events(
        http: Request,
        query: Annotated[EventsQuery, Query()],
        last_event_id: Annotated[
            str | None, Header(description="As `after`; what resumes a stream sends it", examples=[story.EVENT])
        ] = None,
    ) -> Response:
        resumed = _resumed(last_event_id, query.after)
        reader = EventReader(tenant_of(http), query, resumed or now())
        # A place without an event: who loses the stream before the first event resumes here.
        begin = f"id: {to_us(reader.start)}-0\n" if resumed is None else ""

        async def admitted() -> None:
            await gate.admit(http, Right.RETRIEVE)

        async def chunks() -> AsyncGenerator[bytes]:
            yield f"retry: 2000\n{begin}\n".encode()
            async for chunk in _stream(reader, ports, admitted, lambda: is_stopping(http.scope), follow=query.follow):
                yield chunk

        return EventStream(chunks())

    return router


def _resumed(header: str | None, after: str | None) -> datetime | None:
    """Return from when on events are sent again: those of the minute before the last one may have been late."""
    text, name = (header, "Last-Event-ID") if header else (after, "after")
    return min(now(), moment_of(text, name) - LATE) if text else None


async def _stream(
    reader: EventReader,
    ports: Callable[[], RetrievalPorts],
    admitted: Callable[[], Awaitable[None]],
    stopping: Callable[[], bool],
    *,
    follow: bool,
) -> AsyncIterator[bytes]:
    """Yield events as they come until the server stops, the key is revoked, or the store does not answer."""
    checked = time.monotonic()
    try:
        while not stopping():
            for event in await reader.read(ports(), now().astimezone(UTC)):
                yield _encoded(event)
            if not follow and not reader.is_behind:
                return
            if time.monotonic() - checked >= _HEARTBEAT_SECONDS:
                await admitted()
                checked = time.monotonic()
                yield _HEARTBEAT
            if not reader.is_behind:
                await asyncio.sleep(_READ_SECONDS)
    except VicwError as error:
        _log.info("a stream of events ended", reason=error.detail)


def _encoded(event: Event) -> bytes:
    data = json.dumps(event.model_dump(mode="json"))  # ASCII: some readers end lines at more than line feeds
    return f"id: {event.id}\nevent: {event.kind}\ndata: {data}\n\n".encode()
