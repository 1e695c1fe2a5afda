"""Commit of a model's extraction: adds it to the existing nodes and edges, in a transaction of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from vicw_ingest.plan.builder import GraphBuilder
from vicw_ingest.plan.linking.model import ItemExtraction
from vicw_ingest.versions.supersession import Supersession
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import DESCRIPTION
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import context_uid


@dataclass(frozen=True, slots=True)
class ExtractionCommit:
    """A model's extraction of an item, to be added once."""

    item: str
    extraction: TextExtraction
    registry: EdgeRegistry
    now: datetime
    hub_edges: int

    async def __call__(self, transaction: GraphTransaction) -> bool:
        """Add the extraction and dequeue the item. Return False if it was not queued, or the item is retired.

        Edges that the item already states stay as they were first stated, whatever extracted them.
        """
        if not await transaction.dequeue_extraction(self.item):
            return False
        item = (await transaction.nodes([self.item])).get(self.item)
        if item is None or item.retired_at is not None:
            return False
        root = (await transaction.nodes([context_uid(item.tenant, item.context)])).popitem()[1]
        builder = GraphBuilder(transaction, self.registry, self.now, root, self.hub_edges)
        plan = await builder.build_extraction(await self._item_extraction(transaction, item))
        item_edges = await transaction.edges_from_items([item.uid])
        stored = {_relation_key(edge): edge for edge in item_edges}
        await transaction.put_nodes(plan.nodes)
        await transaction.put_edges(
            [to_store for edge in plan.edges if (to_store := _edge_to_store(edge, stored.get(_relation_key(edge))))]
        )
        await Supersession(transaction, self.registry, self.now).apply({node.uid for node in plan.nodes})
        return True

    async def _item_extraction(self, transaction: GraphTransaction, item: Node) -> ItemExtraction:
        out = await transaction.edges([item.uid], ["EVIDENCED_BY", "ABOUT"], Direction.OUT)
        into = await transaction.edges([item.uid], ["INITIATED"], Direction.IN)
        ends = await transaction.nodes([*(edge.target for edge in out), *(edge.source for edge in into)])
        chunks = [node for node in ends.values() if node.label is Label.CHUNK]
        proven = await transaction.edges([chunk.uid for chunk in chunks], ["EVIDENCED_BY"], Direction.IN)
        evidenced = await transaction.nodes(sorted({edge.source for edge in proven}))
        speakers = [ends[edge.source] for edge in into if edge.source in ends and edge.created_by == "ingest"]
        return ItemExtraction(
            item,
            sorted(chunks, key=lambda chunk: chunk.flow_step or 0),
            self.extraction,
            speaker=speakers[0] if speakers else None,
            statements={n.text: n for n in evidenced.values() if n.is_statement and n.text and n.retired_at is None},
            about=[ends[edge.target] for edge in out if edge.type == "ABOUT" and edge.target in ends],
        )


def _edge_to_store(edge: Edge, stored: Edge | None) -> Edge | None:
    """Return the edge to store: None for a known edge, unless it gains a description of its end."""
    if stored is None:
        return edge
    description = {DESCRIPTION: edge.properties[DESCRIPTION]} if DESCRIPTION in edge.properties else {}
    properties = {**description, **stored.properties}
    return replace(stored, properties=properties) if properties != stored.properties else None


def _relation_key(edge: Edge) -> tuple[str, str, str, str]:
    return edge.type, edge.source, edge.target, fold_case(str(edge.properties.get("desc", "")))
