"""Word index port: term and domain statistics from the graph store, for a deployment without vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class WordIndex(Protocol):
    """Statistics of words and domains, in place of the vector store's."""

    async def rarity(self, stems: Sequence[str]) -> list[float]:
        """Return the inverse document frequency of each stem (``sparse.stems``) over all Chunks, ≥ 0; 0 if none has it.

        The document share of a stem is capped at one half, so that a very common stem still scores a little.
        """
        ...

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        """Return the number of live Chunks per domain of the tenant; the counts may lag by one percent.

        ``public``: count only Chunks that every viewer may see in every context.
        """
        ...
