"""Compact index of uids, used to validate and write an export."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

type _Uids = NDArray[np.bytes_]


class UidIndex:
    """Index from uids (UUIDs) to numbers from 0; 24 bytes per entry once it is sorted.

    The first look-up after an ``add`` sorts the index. For a uid added twice, the first number counts.
    """

    def __init__(self) -> None:
        self._uids: list[_Uids] = []
        self._values: list[NDArray[np.int64]] = []
        self._is_sorted = False

    def __len__(self) -> int:
        return sum(map(len, self._values))

    def add(self, uids: Sequence[str], values: Sequence[int]) -> None:
        """Add uids with their numbers."""
        self._uids.append(_packed(uids))
        self._values.append(np.asarray(values, np.int64))
        self._is_sorted = False

    def find(self, uids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of these uids, in their order; -1 for an unknown uid."""
        if not len(self):
            return np.full(len(uids), -1, np.int64)
        if not self._is_sorted:
            packed, values = np.concatenate(self._uids), np.concatenate(self._values)
            order = np.argsort(packed, kind="stable")
            self._uids, self._values, self._is_sorted = [packed[order]], [values[order]], True
        keys = _packed(uids)
        positions = np.minimum(np.searchsorted(self._uids[0], keys), len(self) - 1)
        return np.where(self._uids[0][positions] == keys, self._values[0][positions], -1)


def _packed(uids: Sequence[str]) -> _Uids:
    return np.frombuffer(bytes.fromhex("".join(uids).replace("-", "")), "S16")
