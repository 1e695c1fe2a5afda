"""Embedding of the question: each wording is embedded once, however many domains are searched in turn.

The vector is that of the wrapped question. The wrapper pulls the vector away from the words of questions about code. So
a question whose hits are code is searched again with a vector between the wrapped and the plain form. Any other
question would pay for the second wording and gain nothing (docs/retrieval.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.wrapper import wrap
from vicw_shared.ports import Embedder, Lane


@dataclass(slots=True)
class QueryVector:
    """Vector of the question. ``prefix`` is the embedding model's.

    ``wrapped`` is the current wording, ``now`` its unit vector, (size,), or with ``bare`` the one between it and the
    plain question's; None before the first.
    """

    embedder: Embedder
    prefix: str
    query: str
    bare: bool = False
    wrapped: str = ""
    vector: NDArray[np.float32] | None = None
    _known: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def is_for(self, domain: str | None) -> bool:
        """Return whether the current vector is that of a domain."""
        return self.vector is not None and self.wrapped == self._wrap(domain)

    async def embed(self, domain: str | None, *, bare: bool = False) -> None:
        """Make the vector of a domain the current one. Raises the embedder's errors.

        ``bare``: from now on, the vector lies between both forms.
        """
        bare = bare or self.bare
        wrapped = self._wrap(domain)
        wordings = dict.fromkeys([wrapped, self.prefix + self.query] if bare else [wrapped])
        unknown = [wording for wording in wordings if wording not in self._known]
        if unknown:
            rows = await self.embedder.embed(unknown, Lane.QUERY)
            self._known |= dict(zip(unknown, rows, strict=True))
        self.wrapped, self.bare = wrapped, bare
        self.vector = middle([self._known[wording] for wording in wordings])

    def _wrap(self, domain: str | None) -> str:
        return self.prefix + wrap(self.query, domain=domain)


def middle(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the unit vector between unit vectors: its cosines rank as the mean of theirs."""
    if len(vectors) == 1:
        return vectors[0]
    mean = np.mean(vectors, axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return vectors[0] if length == 0 else (mean / length).astype(np.float32)
