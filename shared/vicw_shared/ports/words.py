"""The port to what a graph store can tell where there are no vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class WordIndex(Protocol):
    """Weighs words and domains, as a vector store does where there is one."""

    async def rarity(self, stems: Sequence[str]) -> list[float]:
        """Return the inverse document frequency of each stem (``sparse.stems``) over all Chunks, ≥ 0; 0 if none has it.

        One that half or more of them have is as rare as one that half have: what everybody says still tells a little.
        """
        ...

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        """Return how many live Chunks each domain of the tenant has; a figure that may be a hundredth old.

        ``public``: of those that everybody may see everywhere.
        """
        ...
