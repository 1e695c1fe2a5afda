"""Where a test server comes from: the first source that has one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


class Unavailable(Exception):
    """There is no server here, and why; the next source is asked."""


class NotReady(Exception):
    """The server does not answer yet."""


class Running[H](Protocol):
    """A server that answers, and the end of it."""

    @property
    def server(self) -> H: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Given[H]:
    """Somebody else's server: it is used, never started or ended."""

    server: H

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Source[R]:
    """One place; ``start`` returns a server that answers or raises ``Unavailable``."""

    name: str
    start: Callable[[], R]


@dataclass(frozen=True, slots=True)
class Found[R]:
    """What ``source`` has started; ``passed_over`` are the sources before it, and why they had none."""

    running: R
    source: str
    seconds: float
    passed_over: Sequence[tuple[str, str]] = ()


class Missing(Exception):
    """No source has the server; each was tried and said why."""

    def __init__(self, server: str, tried: Sequence[tuple[str, str]]) -> None:
        super().__init__(f"no {server}: " + "; ".join(f"{name}: {reason.splitlines()[0]}" for name, reason in tried))
        self.server = server
        self.tried = tuple(tried)


def find[R](server: str, sources: Sequence[Source[R]]) -> Found[R]:
    """Return the server of the first source that has one; raise ``Missing`` if none has."""
    tried: list[tuple[str, str]] = []
    for source in sources:
        began = time.monotonic()
        try:
            running = source.start()
        except Unavailable as reason:
            tried.append((source.name, str(reason)))
        else:
            return Found(running, source.name, time.monotonic() - began, tuple(tried))
    raise Missing(server, tried)
