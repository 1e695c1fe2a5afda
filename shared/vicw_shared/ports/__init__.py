"""What an engine must do, in our own words. One adapter a file under ``adapters``.

Operations only, never query text: no query language serves two engines.
"""

from vicw_shared.ports.embedder import Embedder, Lane, ModelIdentity
from vicw_shared.ports.graph import (
    Counters,
    Direction,
    Gap,
    GraphAudit,
    GraphStore,
    GraphTransaction,
    ItemRef,
    Neighbour,
    PendingKind,
    PendingPoint,
    Receipt,
    Spread,
)
from vicw_shared.ports.scope import Audience, Scope
from vicw_shared.ports.vectors import Point, ScoreQuery, SparseVector, VectorHit, VectorQuery, VectorStore

__all__ = [
    "Audience",
    "Counters",
    "Direction",
    "Embedder",
    "Gap",
    "GraphAudit",
    "GraphStore",
    "GraphTransaction",
    "ItemRef",
    "Lane",
    "ModelIdentity",
    "Neighbour",
    "PendingKind",
    "PendingPoint",
    "Point",
    "Receipt",
    "Scope",
    "ScoreQuery",
    "SparseVector",
    "Spread",
    "VectorHit",
    "VectorQuery",
    "VectorStore",
]
