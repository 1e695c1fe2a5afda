"""From placed drafts to the nodes and edges around them (seed 003 §3.1, "Graph Materialization")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from prometheus_client import Counter

from vicw_ingest.extraction.acyclic import ORDERED, misplaced
from vicw_ingest.extraction.caller import SELF, End, ToldNode, told_edges, told_nodes
from vicw_ingest.extraction.placing import GUESSES, Place, Placing, describing
from vicw_ingest.extraction.preceding import Preceding
from vicw_ingest.extraction.reading import Reading
from vicw_ingest.identity.standing import stand_ins
from vicw_ingest.planning.drafts import Draft, speaker_subtype
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold
from vicw_shared.uids import chunk_uid, edge_id, named_uid
from vicw_shared.wire.extraction import ToldEvent

CIRCLES = Counter("vicw_ingest_circles_total", "Relations left out: a cause cannot follow its effect")
_INGEST, _CALLER = "ingest", "caller"
_SUBJECTS = ("person", "user", "chat", "agent")


@dataclass(slots=True)
class Plan:
    """What a request adds: nodes and edges, what was made of each item, and which nodes it says new things of.

    What was ``made`` leaves statements out: they are an item's own sentences.
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    made: dict[int, list[Node]] = field(default_factory=dict)
    described: set[str] = field(default_factory=set)


