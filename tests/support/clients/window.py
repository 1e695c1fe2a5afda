"""Both kinds of window behind one face, for tests of what they do alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import httpx

from support.fakes.vicw_server import FakeVicw
from vicw_client import AsyncVicwClient, Retry, VicwClient

AT_ONCE = Retry(attempts=2, first_seconds=0.0, longest_seconds=0.0)
PATIENT = Retry(attempts=2, first_seconds=3600.0, longest_seconds=3600.0, jitter=lambda: 1.0)


def words(text: str) -> int:
    return len(text.split())


class Driver(Protocol):
    """A window whose calls block, whichever kind it is."""

    def __call__(self, method: str, *args: Any, **kwargs: Any) -> Any: ...

    def look(self, name: str) -> Any: ...


class Blocking:
    def __init__(self, vicw: FakeVicw, retry: Retry, **options: Any) -> None:
        transport = httpx.MockTransport(vicw.handle)
        self.window = VicwClient("http://vicw.test", retry=retry, transport=transport).window(**options)

    def __call__(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.window, method)(*args, **kwargs)

    def look(self, name: str) -> Any:
        return getattr(self.window, name)


class Awaited:
    def __init__(self, runner: asyncio.Runner, vicw: FakeVicw, retry: Retry, **options: Any) -> None:
        self.runner = runner
        transport = httpx.MockTransport(vicw.handle_async)
        self.window = AsyncVicwClient("http://vicw.test", retry=retry, transport=transport).window(**options)

    def __call__(self, method: str, *args: Any, **kwargs: Any) -> Any:
        name = {"close": "aclose"}.get(method, method)
        return self.runner.run(getattr(self.window, name)(*args, **kwargs))

    def look(self, name: str) -> Any:
        return getattr(self.window, name)


type Open = Callable[..., Driver]


def say(window: Driver, first: int, last: int) -> list[dict[str, Any]]:
    """Ask and answer; each exchange takes twenty words. Return what was to be sent last."""
    messages: list[dict[str, Any]] = []
    for n in range(first, last + 1):
        messages = window("ask", f"question {n} " + "la " * 8)
        window("answer", f"answer {n} " + "lo " * 8)
    return messages


def contents(messages: list[dict[str, Any]]) -> list[str]:
    return [" ".join(message["content"].split()[:2]) for message in messages]
