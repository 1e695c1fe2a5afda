"""Which items answers show: counted in memory, and noted by the graph now and then. Nobody who asks waits for that."""

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
_MOST = 20_000
"""Items that are counted before the graph notes them: more than a process shows in that time."""


class UsageCounter:
    """Counts what is shown. What is not noted yet is lost with the process: it is a hint, no record."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._shown: dict[str, Counter[str]] = defaultdict(Counter)
        self._items = 0
        self._asked = False

    def count(self, tenant: str, uids: Iterable[str]) -> None:
        """Count that these items were shown once more."""
        self._asked = True
        shown = self._shown[tenant]
        for uid in uids:
            if uid not in shown:
                if self._items >= self._most:
                    continue
                self._items += 1
            shown[uid] += 1

    async def flush(self, uses: Uses) -> None:
        """Have the graph note what was counted, and that somebody asks. What it does not take is lost, and logged."""
        shown, self._shown, self._items = self._shown, defaultdict(Counter), 0
        asked, self._asked = self._asked, False
        try:
            if asked:
                await uses.record_question()
            for tenant, times in shown.items():
                for part in batched(times.items(), _AT_ONCE):
                    await uses.add_uses(tenant, dict(part), now())
        except VicwError as error:
            _log.warning("what answers have shown could not be noted", error=error.detail)

    async def keep_flushing(self, uses: Uses) -> NoReturn:
        """Note again and again, and a last time when it is cancelled."""
        try:
            while True:
                await asyncio.sleep(_SECONDS)
                await self.flush(uses)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_SECONDS):
                    await self.flush(uses)
