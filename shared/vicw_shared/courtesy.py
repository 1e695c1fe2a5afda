"""Who works in the background of a process lets those go first who wait for an answer (design: "Sleep cycle")."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

MOST_SECONDS = 0.25
"""How long one step waits at most: where somebody asks at all times, the night goes on all the same."""

type GiveWay = Callable[[], Awaitable[None]]
"""Is awaited between two steps of something long."""


async def go_on() -> None:
    """Give way to nobody but what else the loop has to do."""
    await asyncio.sleep(0)


class Courtesy:
    """Knows how many wait for an answer. Of one event loop."""

    def __init__(self) -> None:
        self._asking = 0
        self._nobody = asyncio.Event()
        self._nobody.set()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Have others give way until the block ends."""
        self._asking += 1
        self._nobody.clear()
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._nobody.set()

    async def give_way(self) -> None:
        """Return when nobody waits for an answer, or after ``MOST_SECONDS``. Never at once: the loop goes round first.

        To be called between steps that each take a few milliseconds of the processor.
        """
        await asyncio.sleep(0)
        with suppress(TimeoutError):
            async with asyncio.timeout(MOST_SECONDS):
                await self._nobody.wait()


class _Polite:
    """Has everything that an engine has; its operations give way before they begin."""

    def __init__(self, engine: object, courtesy: Courtesy) -> None:
        self._engine = engine
        self._courtesy = courtesy

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._engine, name)
        if not inspect.iscoroutinefunction(member):
            return member

        async def call(*args: Any, **kwargs: Any) -> Any:
            await self._courtesy.give_way()
            return await member(*args, **kwargs)

        return call


def polite[T](engine: T, courtesy: Courtesy) -> T:
    """Return an engine for work in the background: a transaction, once begun, waits for nobody."""
    return cast("T", _Polite(engine, courtesy))
