"""Number of batches to draft together: drafts that a slice has no time to commit are lost."""

from __future__ import annotations

import time
from collections.abc import Callable

from vicw_sleep.consolidation.llm_requests import LlmRequester

_MAX_SIZE = 20
_TARGET_SECONDS = 4.0
"""Target duration of a group: drafting and consolidating it."""


class BatchSize:
    """Starts at one, doubles while a group takes little time, and halves when one takes too long.

    With a language model, the size is the number of answers it writes ``at_once``: the time of an answer does not
    count.
    """

    def __init__(self, llm: LlmRequester | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._llm = llm
        self._clock = clock
        self._size = 1
        self._began: float | None = None

    def take[B](self, remaining: list[B]) -> tuple[list[B], list[B]]:
        """Return the next group of the remaining batches, and the rest. The group before is done."""
        began, self._began = self._began, self._clock()
        if began is not None:
            duration = self._began - began
            self._size = min(_MAX_SIZE, 2 * self._size) if duration < _TARGET_SECONDS / 2 else self._size
            self._size = max(1, self._size // 2) if duration > _TARGET_SECONDS else self._size
        concurrent_answers = self._llm.at_once if self._llm is not None else 0
        size = min(_MAX_SIZE, concurrent_answers) or self._size
        return remaining[:size], remaining[size:]
