"""Who works in the background of a process lets those go first who wait for an answer (design: "Sleep cycle")."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, cast

LULL_SECONDS = 5.0
"""When nobody has asked for so long, nobody is expected to: steps follow each other without a rest."""
RESTS = 12.0
"""Until then a step is followed by a rest of so many times what it took: a question seldom comes upon one. 0: whoever
works in the background waits for nobody.
"""
SLICE_SECONDS = 0.005
"""Steps that follow each other in so short a time are one: reading three nodes is nothing to rest from."""
NOTICED_SECONDS = 0.02
"""A question that takes so much longer is hardly noticed."""
HEAR_SECONDS = 1.0
"""How often a store is asked whether somebody asks elsewhere."""
RUMOUR_SECONDS = 10.0
"""For so long it is true that somebody asks: it is told every five seconds."""
_LOOK_SECONDS = 0.02


type GiveWay = Callable[[], Awaitable[None]]
"""Is awaited between two steps of something long."""


async def go_on() -> None:
    """Give way to nobody but what else the loop has to do."""
    await asyncio.sleep(0)


class BackgroundThrottle:
    """Knows whether anybody waits for an answer, and whose step it is. Of one event loop."""

    most_seconds: ClassVar[float] = 2.0
    """Where somebody asks at all times, one step is taken as often as this all the same."""

    def __init__(self, rests: float = RESTS) -> None:
        self._rests = rests
        self._asking = 0
        self._stepper: asyncio.Task[object] | None = None
        self._asked_at = self._rested_at = float("-inf")
        self._stepped_at = float("-inf")
        """When a step has begun, or ended, last."""

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Have others give way until the block ends, and be careful for a while."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            self._asked_at = time.monotonic()

    async def give_way(self) -> None:
        """End a step of this task, and return when its next may begin. Never at once: the loop goes round first.

        To be called between steps that take the processor for some milliseconds.
        """
        await asyncio.sleep(0)
        task, now = asyncio.current_task(), time.monotonic()
        if self._stepper is task:
            if not self._asking and now - self._stepped_at < SLICE_SECONDS:
                return
            self._rested_at = now + self._rest_after(now - self._stepped_at)
            self._stepper, self._stepped_at = None, now
        while not self._may_step():  # noqa: ASYNC110 - what is waited for is time, too
            await asyncio.sleep(_LOOK_SECONDS)
        self._stepper, self._stepped_at = task, time.monotonic()

    def _rest_after(self, seconds: float) -> float:
        return min(self._rests * seconds, self.most_seconds)

    def _may_step(self) -> bool:
        if self.is_lull:
            return True
        now = time.monotonic()
        if self._asking or (self._stepper is not None and not self._stepper.done()):
            return now - self._stepped_at >= self.most_seconds
        return now >= self._rested_at

    @property
    def is_lull(self) -> bool:
        """Whether nobody asks, and nobody is expected to, or it does not matter."""
        return not self._rests or (not self._asking and time.monotonic() - self._asked_at >= LULL_SECONDS)


class RemoteLoadThrottle(BackgroundThrottle):
    """Knows from a store that somebody asks in another process: only now and then, and not whether he still waits.

    ``asked`` returns how many seconds ago that was, None: never.
    """

    most_seconds: ClassVar[float] = 4.0
    """A step that takes a fifth of a second comes upon one question in fifteen then."""

    def __init__(self, asked: Callable[[], Awaitable[float | None]], rests: float = RESTS) -> None:
        super().__init__(rests)
        self._asked = asked
        self._heard_at = float("-inf")

    async def give_way(self) -> None:
        """Do as ``BackgroundThrottle`` does while somebody has asked of late. Raises what the store raises."""
        if time.monotonic() - self._heard_at >= HEAR_SECONDS:
            self._heard_at = time.monotonic()
            ago = await self._asked()
            if ago is not None and ago < RUMOUR_SECONDS:
                self._asked_at = time.monotonic()
        await super().give_way()

    def _rest_after(self, seconds: float) -> float:
        # Its steps come upon questions: the longer a step, the more it costs one, and the seldomer it may.
        return min(self._rests * seconds * (1 + seconds / NOTICED_SECONDS), self.most_seconds)


_within: ContextVar[bool] = ContextVar("within", default=False)
"""Whether this is part of an operation that has begun, such as a transaction: that waits for nobody."""


class Throttled[T]:
    """Has everything that an engine has; its operations, and those of its parts, give way before they begin."""

    def __init__(self, engine: T, courtesy: BackgroundThrottle) -> None:
        self._engine = engine
        self._courtesy = courtesy

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._engine, name)
        if not inspect.iscoroutinefunction(member):
            return Throttled(member, self._courtesy) if _is_engine(member) else member

        async def call(*args: Any, **kwargs: Any) -> Any:
            if _within.get():
                return await member(*args, **kwargs)
            await self._courtesy.give_way()
            token = _within.set(True)
            try:
                return await member(*args, **kwargs)
            finally:
                _within.reset(token)

        return call


def _is_engine(member: object) -> bool:
    """Tell whether it has operations of its own, as a part of a store has."""
    return any(map(inspect.iscoroutinefunction, vars(type(member)).values()))


def polite[T](engine: T, courtesy: BackgroundThrottle) -> T:
    """Return an engine for work in the background: a transaction, once begun, waits for nobody."""
    return cast("T", Throttled(engine, courtesy))
