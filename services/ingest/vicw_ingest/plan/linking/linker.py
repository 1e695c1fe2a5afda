"""Link the extraction of one item to entities, events and attribute slots, and build the edges between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate

from vicw_core.graph.edge_factory import EdgeFactory, mention_edge
from vicw_ingest.plan.linking.attribute_claims import ClaimWriter
from vicw_ingest.plan.linking.events import event_of
from vicw_ingest.plan.linking.known_entities import KnownEntities
from vicw_ingest.plan.linking.model import ItemExtraction, LinkedExtraction
from vicw_ingest.plan.linking.name_match import full_names
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.extraction import ITEM, PREVIOUS, SPEAKER, ExtractedRelation, TextExtraction, item_key
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import Span


class EntityLinker:
    """Entity linker for the extractions of one request."""

    def __init__(
        self,
        transaction: GraphTransaction,
        registry: EdgeRegistry,
        now: datetime,
        known_entities: KnownEntities,
        request_items: Mapping[str, Node],
    ) -> None:
        """``request_items`` are the request's own items by id: they are not stored yet."""
        self._transaction = transaction
        self._registry = registry
        self._now = now
        self._edge_factory = EdgeFactory(registry, now)
        self._known_entities = known_entities
        self._request_items = request_items

    async def link(self, item_extraction: ItemExtraction) -> LinkedExtraction:
        """Return the nodes and edges of one item. Forbidden and unresolved relations are dropped."""
        result, item = LinkedExtraction(), item_extraction.item
        ends: dict[str, Node | None] = {
            ITEM: item,
            SPEAKER: item_extraction.speaker,
            PREVIOUS: item_extraction.previous,
        }
        starts = list(accumulate((len(chunk.text or "") for chunk in item_extraction.chunks), initial=0))

        def proof(span: Span) -> Node:
            return item_extraction.chunks[max(at for at, start in enumerate(starts[:-1]) if start <= span.start)]

        descriptions: dict[str, str | None] = {}
        longer_names = full_names(item_extraction.extraction.entities)
        for entity in item_extraction.extraction.entities:
            node = ends[entity.key] = self._known_entities.resolve(longer_names.get(entity.key, entity))
            if node is not None:
                result.entities.append(node)
                descriptions[node.uid] = descriptions.get(node.uid) or entity.description
                if entity.proven:
                    result.edges.append(self._edge("EVIDENCED_BY", node, proof(entity.span), item, "rules:code"))
        ends |= await self._referenced_items(item_extraction.extraction)
        for extracted in item_extraction.extraction.events:
            if (stored := item_extraction.statements.get(extracted.text)) is not None and extracted.is_statement:
                ends[extracted.key] = stored
                continue
            ends[extracted.key] = event = event_of(extracted, item_extraction, self._now)
            result.events.append(event)
            result.edges.append(
                self._edge("EVIDENCED_BY", event, proof(extracted.span), item, item_extraction.extraction.by)
            )
        result.edges += self._edges(item_extraction.extraction.relations, ends, item)
        result.edges += self._item_mentions(result, item, descriptions, item_extraction.extraction.by)
        if claims := item_extraction.extraction.claims:
            about = frozenset(person.uid for person in item_extraction.about)
            parts = ClaimWriter(self._edge_factory, item, about, item_extraction.extraction.by).parts(claims, ends)
            result.slots += parts.slots
            result.edges += parts.edges
        return result

    async def _referenced_items(self, extraction: TextExtraction) -> dict[str, Node | None]:
        """Return the items that relations reference by id, by key, without retired ones."""
        keys = {
            end
            for relation in extraction.relations
            for end in (relation.source, relation.target)
            if end.startswith(f"{ITEM}:")
        }
        items = await self._transaction.items([key.removeprefix(f"{ITEM}:") for key in sorted(keys)]) if keys else {}
        items |= {name: node for name, node in self._request_items.items() if item_key(name) in keys}
        return {item_key(name): node for name, node in items.items() if node.retired_at is None}

    def _edges(
        self, relations: Sequence[ExtractedRelation], ends: Mapping[str, Node | None], item: Node
    ) -> Iterator[Edge]:
        for relation in relations:
            source, target = ends.get(relation.source), ends.get(relation.target)
            if source is None or target is None or source.uid == target.uid:
                continue
            if relation.type == "MENTIONS" and target.uid in self._known_entities.hubs:
                continue  # a hub is too common to discriminate
            try:
                self._registry.check(relation.type, source.label, target.label, target_subtype=target.subtype)
            except InvalidInputError:
                continue
            yield self._edge(
                relation.type, source, target, item, relation.rule, certainty=relation.certainty, desc=relation.desc
            )

    def _item_mentions(
        self, result: LinkedExtraction, item: Node, descriptions: Mapping[str, str | None], by: str
    ) -> Iterator[Edge]:
        """Yield MENTIONS edges from the item to its entities, so that a search need not know its passages."""
        by = "rules:name" if by == "rules" else by
        for node in {node.uid: node for node in result.entities if node.uid not in self._known_entities.hubs}.values():
            yield mention_edge(self._edge("MENTIONS", item, node, item, by), descriptions.get(node.uid))

    def _edge(
        self,
        edge_type: str,
        source: Node,
        target: Node,
        item: Node,
        by: str,
        **properties: object,
    ) -> Edge:
        given = {name: value for name, value in properties.items() if value is not None}
        source_item = "" if source.uid == item.uid else item.uid  # one edge per item if other items may add it, too
        return self._edge_factory.edge(
            edge_type,
            source.uid,
            target.uid,
            by=by,
            item=item.uid,
            source_item=source_item,
            desc=str(given.get("desc", "")),
            properties=given,
        )
