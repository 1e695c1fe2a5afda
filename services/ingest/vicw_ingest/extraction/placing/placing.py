"""Stores what was read in one item: named things, events, slots of attributes, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate

from vicw_ingest.extraction.placing.asserting import Asserting
from vicw_ingest.extraction.placing.events import event_of
from vicw_ingest.extraction.placing.known import Known, introduced_in
from vicw_ingest.extraction.placing.model import Place, Placed
from vicw_ingest.extraction.placing.pronouns import Pronouns
from vicw_ingest.extraction.placing.relatives import HAS_RELATIONSHIP, Introduction
from vicw_ingest.extraction.placing.retold import Retold
from vicw_ingest.extraction.reading import (
    ADDRESSEE,
    ITEM,
    PREVIOUS,
    SPEAKER,
    Happening,
    Kin,
    Link,
    Reading,
    Thing,
    item_key,
)
from vicw_shared.errors import InvalidInputError
from vicw_shared.language.tokens import Span
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold
from vicw_shared.ties import Ties, describing


class Placing:
    """Places the readings of one request."""

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
        self._ties = Ties(registry, now)
        self.known = Known(transaction, now, root, hub_edges)
        self._retold = Retold(transaction)
        self._pronouns = Pronouns(transaction, self.known.relatives)
        self.together: dict[str, Node] = {}  # the request's own items by their ids: not stored yet

    async def place(self, place: Place) -> Placed:
        """Return what is stored of one item's reading. What no edge may join, or names nobody, is left out."""
        placed, item = Placed(), place.item
        ends: dict[str, Node | None] = {ITEM: item, SPEAKER: place.speaker}
        ends |= {ADDRESSEE: place.addressee, PREVIOUS: place.previous}
        meant = await self._pronouns.meant(place)
        ends |= meant
        starts = list(accumulate((len(chunk.text or "") for chunk in place.chunks), initial=0))

        def proof(span: Span) -> Node:
            return place.chunks[max(at for at, start in enumerate(starts[:-1]) if start <= span.start)]

        described: dict[str, str | None] = {}
        await self._name(place, ends)
        for thing in place.reading.things:
            node = ends[thing.key]
            if node is not None:
                placed.named.append(node)
                described[node.uid] = described.get(node.uid) or thing.description
                if thing.proven:
                    placed.edges.append(self._edge("EVIDENCED_BY", node, proof(thing.span), item, "rules:code"))
        ends |= await self._items(place.reading)
        for happening in place.reading.happenings:
            if happening.is_statement and (known := place.statements.get(happening.text)) is not None:
                ends[happening.key] = known
                continue
            ends[happening.key] = event = await self._event(happening, place, placed)
            placed.events.append(event)
            placed.edges.append(self._edge("EVIDENCED_BY", event, proof(happening.span), item, place.reading.by))
        placed.named += [person for person in meant.values() if person is not None]
        self._pronouns.note(item, placed.named)
        placed.edges += self._edges(place.reading.links, ends, item)
        placed.edges += self._item_mentions(placed, item, described, place.reading.by)
        about = frozenset(person.uid for person in place.whom)
        asserted = Asserting(self._ties, item, about, place.reading.by).parts(place.reading.asserted, ends)
        placed.slots += asserted.slots
        placed.edges += asserted.edges
        return placed

    async def _event(self, happening: Happening, place: Place, placed: Placed) -> Node:
        if happening.is_statement:
            return event_of(happening, place, self._now)
        uid, doubtful = await self._retold.uid_of(happening, place)
        event = event_of(happening, place, self._now, uid)
        self._retold.note(event)
        if doubtful is not None:
            self._retold.correct(doubtful)
            placed.corrected.append(doubtful)
        return event

    async def _name(self, place: Place, ends: dict[str, Node | None]) -> None:
        """Find out whom the names and the relationships of a text mean: first those who are not doubtful."""
        reading, relatives = place.reading, self.known.relatives
        introduced = {thing.key: thing for thing in introduced_in(reading)}
        doubtful = {fold(thing.name) for thing in introduced.values()}
        for thing in reading.things:
            if fold(thing.name) not in doubtful:
                ends[thing.key] = self.known.named(thing, place.speaker)
        for key in introduced:
            await self._introduce(key, introduced, reading, ends)
        for thing in reading.things:
            if thing.key not in ends:
                ends[thing.key] = self.known.named(thing, place.speaker)
        for link in reading.links:
            relatives.note(link, ends)
        for one in reading.kin:
            ends[one.key] = await self._relative(one, ends)

    async def _introduce(
        self, key: str, introduced: Mapping[str, Thing], reading: Reading, ends: dict[str, Node | None], depth: int = 0
    ) -> None:
        """Find out whom a text introduces, by all that it says of whose relative that is."""
        if key in ends or depth > len(introduced):
            return
        told, kin = [], {one.key: one for one in reading.kin}
        links = [link for link in reading.links if link.type == HAS_RELATIONSHIP and link.target == key]
        for link in links:
            if link.source in introduced:
                await self._introduce(link.source, introduced, reading, ends, depth + 1)
            owner = await self._relative(kin[link.source], ends) if link.source in kin else ends.get(link.source)
            told += [Introduction.of(link, owner)] if owner is not None else []
        if told and key not in ends:
            ends[key] = await self.known.introduced(introduced[key], told)
            for link in links:
                self.known.relatives.note(link, ends)

    async def _items(self, reading: Reading) -> dict[str, Node | None]:
        """Return the live items that links name by their ids, by key."""
        keys = {end for link in reading.links for end in (link.source, link.target) if end.startswith(f"{ITEM}:")}
        found = await self._transaction.items([key.removeprefix(f"{ITEM}:") for key in sorted(keys)]) if keys else {}
        found |= {name: node for name, node in self.together.items() if item_key(name) in keys}
        return {item_key(name): node for name, node in found.items() if node.retired_at is None}

    async def _relative(self, kin: Kin, ends: Mapping[str, Node | None]) -> Node | None:
        uid = await self.known.relatives.uid_of(kin, ends)
        if uid is None:
            return None
        return self.known.node(uid) or (await self._transaction.nodes([uid])).get(uid)

    def _edges(self, links: Sequence[Link], ends: Mapping[str, Node | None], item: Node) -> Iterator[Edge]:
        for link in links:
            source, target = ends.get(link.source), ends.get(link.target)
            if source is None or target is None or source.uid == target.uid:
                continue
            if link.type == "MENTIONS" and target.uid in self.known.hubs:
                continue  # a common word tells nothing apart
            try:
                self._registry.check(link.type, source.label, target.label, target_subtype=target.subtype)
            except InvalidInputError:
                continue
            yield self._edge(link.type, source, target, item, link.rule, certainty=link.certainty, desc=link.desc)

    def _item_mentions(
        self, placed: Placed, item: Node, described: Mapping[str, str | None], by: str
    ) -> Iterator[Edge]:
        """An item mentions what its sentences do: whoever looks for it need not know how it was cut."""
        by = "rules:name" if by == "rules" else by
        for node in {node.uid: node for node in placed.named if node.uid not in self.known.hubs}.values():
            yield describing(self._edge("MENTIONS", item, node, item, by), described.get(node.uid))

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
        told_by = "" if source.uid == item.uid else item.uid  # what others may tell, too, is an edge for each telling
        return self._ties.edge(
            edge_type,
            source.uid,
            target.uid,
            by=by,
            item=item.uid,
            told_by=told_by,
            desc=str(said.get("desc", "")),
            said=said,
        )
