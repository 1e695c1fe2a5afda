"""Nodes, their proof and relations from an extraction that the caller supplies with an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from vicw_ingest.extraction.caller import SELF, CallerEdge, CallerNode, EdgeEnd, caller_edges, caller_nodes
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.plan.named_entities import NamedEntities
from vicw_shared.edge_factory import CALLER, EdgeFactory, mention_edge
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import TOLD_BY
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
    wanted = {
        reference
        for draft in drafts
        if draft.item.extraction is not None
        for relation in draft.item.extraction.relations
        for reference in (relation.source, relation.target)
    }
    stored = await lookups.items(sorted(wanted - ends.keys()))
    return _ends(stored) | ends


@dataclass(slots=True)
class CallerExtraction:
    """Converter of callers' extractions. ``paths`` maps an edge's id to the relation's path in the request."""

    naming: NamedEntities
    ties: EdgeFactory
    ends: Mapping[str, EdgeEnd]
    paths: dict[str, str] = field(default_factory=dict)

    def of(self, draft: ItemDraft, item: Node, chunks: Sequence[Node]) -> tuple[list[Node], list[Edge]]:
        """Return the nodes and edges of an item's extraction, or two empty lists without one."""
        extraction = draft.item.extraction
        if extraction is None:
            return [], []
        path = f"{draft.path}.extraction"
        told = caller_nodes(extraction, tenant=item.tenant, context=item.context, item=item.uid, path=path)
        made, edges = [], []
        folded = [(chunk, fold_case(chunk.text or "")) for chunk in chunks]
        for entry in told.values():
            node = self._node(entry, item, path)
            name = fold_case(node.name)
            proof = next((chunk for chunk, text in folded if name in text), chunks[0])
            edges.append(self.ties.edge("EVIDENCED_BY", node.uid, proof.uid, by=CALLER, item=item.uid))
            if node.label is not Label.EVENT:
                mention = self.ties.edge("MENTIONS", item.uid, node.uid, by=CALLER, item=item.uid)
                edges.append(mention_edge(mention, entry.given.description))
            made.append(node)

        def resolve(name: str) -> EdgeEnd | None:
            if name == SELF:
                return EdgeEnd(item.uid, item.label, item.subtype)
            return told[name].end if name in told else self.ends.get(name)

        relations = caller_edges(extraction, registry=self.ties.registry, resolve=resolve, path=path)
        return made, edges + [self._relation(relation, item) for relation in relations]

    def _relation(self, told: CallerEdge, item: Node) -> Edge:
        desc = str(told.properties.get("desc", ""))
        uid = edge_id(told.type, told.source.uid, told.target.uid, desc=desc, source_item=item.uid)
        self.paths[uid] = told.path
        return Edge(
            id=uid,
            type=told.type,
            source=told.source.uid,
            target=told.target.uid,
            weight=told.weight,
            created_at=self.ties.now,
            created_by=CALLER,
            properties={**told.properties, TOLD_BY: item.uid},
        )

    def _node(self, entry: CallerNode, item: Node, path: str) -> Node:
        told, subtype = entry.given, entry.end.subtype
        if not isinstance(told, EventInput):
            return self.naming.name(entry.end.label, subtype, told.name, description=told.description, told_at=path)
        event = replace(
            self.naming.bare(entry.end.uid, Label.EVENT, subtype, told.name),
            text=told.description,
            timestamp=told.timestamp or item.timestamp,
            timestamp_inferred=told.timestamp is None,
            sensitivity=item.sensitivity,
            portable=item.portable,
            expires_at=item.expires_at,
        )
        self.naming.nodes.setdefault(event.uid, event)
        return event


def _ends(items: Mapping[str, Node]) -> dict[str, EdgeEnd]:
    return {key: EdgeEnd(node.uid, node.label, node.subtype) for key, node in items.items() if node.retired_at is None}
