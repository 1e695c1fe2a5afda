"""How many batches are drafted together: what a turn has no time left for, once it is drafted, is lost."""

from __future__ import annotations

import time
from collections.abc import Callable

from vicw_sleep.llm_requests import LlmRequester

_MOST = 20
_SECONDS = 4.0
"""As long as a group should take at most: drafting it, and consolidation what is drafted."""


class BatchSize:
    """One at first, then twice as many while that takes little time; fewer again where somebody asks meanwhile.

    A language model is asked for as many as it writes ``at_once``: an answer takes as long as it takes.
    """

    def __init__(self, asking: LlmRequester | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._asking = asking
        self._clock = clock
        self._size = 1
        self._began: float | None = None

    def take[B](self, left: list[B]) -> tuple[list[B], list[B]]:
        """Return what comes next of what is left, and what is left then. The group before is done."""
        began, self._began = self._began, self._clock()
        if began is not None:
            took = self._began - began
            self._size = min(_MOST, 2 * self._size) if took < _SECONDS / 2 else self._size
            self._size = max(1, self._size // 2) if took > _SECONDS else self._size
        asked = self._asking.at_once if self._asking is not None else 0
        size = min(_MOST, asked) or self._size
        return left[:size], left[size:]
