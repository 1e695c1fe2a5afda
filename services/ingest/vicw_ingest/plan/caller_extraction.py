"""Nodes, their proof and relations from an extraction that the caller supplies with an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from vicw_core.graph.edge_factory import CALLER, EdgeFactory, mention_edge
from vicw_ingest.extraction.caller import SELF, CallerEdge, CallerNode, EdgeEnd, caller_edges, caller_nodes
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.plan.named_entities import NamedEntities
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import Lookups
from vicw_shared.text import fold_case
from vicw_shared.uids import edge_id
from vicw_shared.wire.extraction import EventInput, Extraction


async def item_ends(
    lookups: Lookups, drafts: Sequence[ItemDraft], nodes: Mapping[int, Node], latest: Mapping[str, Node]
) -> dict[str, EdgeEnd]:
    """Return the items that relations may name by id: the items of this request and stored items."""
    ends = _ends(latest)
    ends |= {d.item.id: EdgeEnd(nodes[d.index].uid, d.label, d.subtype) for d in drafts if d.item.id is not None}
    references = {
        reference
        for draft in drafts
        if draft.item.extraction is not None
        for relation in draft.item.extraction.relations
        for reference in (relation.source, relation.target)
    }
    stored = await lookups.items(sorted(references - ends.keys()))
    return _ends(stored) | ends


@dataclass(frozen=True, slots=True)
class CallerParts:
    """The nodes and edges of a caller's extraction, and the path in the request of each relation, by edge id."""

    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    paths: Mapping[str, str] = field(default_factory=dict)


def caller_parts(
    draft: ItemDraft,
    extraction: Extraction,
    item: Node,
    chunks: Sequence[Node],
    named: NamedEntities,
    factory: EdgeFactory,
    ends: Mapping[str, EdgeEnd],
) -> CallerParts:
    """Return the nodes and edges of the extraction that a caller gives with an item. Its names join ``named``.

    ``ends`` are the items that relations may name.
    """
    path = f"{draft.path}.extraction"
    caller_inputs = caller_nodes(extraction, tenant=item.tenant, context=item.context, item=item.uid, path=path)
    nodes, edges = [], []
    folded_texts = [(chunk, fold_case(chunk.text or "")) for chunk in chunks]
    for entry in caller_inputs.values():
        node = _node(entry, item, named, path)
        name = fold_case(node.name)
        proof = next((chunk for chunk, text in folded_texts if name in text), chunks[0])
        edges.append(factory.edge("EVIDENCED_BY", node.uid, proof.uid, by=CALLER, item=item.uid))
        if node.label is not Label.EVENT:
            mention = factory.edge("MENTIONS", item.uid, node.uid, by=CALLER, item=item.uid)
            edges.append(mention_edge(mention, entry.input.description))
        nodes.append(node)

    def resolve(name: str) -> EdgeEnd | None:
        if name == SELF:
            return EdgeEnd(item.uid, item.label, item.subtype)
        return caller_inputs[name].end if name in caller_inputs else ends.get(name)

    given = caller_edges(extraction, registry=factory.registry, resolve=resolve, path=path)
    relations = [(_relation(relation, item, factory.now), relation.path) for relation in given]
    paths = {edge.id: path for edge, path in relations}
    return CallerParts(nodes, edges + [edge for edge, _ in relations], paths)


def _relation(relation: CallerEdge, item: Node, now: datetime) -> Edge:
    desc = str(relation.properties.get("desc", ""))
    return Edge(
        id=edge_id(relation.type, relation.source.uid, relation.target.uid, desc=desc, source_item=item.uid),
        type=relation.type,
        source=relation.source.uid,
        target=relation.target.uid,
        weight=relation.weight,
        created_at=now,
        created_by=CALLER,
        properties={**relation.properties, SOURCE_ITEM: item.uid},
    )


def _node(entry: CallerNode, item: Node, named: NamedEntities, path: str) -> Node:
    given, subtype = entry.input, entry.end.subtype
    if not isinstance(given, EventInput):
        return named.name(entry.end.label, subtype, given.name, description=given.description, path=path)
    event = replace(
        named.new_node(entry.end.uid, Label.EVENT, subtype, given.name),
        text=given.description,
        timestamp=given.timestamp or item.timestamp,
        timestamp_inferred=given.timestamp is None,
        sensitivity=item.sensitivity,
        portable=item.portable,
        expires_at=item.expires_at,
    )
    named.nodes.setdefault(event.uid, event)
    return event


def _ends(items: Mapping[str, Node]) -> dict[str, EdgeEnd]:
    return {key: EdgeEnd(node.uid, node.label, node.subtype) for key, node in items.items() if node.retired_at is None}
