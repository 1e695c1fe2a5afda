"""Memory limits of request bodies: per body, and for all bodies in flight together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Message, Receive

from vicw_shared.errors import LimitExceededError, OverloadedError


class Bodies:
    """Counts the bytes of bodies until their requests are answered: processing a body takes several times its size."""

    def __init__(self, most: int, together: int) -> None:
        """Allow ``most`` bytes per body, and ``together`` bytes for all at once; a body alone is always read."""
        self._most = most
        self._together = together
        self._held = 0

    @contextmanager
    def reading(self, declared: int, receive: Receive) -> Iterator[Receive]:
        """Yield a replacement of ``receive``; ``declared`` is the body's Content-Length, 0 without one.

        This call and the replacement raise LimitExceededError for an oversized body, and OverloadedError while other
        bodies leave no room.
        """
        self._require_allowed(declared)
        held, seen = self._take(0, declared), 0

        async def counting() -> Message:
            nonlocal held, seen
            message = await receive()
            seen += len(message.get("body", b""))
            self._require_allowed(seen)
            if seen > held:
                held = self._take(held, seen)
            return message

        try:
            yield counting
        finally:
            self._held -= held

    def _require_allowed(self, size: int) -> None:
        if size > self._most:
            raise LimitExceededError(
                f"body: over {self._most} bytes (VICW_MAX_BODY_BYTES). Send it in several requests, or raise the limit"
            )

    def _take(self, held: int, wanted: int) -> int:
        others = self._held - held
        if others and others + wanted > self._together:
            raise OverloadedError(
                f"body: with those of other requests under way it is over {self._together} bytes "
                "(VICW_MAX_BODIES_BYTES). Send it again in a moment, or in several requests"
            )
        self._held = others + wanted
        return wanted
