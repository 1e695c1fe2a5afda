"""Which uids there are, in little room: what holds an export's nodes together while it is judged and written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_HALF = np.dtype(">u8")


class UidIndex:
    """Uids (UUIDs) with a number from 0 each; 24 bytes an entry, once it is sorted.

    ``add`` until everything is in; the first look-up sorts. Of a uid that was added twice the first number counts.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
        self._sorted: tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return len(self._sorted[2]) if self._sorted is not None else sum(len(values) for _, values in self._parts)

    def add(self, uids: Sequence[str], values: Sequence[int]) -> None:
        """Take uids in, each with its number."""
        if uids:
            self._sorted = None
            self._parts.append((_halves(uids), np.asarray(values, np.int64)))

    def find(self, uids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of these uids, in their order; -1 for one that is not here."""
        places = self.places(uids)
        values = self._sort()[2]
        return np.where(places < 0, -1, values[places]) if len(values) else places

    def uid(self, place: int) -> str:
        """Return the uid at a place."""
        high, low, _ = self._sort()
        return _uid(int(high[place]), int(low[place]))

    def places(self, uids: Sequence[str]) -> NDArray[np.int64]:
        """Return where these uids stand in the order of all, from 0; -1 for one that is not here."""
        high, low, _ = self._sort()
        wanted = _halves(uids)
        at = np.searchsorted(high, wanted[:, 0])
        found = np.full(len(uids), -1, np.int64)
        open_ = np.arange(len(uids))
        while True:  # uids share their first half hardly ever, so this is one round or two
            at_open = at[open_]
            inside = at_open < len(high)
            open_, at_open = open_[inside], at_open[inside]
            same = high[at_open] == wanted[open_, 0]
            open_, at_open = open_[same], at_open[same]
            if not len(open_):
                return found
            hit = low[at_open] == wanted[open_, 1]
            found[open_[hit]] = at_open[hit]
            open_ = open_[~hit]
            at[open_] += 1

    def twice(self) -> str | None:
        """Return a uid that was added twice, if one was."""
        high, low, _ = self._sort()
        same = np.flatnonzero((high[1:] == high[:-1]) & (low[1:] == low[:-1]))
        return self.uid(int(same[0])) if len(same) else None

    def _sort(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
        if self._sorted is None:
            halves = np.concatenate([part for part, _ in self._parts] or [np.empty((0, 2), np.uint64)])
            values = np.concatenate([part for _, part in self._parts] or [np.empty(0, np.int64)])
            order = np.lexsort((halves[:, 1], halves[:, 0]))
            self._sorted = halves[order, 0], halves[order, 1], values[order]
            self._parts = [(halves, values)]
        return self._sorted


def _halves(uids: Sequence[str]) -> NDArray[np.uint64]:
    raw = bytes.fromhex("".join(uids).replace("-", ""))
    return np.frombuffer(raw, _HALF).astype(np.uint64).reshape(-1, 2)


def _uid(high: int, low: int) -> str:
    h = f"{high:016x}{low:016x}"
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"
