"""Link the extraction of one item to entities, events and attribute slots, and build the edges between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate

from vicw_ingest.extraction.linking.attribute_claims import ClaimWriter
from vicw_ingest.extraction.linking.events import event_of
from vicw_ingest.extraction.linking.known_entities import KnownEntities
from vicw_ingest.extraction.linking.model import ItemExtraction, LinkedExtraction
from vicw_ingest.extraction.linking.name_match import full_names
from vicw_ingest.extraction.model import ADDRESSEE, ITEM, PREVIOUS, SPEAKER, ExtractedRelation, TextExtraction, item_key
from vicw_shared.edge_factory import EdgeFactory, mention_edge
from vicw_shared.errors import InvalidInputError
from vicw_shared.language.tokens import Span
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.ports import GraphTransaction


class EntityLinker:
    """Entity linker for the extractions of one request."""

    def __init__(
        self,
        transaction: GraphTransaction,
        registry: EdgeRegistry,
        now: datetime,
        root: Node,
        hub_edges: int,
    ) -> None:
        self._transaction = transaction
        self._registry = registry
        self._now = now
        self._ties = EdgeFactory(registry, now)
        self.known = KnownEntities(transaction, now, root, hub_edges)
        self.together: dict[str, Node] = {}  # the request's own items by id: not stored yet

    async def link(self, place: ItemExtraction) -> LinkedExtraction:
        """Return the nodes and edges of one item. Forbidden and unresolved relations are dropped."""
        placed, item = LinkedExtraction(), place.item
        ends: dict[str, Node | None] = {ITEM: item, SPEAKER: place.speaker}
        ends |= {ADDRESSEE: place.addressee, PREVIOUS: place.previous}
        starts = list(accumulate((len(chunk.text or "") for chunk in place.chunks), initial=0))

        def proof(span: Span) -> Node:
            return place.chunks[max(at for at, start in enumerate(starts[:-1]) if start <= span.start)]

        described: dict[str, str | None] = {}
        full = full_names(place.extraction.things)
        for thing in place.extraction.things:
            node = ends[thing.key] = self.known.named(full.get(thing.key, thing))
            if node is not None:
                placed.named.append(node)
                described[node.uid] = described.get(node.uid) or thing.description
                if thing.proven:
                    placed.edges.append(self._edge("EVIDENCED_BY", node, proof(thing.span), item, "rules:code"))
        ends |= await self._items(place.extraction)
        for happening in place.extraction.happenings:
            if happening.is_statement and (known := place.statements.get(happening.text)) is not None:
                ends[happening.key] = known
                continue
            ends[happening.key] = event = event_of(happening, place, self._now)
            placed.events.append(event)
            placed.edges.append(self._edge("EVIDENCED_BY", event, proof(happening.span), item, place.extraction.by))
        placed.edges += self._edges(place.extraction.links, ends, item)
        placed.edges += self._item_mentions(placed, item, described, place.extraction.by)
        about = frozenset(person.uid for person in place.addressees)
        asserted = ClaimWriter(self._ties, item, about, place.extraction.by).parts(place.extraction.asserted, ends)
        placed.slots += asserted.slots
        placed.edges += asserted.edges
        return placed

    async def _items(self, reading: TextExtraction) -> dict[str, Node | None]:
        """Return the items that relations reference by id, by key, without retired ones."""
        keys = {end for link in reading.links for end in (link.source, link.target) if end.startswith(f"{ITEM}:")}
        found = await self._transaction.items([key.removeprefix(f"{ITEM}:") for key in sorted(keys)]) if keys else {}
        found |= {name: node for name, node in self.together.items() if item_key(name) in keys}
        return {item_key(name): node for name, node in found.items() if node.retired_at is None}

    def _edges(self, links: Sequence[ExtractedRelation], ends: Mapping[str, Node | None], item: Node) -> Iterator[Edge]:
        for link in links:
            source, target = ends.get(link.source), ends.get(link.target)
            if source is None or target is None or source.uid == target.uid:
                continue
            if link.type == "MENTIONS" and target.uid in self.known.hubs:
                continue  # a hub is too common to discriminate
            try:
                self._registry.check(link.type, source.label, target.label, target_subtype=target.subtype)
            except InvalidInputError:
                continue
            yield self._edge(link.type, source, target, item, link.rule, certainty=link.certainty, desc=link.desc)

    def _item_mentions(
        self, placed: LinkedExtraction, item: Node, described: Mapping[str, str | None], by: str
    ) -> Iterator[Edge]:
        """Yield MENTIONS edges from the item to its entities, so that a search need not know its passages."""
        by = "rules:name" if by == "rules" else by
        for node in {node.uid: node for node in placed.named if node.uid not in self.known.hubs}.values():
            yield mention_edge(self._edge("MENTIONS", item, node, item, by), described.get(node.uid))

    def _edge(
        self,
        edge_type: str,
        source: Node,
        target: Node,
        item: Node,
        by: str,
        **properties: object,
    ) -> Edge:
        said = {name: value for name, value in properties.items() if value is not None}
        told_by = "" if source.uid == item.uid else item.uid  # one edge per item if other items may add it, too
        return self._ties.edge(
            edge_type,
            source.uid,
            target.uid,
            by=by,
            item=item.uid,
            source_item=told_by,
            desc=str(said.get("desc", "")),
            properties=said,
        )
