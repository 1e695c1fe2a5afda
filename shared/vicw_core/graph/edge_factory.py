"""Edge factory: edges of a registered type with its default weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_shared.model import Edge, EdgeRegistry
from vicw_shared.model.edges import DESCRIPTION, SOURCE_ITEM
from vicw_shared.uids import edge_id

INGEST, CALLER, DUPLICATE, DREAM, RESOLVE = "ingest", "caller", "echo", "dream", "resolve"
"""Values of ``created_by``: derived from an item, stated by a caller, duplicate, dream, and entity resolution."""


@dataclass(frozen=True, slots=True)
class EdgeFactory:
    """Makes edges."""

    registry: EdgeRegistry
    now: datetime

    def edge(
        self,
        edge_type: str,
        source: str,
        target: str,
        *,
        by: str = INGEST,
        item: str | None = None,
        source_item: str = "",
        desc: str = "",
        properties: Mapping[str, object] | None = None,
    ) -> Edge:
        """Return an edge of a registered type between two uids, with these properties.

        ``item`` is the item it was extracted from. ``source_item`` and ``desc`` distinguish edges of one type between
        the same two nodes.
        """
        origin = {SOURCE_ITEM: item} if item is not None else {}
        return Edge(
            id=edge_id(edge_type, source, target, desc=desc, source_item=source_item),
            type=edge_type,
            source=source,
            target=target,
            weight=self.registry.types[edge_type].weight,
            created_at=self.now,
            created_by=by,
            properties={**(properties or {}), **origin},
        )


def mention_edge(mention: Edge, description: str | None) -> Edge:
    """Return a MENTIONS edge with its item's description of the entity: the stored one may be another item's."""
    if description is None:
        return mention
    return replace(mention, properties={**mention.properties, DESCRIPTION: description})


def repoint(edge: Edge, source: str, target: str) -> Edge:
    """Return an edge with other ends and a new id; its properties stay."""
    desc, source_item = str(edge.properties.get("desc", "")), str(edge.properties.get(SOURCE_ITEM, ""))
    return replace(
        edge, id=edge_id(edge.type, source, target, desc=desc, source_item=source_item), source=source, target=target
    )
