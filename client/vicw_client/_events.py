"""A feed of events: lines of a stream in, events out; a stream that breaks off goes on where it was."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import ValidationError

from vicw_client._connection import timeout_of
from vicw_client._exchange import Retry, query_of, retry_pause
from vicw_client._problems import failure_of
from vicw_client.errors import UnexpectedAnswerError
from vicw_shared.wire.events import Event, EventsQuery

_SILENT_SECONDS = 60.0
"""A server sends a sign of life four times in this time."""
_RECONNECT_SECONDS = 2.0
_MOST_KNOWN = 20_000


@dataclass(slots=True)
class Feed:
    """What is known of a feed: where it is, and which events it had lately, since a server may send some again."""

    base: str
    fields: dict[str, Any]
    retry: Retry
    _failures: int = 0
    _data: str | None = None
    _place: str | None = None
    _known: OrderedDict[str, None] = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, fields: Mapping[str, Any], retry: Retry, base: str) -> Feed:
        """Return a feed that begins. Raises BadRequestError naming the fields that are wrong."""
        query_of(EventsQuery, fields)
        return cls(base, dict(fields), retry)

    @property
    def follows(self) -> bool:
        """Whether it goes on after what there is already."""
        return bool(self.fields.get("follow", True))

    def request(self) -> dict[str, Any]:
        """Return the arguments of the next request."""
        fields = self.fields | ({"after": self._place} if self._place is not None else {})
        timeout = timeout_of(_SILENT_SECONDS)
        self._data = None
        return {"method": "GET", "url": f"{self.base}/events{query_of(EventsQuery, fields)}", "timeout": timeout}

    def read(self, line: str) -> Event | None:
        """Return the event that a line completes, unless it came before."""
        self._failures = 0
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._place = value
        elif name == "data":
            self._data = value
        elif not line and self._data is not None:
            data, self._data = self._data, None
            try:
                event = Event.model_validate_json(data, extra="ignore")
            except ValidationError as error:
                raise UnexpectedAnswerError("the server sent an event of another form") from error
            return event if self._is_new(event.id) else None
        return None

    def pause(self, reply: httpx.Response | httpx.RequestError | None) -> float:
        """Return the seconds until the next request, after a failure, silence, or (None) an end.

        Raises what no retry mends.
        """
        if reply is None or isinstance(reply, httpx.ReadTimeout):
            return _RECONNECT_SECONDS
        self._failures += 1
        failure = failure_of(reply)
        assert failure is not None
        return retry_pause(failure, self._failures, self.retry).seconds

    def _is_new(self, event_id: str) -> bool:
        if event_id in self._known:
            return False
        self._known[event_id] = None
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return True


def watch(http: httpx.Client, feed: Feed) -> Iterator[Event]:
    """Yield events as they come."""
    while True:
        failed: httpx.Response | httpx.RequestError | None = None
        try:
            with http.stream(**feed.request()) as reply:
                if reply.is_success:
                    yield from (event for line in reply.iter_lines() if (event := feed.read(line)) is not None)
                else:
                    reply.read()
                    failed = reply
        except httpx.RequestError as error:
            failed = error
        if failed is None and not feed.follows:
            return
        time.sleep(feed.pause(failed))


async def watch_async(http: httpx.AsyncClient, feed: Feed) -> AsyncIterator[Event]:
    """Yield events as they come."""
    while True:
        failed: httpx.Response | httpx.RequestError | None = None
        try:
            async with http.stream(**feed.request()) as reply:
                if reply.is_success:
                    async for line in reply.aiter_lines():
                        if (event := feed.read(line)) is not None:
                            yield event
                else:
                    await reply.aread()
                    failed = reply
        except httpx.RequestError as error:
            failed = error
        if failed is None and not feed.follows:
            return
        await asyncio.sleep(feed.pause(failed))
