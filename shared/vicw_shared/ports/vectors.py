"""Vector store port (a dense and a sparse vector per point), and the counts of domains without vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vicw_shared.model import Label
from vicw_shared.ports.scope import Scope


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Distinct term ids (``indices``, unsigned 32 bit) and their weights (``values``, > 0), in the same order.

    The score of a point is the sum of the products of its weights and the query's: no engine weighs terms itself.
    """

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A point: a UUID, a unit vector of shape (size,), a sparse vector, a JSON payload. At least one vector is set.

    A point without ``dense`` is found by its words only.
    """

    id: str
    dense: NDArray[np.float32] | None
    sparse: SparseVector | None
    payload: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    """A search by ``dense`` or by ``sparse`` (exactly one), inside ``scope``, at most ``limit`` hits.

    Hits are passages, or statements (Label.EVENT). Points of the items ``without`` (uids) are left out.
    """

    scope: Scope
    limit: int
    dense: NDArray[np.float32] | None = None
    sparse: SparseVector | None = None
    without: tuple[str, ...] = ()
    label: Label = Label.CHUNK


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreQuery:
    """Points to score against ``dense`` or ``sparse`` (exactly one)."""

    ids: Sequence[str]
    dense: NDArray[np.float32] | None = None
    sparse: SparseVector | None = None


class VectorHit(NamedTuple):
    """A point id and its score, higher is better: cosine in [-1, 1], or BM25, > 0."""

    id: str
    score: float


class VectorStore(Protocol):
    """Search index of points. It can be rebuilt from the graph, the source of truth."""

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points, replacing those with the same id. Acknowledged points survive ``kill -9``."""
        ...

    async def set_payload(self, payloads: Mapping[str, Mapping[str, object]]) -> None:
        """Replace the payloads of existing points. Unknown ids are ignored."""
        ...

    async def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        """Replace the sparse vectors of existing points; nothing else of them changes. Unknown ids are ignored."""
        ...

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove points. Unknown ids are ignored."""
        ...

    async def search(self, query: VectorQuery) -> list[VectorHit]:
        """Return the best hits, best first. An empty sparse vector finds nothing."""
        ...

    async def score(self, queries: Sequence[ScoreQuery]) -> list[dict[str, float]]:
        """Return the exact scores of given points, one mapping by id per query.

        A point that does not exist, has no vector, or shares no term with a sparse query is left out.
        """
        ...

    async def dense(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the dense vectors, of norm 1, of the points that have one."""
        ...

    async def terms(self, ids: Sequence[str]) -> dict[str, frozenset[int]]:
        """Return the terms of the sparse vectors of the points that have one."""
        ...

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        """Return the number of points per domain of the tenant; the counts may be some minutes old.

        ``public``: count only points that every viewer may see in every context.
        """
        ...

    async def payloads(self, ids: Sequence[str]) -> dict[str, Mapping[str, object]]:
        """Return the payloads of the points that exist."""
        ...

    async def present(self, ids: Sequence[str]) -> set[str]:
        """Return which of these points exist."""
        ...

    async def ids(self, *, after: str | None, limit: int) -> list[str]:
        """Return up to ``limit`` point ids in the engine's order, starting after ``after``; [] at the end."""
        ...

    async def close(self) -> None:
        """Flush and release the engine. Safe to call twice."""
        ...


class DomainCounts(Protocol):
    """Counts of domains, in place of the vector store's."""

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        """Return the number of live Chunks per domain of the tenant; the counts may lag by one percent.

        ``public``: count only Chunks that every viewer may see in every context.
        """
        ...
