"""Number of batches to draft together: drafts that a slice has no time to commit are lost."""

from __future__ import annotations

import time
from collections.abc import Callable

from vicw_sleep.llm_requests import LlmRequester

_MOST = 20
_SECONDS = 4.0
"""Target duration of a group: drafting and consolidating it."""


class BatchSize:
    """Starts at one, doubles while a group takes little time, and halves when one takes too long.

    With a language model, the size is the number of answers it writes ``at_once``: the time of an answer does not
    count.
    """

    def __init__(self, asking: LlmRequester | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._asking = asking
        self._clock = clock
        self._size = 1
        self._began: float | None = None

    def take[B](self, left: list[B]) -> tuple[list[B], list[B]]:
        """Return the next group of the remaining batches, and the rest. The group before is done."""
        began, self._began = self._began, self._clock()
        if began is not None:
            took = self._began - began
            self._size = min(_MOST, 2 * self._size) if took < _SECONDS / 2 else self._size
            self._size = max(1, self._size // 2) if took > _SECONDS else self._size
        asked = self._asking.at_once if self._asking is not None else 0
        size = min(_MOST, asked) or self._size
        return left[:size], left[size:]
