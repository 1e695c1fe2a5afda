"""Key cache of a process: look-ups are kept for a moment, and longer while the key ring is down."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass

import structlog

from vicw_shared.errors import RetryableError, UnavailableError
from vicw_shared.model.keys import ApiKey
from vicw_shared.ports import KeyRing

_log = structlog.get_logger()


@dataclass(slots=True)
class KeyCacheLimits:
    """Numbers of cached keys and seconds."""

    cache_seconds: float = 5.0
    outage_seconds: float = 600.0
    """Age of a look-up that still admits a key while the ring is down."""
    timeout_seconds: float = 5.0
    retry_seconds: float = 3.0
    keys: int = 4096


@dataclass(frozen=True, slots=True)
class _CachedLookUp:
    """Result of a look-up, and when it began."""

    key: ApiKey | None
    at: float

    def within(self, seconds: float) -> bool:
        return time.monotonic() - self.at < seconds


class KeyCache:
    """Finds keys in a ring with as little waiting as possible.

    A result is cached for five seconds, so a revoked key may be found for that long. Once the ring does not answer, no
    request waits for it: a background task asks it until it answers. Meanwhile only keys that it returned within the
    last ten minutes are found.
    """

    def __init__(self, ring: Callable[[], KeyRing], limits: KeyCacheLimits | None = None) -> None:
        self._ring = ring
        self._limits = limits or KeyCacheLimits()
        # Kept apart, so that made-up ids evict no key.
        self._known: OrderedDict[str, _CachedLookUp] = OrderedDict()
        self._unknown: OrderedDict[str, _CachedLookUp] = OrderedDict()
        self._lookups: dict[str, asyncio.Task[ApiKey | None]] = {}
        self._is_down = False
        self._watch: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> ApiKey | None:
        """Return the key called ``key_id``, revoked or not; None if there is none.

        Raises UnavailableError if the ring is down and has not returned this key lately.
        """
        last = self._known.get(key_id) or self._unknown.get(key_id)
        if last is not None and last.within(self._limits.cache_seconds):
            return last.key
        try:
            if self._is_down:
                raise _unavailable()
            return await asyncio.shield(self._start_look_up(key_id))  # others may wait for the same look-up
        except UnavailableError:
            if last is not None and last.key is not None and last.within(self._limits.outage_seconds):
                return last.key
            raise

    def _start_look_up(self, key_id: str) -> asyncio.Task[ApiKey | None]:
        """Return the running look-up of a key, or start one."""
        task = self._lookups.get(key_id)
        if task is None:
            task = self._lookups[key_id] = asyncio.create_task(self._look_up(key_id), name="key")
            task.add_done_callback(lambda _: self._lookups.pop(key_id))
        return task

    async def _look_up(self, key_id: str) -> ApiKey | None:
        began, failure = time.monotonic(), None
        try:
            async with asyncio.timeout(self._limits.timeout_seconds):
                key = await self._ring().key(key_id)
        except (RetryableError, TimeoutError) as error:
            failure = str(error) or f"no answer within {self._limits.timeout_seconds:g} s"
            raise _unavailable() from error
        finally:
            self._record_outcome(failure, key_id)
        self._cache(key_id, _CachedLookUp(key, began))
        return key

    def _record_outcome(self, failure: str | None, key_id: str) -> None:
        """Record whether the ring answered; if not, start polling it."""
        if failure is not None and not self._is_down:
            _log.warning("keys cannot be looked up; those known from the last minutes are admitted", error=failure)
        self._is_down = failure is not None
        if self._is_down and (self._watch is None or self._watch.done()):
            # In a context of its own: this task belongs to no request.
            self._watch = asyncio.create_task(self._until_back(key_id), name="keys", context=Context())

    async def _until_back(self, key_id: str) -> None:
        while self._is_down:
            await asyncio.sleep(self._limits.retry_seconds)
            with contextlib.suppress(UnavailableError):
                await self._start_look_up(key_id)

    def _cache(self, key_id: str, result: _CachedLookUp) -> None:
        """Store the result of a look-up, as the newest of its kind."""
        target, opposite = (self._known, self._unknown) if result.key is not None else (self._unknown, self._known)
        opposite.pop(key_id, None)  # an earlier result may differ: keys are created, stores are restored
        target[key_id] = result
        target.move_to_end(key_id)
        if len(target) > self._limits.keys:
            target.popitem(last=False)


def _unavailable() -> UnavailableError:
    return UnavailableError("keys", "cannot be looked up at the moment")  # the log has the reason
