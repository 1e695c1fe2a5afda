"""Memory limits of request bodies: per body, and for all bodies in flight together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Message, Receive

from vicw_shared.errors import LimitExceededError, OverloadedError


class Bodies:
    """Counts the bytes of bodies until their requests are answered: processing a body takes several times its size."""

    def __init__(self, max_bytes: int, max_total_bytes: int) -> None:
        """Allow ``max_bytes`` per body, and ``max_total_bytes`` for all at once; a body alone is always read."""
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        self._in_flight = 0

    @contextmanager
    def reading(self, declared: int, receive: Receive) -> Iterator[Receive]:
        """Yield a replacement of ``receive``; ``declared`` is the body's Content-Length, 0 without one.

        This call and the replacement raise LimitExceededError for an oversized body, and OverloadedError while other
        bodies leave no room.
        """
        self._require_allowed(declared)
        counted, received = self._take(0, declared), 0

        async def counting() -> Message:
            nonlocal counted, received
            message = await receive()
            received += len(message.get("body", b""))
            self._require_allowed(received)
            if received > counted:
                counted = self._take(counted, received)
            return message

        try:
            yield counting
        finally:
            self._in_flight -= counted

    def _require_allowed(self, size: int) -> None:
        if size > self._max_bytes:
            raise LimitExceededError(
                f"body: over {self._max_bytes} bytes (VICW_MAX_BODY_BYTES). "
                "Send it in several requests, or raise the limit"
            )

    def _take(self, counted: int, size: int) -> int:
        others = self._in_flight - counted
        if others and others + size > self._max_total_bytes:
            raise OverloadedError(
                f"body: with those of other requests under way it is over {self._max_total_bytes} bytes "
                "(VICW_MAX_BODIES_BYTES). Send it again in a moment, or in several requests"
            )
        self._in_flight = others + size
        return size
