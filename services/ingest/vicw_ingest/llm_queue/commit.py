"""Commit of a model's extraction: adds it to the graph in a separate transaction, beside existing nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_ingest.extraction.linking.attribute_claims import is_claim
from vicw_ingest.extraction.linking.model import ItemExtraction
from vicw_ingest.extraction.model import TextExtraction
from vicw_ingest.plan.builder import WritePlan, WritePlanBuilder
from vicw_ingest.versions.supersession import Supersession
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import DESCRIPTION
from vicw_shared.model.names import SLOT
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
        builder = WritePlanBuilder(transaction, self.registry, self.now, root, self.hub_edges)
        plan = await builder.add(await self._item_extraction(transaction, item))
        item_edges = await transaction.edges_from_items([item.uid])
        stored = {_relation_key(edge): edge for edge in item_edges}
        known_slots = await _known_slots(transaction, plan, item_edges)
        added = [edge for edge in plan.edges if known_slots.isdisjoint((edge.source, edge.target))]
        await transaction.put_nodes([node for node in plan.nodes if node.uid not in known_slots])
        await transaction.put_edges(
            [to_store for edge in added if (to_store := _edge_to_store(edge, stored.get(_relation_key(edge))))]
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


async def _known_slots(transaction: GraphTransaction, plan: WritePlan, item_edges: Sequence[Edge]) -> set[str]:
    """Return the new slots of a plan whose claims are all stored already under another attribute's name.

    With both, a sentence with one claim would count as two, and be true until both are superseded.
    """
    stored = [edge for edge in item_edges if is_claim(edge)]
    slots = await transaction.nodes(sorted({edge.target for edge in stored}))
    stored_values = {
        _value(edge, slots[edge.target]) for edge in stored if edge.target in slots and edge.properties["value"]
    }
    planned = {node.uid: node for node in plan.nodes if node.subtype == SLOT and node.uid not in slots}
    new = [edge for edge in plan.edges if is_claim(edge) and edge.target in planned]
    new_slots = {edge.target for edge in new if _value(edge, planned[edge.target]) not in stored_values}
    return planned.keys() - new_slots


def _value(edge: Edge, slot: Node) -> tuple[str, ...]:
    owner = slot.name.rpartition(" · ")[0]
    return edge.source, owner, fold_case(str(edge.properties["value"])), str(edge.properties.get("ended", False))


def _edge_to_store(edge: Edge, stored: Edge | None) -> Edge | None:
    """Return the edge to store: None for a known edge, unless it gains a description of its end."""
    if stored is None:
        return edge
    description = {DESCRIPTION: edge.properties[DESCRIPTION]} if DESCRIPTION in edge.properties else {}
    properties = {**description, **stored.properties}
    return replace(stored, properties=properties) if properties != stored.properties else None


def _relation_key(edge: Edge) -> tuple[str, str, str, str]:
    return edge.type, edge.source, edge.target, fold_case(str(edge.properties.get("desc", "")))