class Materialiser:
    """Builds the plan of one request."""

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
        self._root = root
        self._named: dict[str, Node] = {}
        self._paths: dict[str, str] = {}  # where in the request a relation was told
        self._told_at: dict[str, str] = {}  # where in the request a named thing was told of
        self._plan = Plan()
        self._placing = Placing(transaction, registry, now, root, hub_edges)

    async def item_ends(
        self, drafts: Sequence[Draft], nodes: Mapping[int, Node], latest: Mapping[str, Node]
    ) -> dict[str, End]:
        """Return what the items' relations may name by the id of an item: of this request or stored before."""
        ends = _ends(latest)
        ends |= {d.item.id: End(nodes[d.index].uid, d.label, d.subtype) for d in drafts if d.item.id is not None}
        wanted = {
            reference
            for draft in drafts
            if draft.item.extraction is not None
            for relation in draft.item.extraction.relations
            for reference in (relation.source, relation.target)
        }
        stored = await self._transaction.items(sorted(wanted - ends.keys()))
        return _ends(stored) | ends

    async def plan(
        self,
        drafts: Sequence[Draft],
        nodes: Mapping[int, Node],
        ends: Mapping[str, End],
        readings: Mapping[int, Reading],
    ) -> Plan:
        """Return the nodes and edges of all drafts; ``readings`` are what was read in some of them, by their index."""
        about = await self._about_nodes(drafts)
        places = await self._places(drafts, nodes, about, readings)
        for draft, place in zip(drafts, places, strict=True):
            await self._add_item(draft, place, ends)
        return await self._settled(places)

    async def add(self, place: Place) -> Plan:
        """Return the nodes and edges of what was read in an item that is stored already."""
        await self._placing.look_up((), [place.reading])
        self._show(await self._add_reading(place), place)
        await self._leave_out_clashes()
        return await self._settled([place])

    async def _settled(self, places: Sequence[Place]) -> Plan:
        await self._settle_identities()
        await self._keep_known()
        await self._drop_circles({place.item.uid: place.item for place in places})
        self._plan.nodes += self._named.values()
        self._plan.edges += [self._edge("BELONGS_TO", node.uid, self._root.uid) for node in self._named.values()]
        return self._plan

    async def _places(
        self,
        drafts: Sequence[Draft],
        nodes: Mapping[int, Node],
        about: Mapping[str, Node],
        readings: Mapping[int, Reading],
    ) -> list[Place]:
        """Return each item as it is stored: its passages, who speaks, to whom, of whom, and after what."""
        read = {nodes[draft.index].uid: readings[draft.index] for draft in drafts if draft.index in readings}
        preceding = Preceding(self._transaction, [nodes[draft.index] for draft in drafts])
        before = await preceding.of(read)
        listeners = preceding.addressees(read, before)
        speakers = {draft.item.speaker for draft in drafts if draft.item.speaker is not None}
        await self._placing.look_up({*speakers, *listeners.values()}, read.values())
        return [
            Place(
                item := replace(nodes[draft.index], qdrant_id=chunk_uid(nodes[draft.index].uid, 0)),
                [self._chunk(item, ordinal, text, draft) for ordinal, text in enumerate(draft.passages)],
                read.get(item.uid, Reading()),
                speaker=self._speaker(draft.item.speaker) if draft.item.speaker is not None else None,
                addressee=self._speaker(listeners[item.uid]) if item.uid in listeners else None,
                previous=before.get(item.uid),
                whom=[about.get(name) or self._name(Label.ENTITY, "person", name) for name in draft.item.about],
            )
            for draft in drafts
        ]

    async def _add_item(self, draft: Draft, place: Place, ends: Mapping[str, End]) -> None:
        item, chunks, whom = place.item, place.chunks, place.whom
        self._plan.nodes += [item, *chunks]
        made = self._plan.made[draft.index] = list(chunks)
        for node in (item, *chunks):
            self._plan.edges.append(self._edge("BELONGS_TO", node.uid, self._root.uid))
        self._plan.edges += [self._edge("EVIDENCED_BY", item.uid, chunk.uid) for chunk in chunks]
        if place.speaker is not None:
            self._plan.edges.append(self._edge("INITIATED", place.speaker.uid, item.uid))
            made.append(place.speaker)
        marks = [("tag", tag) for tag in draft.item.tags]
        marks += [("bucket", draft.item.bucket)] if draft.item.bucket is not None else []
        for subtype, name in marks:
            concept = self._name(Label.CONCEPT, subtype, name)
            self._plan.edges.append(self._edge("TAGGED", item.uid, concept.uid, by=_CALLER))
            made.append(concept)
        self._plan.edges += [self._edge("ABOUT", item.uid, person.uid, by=_CALLER) for person in whom]
        told = [*self._add_extraction(draft, item, chunks, ends), *await self._add_reading(place)]
        self._show(told, place)
        made += [*whom, *(node for node in told if not node.is_statement)]

    def _show(self, told: Sequence[Node], place: Place) -> None:
        """What a memory tells of is seen by those whom the memory is about."""
        events = [node for node in told if node.label is Label.EVENT]
        self._plan.edges += [
            self._edge("ABOUT", event.uid, person.uid, by=_CALLER, item=place.item.uid)
            for event in events
            for person in place.whom
        ]

    async def _leave_out_clashes(self) -> None:
        """Nobody who could be told of it has asked for what is known as another kind of node: it is left out."""
        known = await self._transaction.nodes(list(self._named))
        clashing = {uid for uid, node in known.items() if node.label is not self._named[uid].label}
        self._named = {uid: node for uid, node in self._named.items() if uid not in clashing}
        self._plan.edges = [edge for edge in self._plan.edges if clashing.isdisjoint((edge.source, edge.target))]

    def _speaker(self, name: str) -> Node:
        node = self._placing.person(name, speaker_subtype(name))
        return self._note(node)

    def _note(self, node: Node) -> Node:
        """Have a node stored; what is told of it already stays, but it may be better known by now."""
        known = self._named.setdefault(node.uid, node)
        if known.subtype != node.subtype:
            known = self._named[node.uid] = replace(known, subtype=node.subtype, source=node.source)
        return known

    async def _add_reading(self, place: Place) -> list[Node]:
        placed = await self._placing.place(place)
        for node in (*placed.named, *placed.slots, *placed.events):
            self._note(node)
        self._plan.edges += placed.edges
        return list({node.uid: node for node in (*placed.named, *placed.events)}.values())

    def _add_extraction(self, draft: Draft, item: Node, chunks: Sequence[Node], ends: Mapping[str, End]) -> list[Node]:
        extraction = draft.item.extraction
        if extraction is None:
            return []
        path = f"{draft.path}.extraction"
        told = told_nodes(extraction, tenant=item.tenant, context=item.context, item=item.uid, path=path)
        made = []
        folded = [(chunk, fold(chunk.text or "")) for chunk in chunks]
        for entry in told.values():
            node = self._told(entry, item, path)
            name = fold(node.name)
            proof = next((chunk for chunk, text in folded if name in text), chunks[0])
            self._plan.edges.append(self._edge("EVIDENCED_BY", node.uid, proof.uid, by=_CALLER, item=item.uid))
            if node.label is not Label.EVENT:
                mention = self._edge("MENTIONS", item.uid, node.uid, by=_CALLER, item=item.uid)
                self._plan.edges.append(describing(mention, entry.told.description))
            made.append(node)

        def resolve(name: str) -> End | None:
            if name == SELF:
                return End(item.uid, item.label, item.subtype)
            return told[name].end if name in told else ends.get(name)

        for edge in told_edges(extraction, registry=self._registry, resolve=resolve, path=path):
            desc = str(edge.properties.get("desc", ""))
            uid = edge_id(edge.type, edge.source.uid, edge.target.uid, desc=desc, told_by=item.uid)
            self._paths[uid] = edge.path
            self._plan.edges.append(
                Edge(
                    id=uid,
                    type=edge.type,
                    source=edge.source.uid,
                    target=edge.target.uid,
                    weight=edge.weight,
                    created_at=self._now,
                    created_by=_CALLER,
                    properties={**edge.properties, TOLD_BY: item.uid},
                )
            )
        return made

    def _told(self, entry: ToldNode, item: Node, path: str) -> Node:
        told, subtype = entry.told, entry.end.subtype
        if not isinstance(told, ToldEvent):
            self._told_at.setdefault(entry.end.uid, path)
            return self._name(entry.end.label, subtype, told.name, description=told.description)
        event = replace(
            self._node(entry.end.uid, Label.EVENT, subtype, told.name),
            text=told.description,
            timestamp=told.timestamp or item.timestamp,
            timestamp_inferred=told.timestamp is None,
            sensitivity=item.sensitivity,
            portable=item.portable,
            expires_at=item.expires_at,
        )
        self._named.setdefault(event.uid, event)
        return event

    def _chunk(self, item: Node, ordinal: int, text: str, draft: Draft) -> Node:
        uid = chunk_uid(item.uid, ordinal)
        name = item.name if len(draft.passages) == 1 else f"{item.name} §{ordinal + 1}"
        return replace(
            item,
            uid=uid,
            label=Label.CHUNK,
            name=name,
            title=None,
            text=text,
            qdrant_id=uid,
            content_hash=None,
            tags=(),
            bucket=None,
            metadata={},
            arrival=None,
            flow_step=ordinal,  # a Chunk's place in its item
            own_step=None,
            flow_id=None,
        )

    def _name(self, label: Label, subtype: str, name: str, *, description: str | None = None) -> Node:
        node = self._node(named_uid(self._root.tenant, self._root.context, subtype, name), label, subtype, name)
        known = self._named.setdefault(node.uid, replace(node, text=description))
        self._require_label(known, label)
        if description is not None and known.text is None:
            known = self._named[node.uid] = replace(known, text=description)
        return known

    def _node(self, uid: str, label: Label, subtype: str, name: str) -> Node:
        return Node(
            uid=uid,
            label=label,
            tenant=self._root.tenant,
            context=self._root.context,
            name=name,
            title=name,
            subtype=subtype,
            domain=self._root.domain,
            created_at=self._now,
        )

    async def _about_nodes(self, drafts: Sequence[Draft]) -> dict[str, Node]:
        """Find whom ``about`` names: a uid, or the name of a person, user, chat or agent of the context."""
        candidates: dict[str, list[str]] = {}
        for name in {name for draft in drafts for name in draft.item.about}:
            by_name = [named_uid(self._root.tenant, self._root.context, subtype, name) for subtype in _SUBJECTS]
            candidates[name] = [*([name.lower()] if _is_uid(name) else []), *by_name]
        known = await self._transaction.nodes([uid for uids in candidates.values() for uid in uids])
        renamed = await self._transaction.named([fold(name) for name in candidates])
        found: dict[str, Node] = {}
        for name, uids in candidates.items():
            there = (known[uid] for uid in uids if uid in known and known[uid].retired_at is None)
            stored = (node for node in there if node.label is Label.ENTITY)
            called = (node for node in renamed.get(fold(name), ()) if fold(node.subtype) in _SUBJECTS)
            if (node := next(stored, next(called, None))) is not None:
                found[name] = node
            elif _is_uid(name):
                raise InvalidInputError(*_nobody(name, drafts))
        return found

    async def _settle_identities(self) -> None:
        """What goes by a name that another thing has by now, or is merged into another, is told of that one."""
        standing = await stand_ins(self._transaction, self._root.context, self._named.values())
        self._plan.edges = standing.edges(self._plan.edges)
        self._plan.made = {index: standing.nodes(made) for index, made in self._plan.made.items()}
        self._named = {uid: node for uid, node in self._named.items() if uid not in standing.renamed}

    async def _keep_known(self) -> None:
        """A named thing that is stored already keeps its creation and gains a description if it had none.

        Of one that was retired nothing else is left: it is what it is told to be now.
        """
        for uid, known in (await self._transaction.nodes(list(self._named))).items():
            new = self._named[uid]
            self._require_label(known, new.label)
            if known.retired_at is not None:
                self._named[uid] = replace(new, created_at=known.created_at)
                continue
            kept = replace(known, text=known.text or new.text)
            is_guess = known.subtype in GUESSES  # and may be known better by now
            self._named[uid] = replace(kept, subtype=new.subtype, source=new.source) if is_guess else kept

    async def _drop_circles(self, items: Mapping[str, Node]) -> None:
        """Leave out what would make a cause follow its effect. Raises InvalidInputError where a caller says so."""
        ordered = [edge for edge in self._plan.edges if edge.type in ORDERED]
        if not ordered:
            return
        ends = {uid for edge in ordered for uid in (edge.source, edge.target)}
        near = {**self._named, **items}
        known = await self._transaction.nodes(sorted(ends - near.keys()))
        wrong = await misplaced(self._transaction, ordered, {**known, **near})
        refused = [(self._paths[uid], reason) for uid, reason in wrong.items() if uid in self._paths]
        if refused:
            raise InvalidInputError(
                *(
                    FieldProblem(path, reason, "Turn it round, leave it out, or mend the times")
                    for path, reason in refused
                )
            )
        CIRCLES.inc(len(wrong))
        self._plan.edges = [edge for edge in self._plan.edges if edge.id not in wrong]

    def _edge(self, edge_type: str, source: str, target: str, *, by: str = _INGEST, item: str | None = None) -> Edge:
        return Edge(
            id=edge_id(edge_type, source, target),
            type=edge_type,
            source=source,
            target=target,
            weight=self._registry.get(edge_type).weight,
            created_at=self._now,
            created_by=by,
            properties={TOLD_BY: item} if item is not None else {},
        )

    def _require_label(self, known: Node, label: Label) -> None:
        if known.label is not label:
            raise InvalidInputError(
                FieldProblem(
                    self._told_at.get(known.uid, "extraction"),
                    f"{known.name!r} of subtype {known.subtype!r} is known as {known.label}, not {label}",
                    "Give it another subtype",
                )
            )


def _ends(items: Mapping[str, Node]) -> dict[str, End]:
    return {key: End(node.uid, node.label, node.subtype) for key, node in items.items() if node.retired_at is None}


def _nobody(uid: str, drafts: Sequence[Draft]) -> Iterator[FieldProblem]:
    for draft in drafts:
        for place, name in enumerate(draft.item.about):
            if name == uid:
                yield FieldProblem(
                    f"{draft.path}.about[{place}]",
                    f"{uid} is the uid of nobody known",
                    "Give a name, or a uid that an answer of /ingest or /retrieve named",
                )


def _is_uid(name: str) -> bool:
    return len(name) == 36 and name.count("-") == 4 and all(c in "0123456789abcdef-" for c in name.lower())
