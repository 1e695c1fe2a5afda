"""Throttle background work so that foreground requests run first."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from vicw_shared.settings.concerns import REST_FACTOR

SLICE_SECONDS = 0.005
"""Consecutive steps that together take less than this count as one: reading three nodes needs no rest."""
NOTICED_SECONDS = 0.02
"""Delay of a request that users hardly notice."""
REMOTE_LOAD_SECONDS = 10.0
"""Age up to which a recorded request counts as load: processes record one every five seconds."""
_POLL_SECONDS = 0.02


class BackgroundThrottle:
    """Tracks foreground requests and the running background step of one event loop."""

    max_seconds = 2.0
    """Maximum wait before a step, under constant load."""
    quiet_seconds = 5.0
    """Time without a request after which background steps run without a rest."""

    def __init__(self, rest_factor: float = REST_FACTOR) -> None:
        self._rest_factor = rest_factor
        self._requests = 0
        self._stepper: asyncio.Task[object] | None = None
        self._request_ended_at = self._rested_at = float("-inf")
        self._stepped_at = float("-inf")
        """Time at which the latest step began or ended."""

    @contextmanager
    def foreground_request(self) -> Iterator[None]:
        """Mark a foreground request: background steps wait until the block ends, and rest for a while after it."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1
            self._request_ended_at = time.monotonic()

    async def yield_to_foreground(self) -> None:
        """End a step of this task and wait until its next may begin. Always yields to the event loop first.

        Call it between steps that take the processor for some milliseconds.
        """
        await asyncio.sleep(0)
        task, now = asyncio.current_task(), time.monotonic()
        if self._stepper is task:
            if not self._requests and now - self._stepped_at < SLICE_SECONDS:
                return
            self._rested_at = now + self._rest_after(now - self._stepped_at)
            self._stepper, self._stepped_at = None, now
        while not self._may_step():  # noqa: ASYNC110 - the condition depends on time, too
            await asyncio.sleep(_POLL_SECONDS)
        self._stepper, self._stepped_at = task, time.monotonic()

    def _rest_after(self, seconds: float) -> float:
        return min(self._rest_factor * seconds, self.max_seconds)

    def _may_step(self) -> bool:
        if self.is_quiet:
            return True
        now = time.monotonic()
        if self._requests or (self._stepper is not None and not self._stepper.done()):
            return now - self._stepped_at >= self.max_seconds
        return now >= self._rested_at

    @property
    def is_quiet(self) -> bool:
        """Whether no request runs or is expected, or throttling is off."""
        return not self._rest_factor or (
            not self._requests and time.monotonic() - self._request_ended_at >= self.quiet_seconds
        )


class RemoteLoadThrottle(BackgroundThrottle):
    """Throttle by the requests of other processes, as the store records them: coarsely, and without their ends.

    ``seconds_since_request`` returns the seconds since the latest request (None: never).
    """

    max_seconds = 4.0
    """With this wait, a step of a fifth of a second delays one request in fifteen."""
    poll_seconds = 1.0
    """Interval between look-ups of other processes' requests in the store."""

    def __init__(
        self, seconds_since_request: Callable[[], Awaitable[float | None]], rest_factor: float = REST_FACTOR
    ) -> None:
        super().__init__(rest_factor)
        self._seconds_since_request = seconds_since_request
        self._polled_at = float("-inf")

    async def yield_to_foreground(self) -> None:
        """Throttle as ``BackgroundThrottle`` does while the store shows recent requests. Raises the store's errors."""
        if time.monotonic() - self._polled_at >= self.poll_seconds:
            self._polled_at = time.monotonic()
            ago = await self._seconds_since_request()
            if ago is not None and ago < REMOTE_LOAD_SECONDS:
                self._request_ended_at = time.monotonic()
        await super().yield_to_foreground()

    def _rest_after(self, seconds: float) -> float:
        # Steps do delay requests here, longer steps by more, so these run less often.
        return min(self._rest_factor * seconds * (1 + seconds / NOTICED_SECONDS), self.max_seconds)


_within: ContextVar[bool] = ContextVar("within", default=False)
"""True inside an operation that has begun, such as a transaction: calls inside it are not throttled."""


class Throttled[T]:
    """Proxy of an engine: its operations, and those of its parts, yield to foreground requests before they begin."""

    def __init__(self, engine: T, throttle: BackgroundThrottle) -> None:
        self._engine = engine
        self._throttle = throttle

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._engine, name)
        if not inspect.iscoroutinefunction(member):
            return Throttled(member, self._throttle) if _is_engine(member) else member

        async def call(*args: Any, **kwargs: Any) -> Any:
            if _within.get():
                return await member(*args, **kwargs)
            await self._throttle.yield_to_foreground()
            token = _within.set(True)
            try:
                return await member(*args, **kwargs)
            finally:
                _within.reset(token)

        return call


def _is_engine(member: object) -> bool:
    """Return whether a member has asynchronous operations of its own, as a part of a store has."""
    return any(map(inspect.iscoroutinefunction, vars(type(member)).values()))


def throttled[T](engine: T, throttle: BackgroundThrottle) -> T:
    """Return a throttled proxy of an engine. A transaction, once begun, is not throttled."""
    return cast("T", Throttled(engine, throttle))
