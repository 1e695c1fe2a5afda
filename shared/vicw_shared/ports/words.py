"""The port to what a full-text index knows of single words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class WordIndex(Protocol):
    """Weighs words where there are no vectors to weigh texts by."""

    async def rarity(self, stems: Sequence[str]) -> list[float]:
        """Return the inverse document frequency of each stem (``sparse.stems``) over all Chunks, ≥ 0; 0 if none has it.

        That of a common word may be a little too high: not all of its Chunks are counted.
        """
        ...
