"""From readings to nodes and edges: which node each name means, and what may be stored of what was read.

Runs inside the transaction: only under the context's lock is it certain who is known by a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate

from vicw_ingest.extraction.asserting import Asserting
from vicw_ingest.extraction.meaning import GUESSES, PEOPLE, besides_users, fits, likeness, natural_name
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
from vicw_ingest.extraction.relatives import Relatives
from vicw_ingest.planning.drafts import headline
from vicw_ingest.ties import Ties
from vicw_shared.errors import InvalidInputError
from vicw_shared.language.tokens import Span
from vicw_shared.merging import canonical_nodes
from vicw_shared.model import Edge, EdgeRegistry, Label, Node, Sensitivity
from vicw_shared.model.edges import DESCRIPTION
from vicw_shared.model.knowledge import FILE
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold
from vicw_shared.uids import make_uid, named_uid, told_event_uid

_ARTICLES = frozenset({"a", "an", "the"})
_POINTING = frozenset(
    "i me my we us our you your he him his she her it its they them their this that these those here there now then "
    "today yesterday tomorrow which who".split()
)
_FEWEST_WORDS = 3
_FOUND_BY_FORM = frozenset({"name", "symbol", "amount", "date", "handle"})


@dataclass(frozen=True, slots=True)
class Place:
    """An item as it is stored, with what was read in it.

    ``speaker``, ``addressee`` and ``previous``, the item before: None where nobody, or nothing, is known.
    ``statements`` are its sentences that are stored already, by their texts.
    """

    item: Node
    chunks: Sequence[Node]
    reading: Reading
    speaker: Node | None = None
    addressee: Node | None = None
    previous: Node | None = None
    whom: Sequence[Node] = ()
    statements: Mapping[str, Node] = field(default_factory=dict)

    @property
    def shares_events(self) -> bool:
        """Tell whether others may see what this item tells of: only then may its events be those of other items."""
        item = self.item
        return item.sensitivity is Sensitivity.PUBLIC and item.portable and item.expires_at is None and not self.whom


@dataclass(slots=True)
class Placed:
    """What is stored of a reading: named things, slots of attributes, events with the time they are of, and edges."""

    named: list[Node] = field(default_factory=list)
    slots: list[Node] = field(default_factory=list)
    events: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


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
        self._root = root
        self._hub_edges = hub_edges
        self.given: dict[str, Node] = {}  # files by their folded paths: pages that are being filed
        self.together: dict[str, Node] = {}  # the request's own items by their ids: not stored yet
        self._hubs: set[str] = set()
        self._known: dict[str, list[Node]] = {}
        self._parts: dict[str, set[str]] = {}  # full names of people by their words
        self._relatives = Relatives(transaction, now)

    async def look_up(self, names: Iterable[str], readings: Iterable[Reading]) -> None:
        """Find out what is known by these names, and by those that these texts name."""
        wanted = {fold(name) for name in names}
        wanted |= {fold(thing.name) for reading in readings for thing in reading.things}
        known = await self._transaction.named(sorted(wanted))
        # Somebody is called by a part of the name, where it is one person's alone.
        parts = [name for name in sorted(wanted - known.keys()) if name.isalpha()]
        partly = await self._transaction.named(parts, word=True)
        found = [node for nodes in (*known.values(), *partly.values()) for node in nodes]
        stands_for = await canonical_nodes(self._transaction, found, within=self._root.context)
        for name, nodes in {**known, **partly}.items():
            meant = besides_users({(node := stands_for[same.uid]).uid: node for same in nodes}.values())
            if name in known or (len(meant) == 1 and fold(meant[0].subtype) in PEOPLE):
                self._known[name] = meant
        common = [uid for uid, node in stands_for.items() if fold(node.subtype) in _FOUND_BY_FORM]
        degrees = await self._transaction.degrees(common)
        self._hubs = {uid for uid, degree in degrees.items() if degree >= self._hub_edges}

    def person(self, name: str, subtype: str) -> Node:
        """Return the node of somebody who speaks: one that is known by the name, else a new one."""
        node = self._named(Thing("", name, Label.ENTITY, None, subtype, Span(0, 0)))
        assert node is not None
        return node

    def introduce(self, person: Node) -> None:
        """Take a name for this person alone from now on."""
        self._known[fold(person.name)] = [person]

    async def place(self, place: Place) -> Placed:
        """Return what is stored of one item's reading. What no edge may join, or names nobody, is left out."""
        placed, item = Placed(), place.item
        ends: dict[str, Node | None] = {ITEM: item, SPEAKER: place.speaker}
        ends |= {ADDRESSEE: place.addressee, PREVIOUS: place.previous}
        starts = list(accumulate((len(chunk.text or "") for chunk in place.chunks), initial=0))

        def proof(span: Span) -> Node:
            return place.chunks[max(at for at, start in enumerate(starts[:-1]) if start <= span.start)]

        described: dict[str, str | None] = {}
        for thing in place.reading.things:
            ends[thing.key] = node = self._named(thing)
            if node is not None:
                placed.named.append(node)
                described[node.uid] = described.get(node.uid) or thing.description
                if thing.proven:
                    placed.edges.append(self._edge("EVIDENCED_BY", node, proof(thing.span), item, "rules:code"))
        ends |= await self._items(place.reading)
        for link in place.reading.links:
            self._relatives.note(link, ends)
        for kin in place.reading.kin:
            ends[kin.key] = await self._relative(kin, ends)
        for happening in place.reading.happenings:
            if happening.is_statement and (known := place.statements.get(happening.text)) is not None:
                ends[happening.key] = known
                continue
            ends[happening.key] = event = self._event(happening, place)
            placed.events.append(event)
            placed.edges.append(self._edge("EVIDENCED_BY", event, proof(happening.span), item, place.reading.by))
        placed.edges += self._edges(place.reading.links, ends, item)
        placed.edges += self._item_mentions(placed, item, described, place.reading.by)
        about = frozenset(person.uid for person in place.whom)
        asserted = Asserting(self._ties, item, about, place.reading.by).parts(place.reading.asserted, ends)
        placed.slots += asserted.slots
        placed.edges += asserted.edges
        return placed

    async def _items(self, reading: Reading) -> dict[str, Node | None]:
        """Return the live items that links name by their ids, by key."""
        keys = {end for link in reading.links for end in (link.source, link.target) if end.startswith(f"{ITEM}:")}
        found = await self._transaction.items([key.removeprefix(f"{ITEM}:") for key in sorted(keys)]) if keys else {}
        found |= {name: node for name, node in self.together.items() if item_key(name) in keys}
        return {item_key(name): node for name, node in found.items() if node.retired_at is None}

    def _named(self, thing: Thing) -> Node | None:
        """Return the node that a name means: one that is known by it, else a new one."""
        if thing.kind == FILE and (page := self.given.get(fold(thing.name))) is not None:
            return page
        known = self._known.setdefault(self._full_name(thing), [])
        fitting = [node for node in known if fits(thing, node)]
        certain = [node for node in fitting if node.subtype not in GUESSES]
        if len(certain) > 1 and thing.guess == "symbol":
            fitting = [node for node in fitting if node.subtype in GUESSES]  # which of them is meant is not certain
        if fitting:
            best = min(fitting, key=likeness)
            if best.subtype in GUESSES and thing.guess not in GUESSES:
                best = _instead(known, best, replace(best, subtype=thing.guess, source=thing.scope))
            if best.text is None and thing.description is not None:
                best = _instead(known, best, replace(best, text=thing.description))
            return best
        if thing.only_known:
            return None
        node = Node(
            uid=named_uid(self._root.tenant, self._root.context, thing.guess, natural_name(thing)),
            label=thing.label,
            tenant=self._root.tenant,
            context=self._root.context,
            name=thing.name,
            title=thing.name,
            text=thing.description,
            source=thing.scope,
            subtype=thing.guess,
            domain=self._root.domain,
            created_at=self._now,
        )
        known.append(node)
        words = fold(thing.name).split()
        if thing.guess == "person" and len(words) > 1:
            self._parts.setdefault(words[-1], set()).add(" ".join(words))
        return node

    def _full_name(self, thing: Thing) -> str:
        """Return the folded name; of somebody new who is called by a part of one person's name, that name."""
        name = fold(thing.name)
        full = self._parts.get(name, set())
        return next(iter(full)) if thing.kind is None and name not in self._known and len(full) == 1 else name

    async def _relative(self, kin: Kin, ends: Mapping[str, Node | None]) -> Node | None:
        uid = await self._relatives.uid_of(kin, ends)
        if uid is None:
            return None
        mine = {node.uid: node for nodes in self._known.values() for node in nodes}
        return mine.get(uid) or (await self._transaction.nodes([uid])).get(uid)

    def _event(self, happening: Happening, place: Place) -> Node:
        item = place.item
        uid = told_event_uid(item.uid, f"rules {happening.key}")
        if not happening.is_statement and place.shares_events and (words := _same_words(happening.text)):
            # The effect that one text tells of is the cause that another does.
            uid = make_uid(item.tenant, item.context, "event", item.flow_id or "", words)
        return Node(
            uid=uid,
            label=Label.EVENT,
            tenant=item.tenant,
            context=item.context,
            name=headline(happening.text),
            subtype=happening.subtype,
            domain=item.domain,
            created_at=self._now,
            qdrant_id=uid if happening.is_statement else None,
            text=happening.text,
            speaker=item.speaker,
            timestamp=happening.at or item.timestamp,
            timestamp_inferred=happening.at is None,
            sensitivity=item.sensitivity,
            portable=item.portable,
            expires_at=item.expires_at,
        )

    def _edges(self, links: Sequence[Link], ends: Mapping[str, Node | None], item: Node) -> Iterator[Edge]:
        for link in links:
            source, target = ends.get(link.source), ends.get(link.target)
            if source is None or target is None or source.uid == target.uid:
                continue
            if link.type == "MENTIONS" and target.uid in self._hubs:
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
        for node in {node.uid: node for node in placed.named if node.uid not in self._hubs}.values():
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


def _instead(known: list[Node], old: Node, new: Node) -> Node:
    known.remove(old)
    known.append(new)
    return new


def _same_words(text: str) -> str | None:
    """Return what texts that tell of one event have in common; None if it takes the context to know what is meant."""
    words = [word for word in re.findall(r"\w+", fold(text)) if word not in _ARTICLES]
    return " ".join(words) if len(words) >= _FEWEST_WORDS and _POINTING.isdisjoint(words) else None


def describing(mention: Edge, description: str | None) -> Edge:
    """Return a MENTIONS edge that keeps what its item says that the thing is: another may have said it first."""
    if description is None:
        return mention
    return replace(mention, properties={**mention.properties, DESCRIPTION: description})
