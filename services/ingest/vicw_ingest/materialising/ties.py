"""The edges of one request, each of a registered type and its default weight."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.model import Edge, EdgeRegistry
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.uids import edge_id

INGEST, CALLER = "ingest", "caller"
"""Who makes an edge: what follows from an item itself, or what a caller says of it."""


@dataclass(frozen=True, slots=True)
class Ties:
    """Makes edges."""

    registry: EdgeRegistry
    now: datetime

    def edge(self, edge_type: str, source: str, target: str, *, by: str = INGEST, item: str | None = None) -> Edge:
        """Return an edge between two uids; ``item`` is the one whose extraction tells of it."""
        return Edge(
            id=edge_id(edge_type, source, target),
            type=edge_type,
            source=source,
            target=target,
            weight=self.registry.get(edge_type).weight,
            created_at=self.now,
            created_by=by,
            properties={TOLD_BY: item} if item is not None else {},
        )
