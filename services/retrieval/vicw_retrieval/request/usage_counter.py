"""Counter of the items that answers show: kept in memory, written to the graph at intervals, off the request path."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from itertools import batched
from typing import NoReturn

import structlog

from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.ports import Uses

_log = structlog.get_logger()
_SECONDS = 5.0
_AT_ONCE = 500
_LAST_SECONDS = 2.0
_MAX_ITEMS = 20_000
"""Maximum items counted between two writes: more than a process shows in that time."""


class UsageCounter:
    """Counter of shown items. Counts not yet written are lost with the process: they are a hint, not a record."""

    def __init__(self, most: int = _MAX_ITEMS) -> None:
        self._most = most
        self._shown: dict[str, Counter[str]] = defaultdict(Counter)
        self._items = 0
        self._had_question = False

    def count(self, tenant: str, uids: Iterable[str]) -> None:
        """Count that these items were shown once more."""
        self._had_question = True
        shown = self._shown[tenant]
        for uid in uids:
            if uid not in shown:
                if self._items >= self._most:
                    continue
                self._items += 1
            shown[uid] += 1

    async def flush(self, uses: Uses) -> None:
        """Write the counts, and the fact that a question was asked, to the graph. Failed writes are logged and lost."""
        shown, self._shown, self._items = self._shown, defaultdict(Counter), 0
        had_question, self._had_question = self._had_question, False
        try:
            if had_question:
                await uses.record_question()
            for tenant, times in shown.items():
                for part in batched(times.items(), _AT_ONCE):
                    await uses.add_uses(tenant, dict(part), now())
        except VicwError as error:
            _log.warning("usage counts could not be written", error=error.detail)

    async def keep_flushing(self, uses: Uses) -> NoReturn:
        """Flush at intervals, and a last time on cancellation."""
        try:
            while True:
                await asyncio.sleep(_SECONDS)
                await self.flush(uses)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_SECONDS):
                    await self.flush(uses)
