"""Nodes, their proof and relations from an extraction that the caller supplies with an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from vicw_core.graph.edge_factory import CALLER, EdgeFactory, mention_edge
from vicw_ingest.extraction.caller import SELF, CallerEdge, CallerNode, EdgeEnd, caller_edges, caller_nodes
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.plan.named_entities import NamedEntities
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import Lookups
from vicw_shared.text import fold_case
from vicw_shared.uids import edge_id
from vicw_shared.wire.extraction import EventInput


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


@dataclass(slots=True)
class CallerExtraction:
    """Converter of callers' extractions. ``paths`` maps an edge's id to the relation's path in the request."""

    named_entities: NamedEntities
    edge_factory: EdgeFactory
    ends: Mapping[str, EdgeEnd]
    paths: dict[str, str] = field(default_factory=dict)

    def of(self, draft: ItemDraft, item: Node, chunks: Sequence[Node]) -> tuple[list[Node], list[Edge]]:
        """Return the nodes and edges of an item's extraction, or two empty lists without one."""
        extraction = draft.item.extraction
        if extraction is None:
            return [], []
        path = f"{draft.path}.extraction"
        caller_inputs = caller_nodes(extraction, tenant=item.tenant, context=item.context, item=item.uid, path=path)
        nodes, edges = [], []
        folded_texts = [(chunk, fold_case(chunk.text or "")) for chunk in chunks]
        for entry in caller_inputs.values():
            node = self._node(entry, item, path)
            name = fold_case(node.name)
            proof = next((chunk for chunk, text in folded_texts if name in text), chunks[0])
            edges.append(self.edge_factory.edge("EVIDENCED_BY", node.uid, proof.uid, by=CALLER, item=item.uid))
            if node.label is not Label.EVENT:
                mention = self.edge_factory.edge("MENTIONS", item.uid, node.uid, by=CALLER, item=item.uid)
                edges.append(mention_edge(mention, entry.input.description))
            nodes.append(node)

        def resolve(name: str) -> EdgeEnd | None:
            if name == SELF:
                return EdgeEnd(item.uid, item.label, item.subtype)
            return caller_inputs[name].end if name in caller_inputs else self.ends.get(name)

        relations = caller_edges(extraction, registry=self.edge_factory.registry, resolve=resolve, path=path)
        return nodes, edges + [self._relation(relation, item) for relation in relations]

    def _relation(self, relation: CallerEdge, item: Node) -> Edge:
        desc = str(relation.properties.get("desc", ""))
        uid = edge_id(relation.type, relation.source.uid, relation.target.uid, desc=desc, source_item=item.uid)
        self.paths[uid] = relation.path
        return Edge(
            id=uid,
            type=relation.type,
            source=relation.source.uid,
            target=relation.target.uid,
            weight=relation.weight,
            created_at=self.edge_factory.now,
            created_by=CALLER,
            properties={**relation.properties, SOURCE_ITEM: item.uid},
        )

    def _node(self, entry: CallerNode, item: Node, path: str) -> Node:
        given, subtype = entry.input, entry.end.subtype
        if not isinstance(given, EventInput):
            return self.named_entities.name(
                entry.end.label, subtype, given.name, description=given.description, path=path
            )
        event = replace(
            self.named_entities.new_node(entry.end.uid, Label.EVENT, subtype, given.name),
            text=given.description,
            timestamp=given.timestamp or item.timestamp,
            timestamp_inferred=given.timestamp is None,
            sensitivity=item.sensitivity,
            portable=item.portable,
            expires_at=item.expires_at,
        )
        self.named_entities.nodes.setdefault(event.uid, event)
        return event


def _ends(items: Mapping[str, Node]) -> dict[str, EdgeEnd]:
    return {key: EdgeEnd(node.uid, node.label, node.subtype) for key, node in items.items() if node.retired_at is None}
