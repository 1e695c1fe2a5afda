"""Builder of the write plan: from placed drafts to their nodes and edges (seed 003 §3.1, "Graph Materialization")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from prometheus_client import Counter

from vicw_ingest.extraction.acyclic import ORDERED, misplaced
from vicw_ingest.extraction.caller import EdgeEnd
from vicw_ingest.extraction.linking.linker import EntityLinker
from vicw_ingest.extraction.linking.model import ItemExtraction
from vicw_ingest.extraction.linking.previous_turn import PreviousTurns
from vicw_ingest.extraction.model import TextExtraction
from vicw_ingest.identity.users import STATED_BY, USER, UserPersons
from vicw_ingest.plan.caller_extraction import CallerExtraction
from vicw_ingest.plan.drafts import ItemDraft, speaker_subtype
from vicw_ingest.plan.named_entities import NamedEntities
from vicw_ingest.plan.passages import item_point, passages_of
from vicw_shared.edge_factory import CALLER, EdgeFactory
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold_case

CIRCLES = Counter("vicw_ingest_cycles_total", "Relations left out: a cause cannot follow its effect")


@dataclass(slots=True)
class WritePlan:
    """Everything a request writes: nodes, edges, the nodes made per item, and nodes whose payload must be refreshed.

    ``made`` leaves out statements, because they are an item's own sentences. ``described`` are the uids to refresh.
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    made: dict[int, list[Node]] = field(default_factory=dict)
    described: set[str] = field(default_factory=set)


class WritePlanBuilder:
    """Builder of one request's write plan."""

    def __init__(
        self,
        transaction: GraphTransaction,
        registry: EdgeRegistry,
        now: datetime,
        root: Node,
        hub_edges: int,
    ) -> None:
        self._transaction = transaction
        self._root = root
        self._ties = EdgeFactory(registry, now)
        self._naming = NamedEntities(transaction, now, root)
        self._telling = CallerExtraction(self._naming, self._ties, {})
        self._plan = WritePlan()
        self._users = UserPersons()
        self._placing = EntityLinker(transaction, registry, now, root, hub_edges)

    def know_pages(self, pages: Iterable[Node]) -> None:
        """Link names equal to a page's file to that page, in preference to any other known entity."""
        self._placing.known.given |= {fold_case(page.source): page for page in pages if page.source is not None}

    async def plan(
        self,
        drafts: Sequence[ItemDraft],
        nodes: Mapping[int, Node],
        ends: Mapping[str, EdgeEnd],
        readings: Mapping[int, TextExtraction],
    ) -> WritePlan:
        """Return the write plan of all drafts.

        ``ends`` are the items that relations may name, ``readings`` the extractions by draft index.
        Raises InvalidInputError for a caller's relation that makes a cause follow its effect.
        """
        about = await self._naming.subjects(drafts)
        self._telling.ends = ends
        self._placing.together = {draft.key: nodes[draft.index] for draft in drafts}
        places = await self._places(drafts, nodes, about, readings)
        for draft, place in zip(drafts, places, strict=True):
            await self._add_item(draft, place)
        return await self._settled(places)

    async def add(self, place: ItemExtraction) -> WritePlan:
        """Return the write plan of an extraction from an item that is already stored."""
        await self._placing.known.look_up((), [place.extraction])
        self._show(await self._add_reading(place), place)
        clashing = await self._naming.leave_out_clashes()
        self._plan.edges = [edge for edge in self._plan.edges if clashing.isdisjoint((edge.source, edge.target))]
        return await self._settled([place])

    async def _settled(self, places: Sequence[ItemExtraction]) -> WritePlan:
        standing = await self._naming.resolve_names()
        self._plan.edges = standing.edges(self._plan.edges)
        self._plan.made = {index: standing.nodes(made) for index, made in self._plan.made.items()}
        await self._drop_circles({place.item.uid: place.item for place in places})
        named = self._naming.nodes.values()
        self._plan.nodes += named
        self._plan.edges += [self._ties.edge("BELONGS_TO", node.uid, self._root.uid) for node in named]
        return self._plan

    async def _places(
        self,
        drafts: Sequence[ItemDraft],
        nodes: Mapping[int, Node],
        about: Mapping[str, Node],
        readings: Mapping[int, TextExtraction],
    ) -> list[ItemExtraction]:
        """Return each item with its passages, extraction, speaker, addressee, previous turn and ``about`` entities."""
        read = {nodes[draft.index].uid: readings[draft.index] for draft in drafts if draft.index in readings}
        preceding = PreviousTurns(self._transaction, [nodes[draft.index] for draft in drafts])
        before = await preceding.of(read)
        listeners = preceding.addressees(read, before)
        speakers = {draft.item.speaker for draft in drafts if draft.item.speaker is not None}
        await self._placing.known.look_up({*speakers, *listeners.values()}, list(read.values()))
        named = {d.item.speaker for d in drafts if d.item.user is not None and d.item.speaker is not None}
        self._users = await UserPersons.of(self._transaction, self._root, named)
        return [
            ItemExtraction(
                item := item_point(nodes[draft.index], draft.passages),
                passages_of(item, draft.passages, verbatim=draft.verbatim),
                read.get(item.uid, TextExtraction()),
                speaker=self._speaker_of(draft),
                addressee=self._speaker(listeners[item.uid]) if item.uid in listeners else None,
                previous=before.get(item.uid),
                addressees=[
                    about.get(name) or self._naming.name(Label.ENTITY, "person", name) for name in draft.item.about
                ],
            )
            for draft in drafts
        ]

    async def _add_item(self, draft: ItemDraft, place: ItemExtraction) -> None:
        item, chunks, whom = place.item, place.chunks, place.addressees
        self._plan.nodes += [item, *chunks]
        made = self._plan.made[draft.index] = list(chunks)
        for node in (item, *chunks):
            self._plan.edges.append(self._ties.edge("BELONGS_TO", node.uid, self._root.uid))
        self._plan.edges += [self._ties.edge("EVIDENCED_BY", item.uid, chunk.uid) for chunk in chunks]
        if place.speaker is not None:
            self._plan.edges.append(self._ties.edge("INITIATED", place.speaker.uid, item.uid))
            made.append(place.speaker)
        made += self._add_user(draft, place)
        marks = [("tag", tag) for tag in draft.item.tags]
        marks += [("bucket", draft.item.bucket)] if draft.item.bucket is not None else []
        for subtype, name in marks:
            concept = self._naming.name(Label.CONCEPT, subtype, name)
            self._plan.edges.append(self._ties.edge("TAGGED", item.uid, concept.uid, by=CALLER))
            made.append(concept)
        self._plan.edges += [self._ties.edge("ABOUT", item.uid, person.uid, by=CALLER) for person in whom]
        told, edges = self._telling.of(draft, item, chunks)
        self._plan.edges += edges
        told += await self._add_reading(place)
        self._show(told, place)
        made += [*whom, *(node for node in told if not node.is_statement)]

    def _show(self, told: Sequence[Node], place: ItemExtraction) -> None:
        """Give each Event of an item the item's ``ABOUT`` edges, so that the same people may see it."""
        events = [node for node in told if node.label is Label.EVENT]
        self._plan.edges += [
            self._ties.edge("ABOUT", event.uid, person.uid, by=CALLER, item=place.item.uid)
            for event in events
            for person in place.addressees
        ]

    def _speaker_of(self, draft: ItemDraft) -> Node | None:
        """Return the speaker of an item. With a user's id, a speaker is not linked to a person of a longer name."""
        name = draft.item.speaker
        if name is None:
            return None
        if draft.item.user is not None and not self._users.is_called(name):
            person = self._naming.name(Label.ENTITY, speaker_subtype(name), name)
            self._users.introduce(person)
            self._placing.known.introduce(person)
        return self._speaker(name)

    def _add_user(self, draft: ItemDraft, place: ItemExtraction) -> list[Node]:
        if draft.item.user is None:
            return []
        user = self._naming.name(Label.ENTITY, USER, draft.item.user)
        self._plan.edges.append(self._ties.edge(STATED_BY, place.item.uid, user.uid))
        if place.speaker is not None and draft.item.speaker is not None:
            known = self._placing.known
            person = self._users.person(user, draft.item.speaker, place.speaker, known.canonical_uid)
            if person is not None:
                self._plan.edges.append(self._ties.edge(IS_PERSON, user.uid, person.uid))
        return [user]

    def _speaker(self, name: str) -> Node:
        node = self._placing.known.person(name, speaker_subtype(name))
        return self._naming.put(node)

    async def _add_reading(self, place: ItemExtraction) -> list[Node]:
        placed = await self._placing.link(place)
        for node in (*placed.named, *placed.slots, *placed.events):
            self._naming.put(node)
        self._plan.edges += placed.edges
        return list({node.uid: node for node in (*placed.named, *placed.events)}.values())

    async def _drop_circles(self, items: Mapping[str, Node]) -> None:
        """Drop relations that make a cause follow its effect. Raises InvalidInputError if the caller gave one."""
        ordered = [edge for edge in self._plan.edges if edge.type in ORDERED]
        if not ordered:
            return
        ends = {uid for edge in ordered for uid in (edge.source, edge.target)}
        near = {**self._naming.nodes, **items}
        known = await self._transaction.nodes(sorted(ends - near.keys()))
        wrong = await misplaced(self._transaction, ordered, {**known, **near})
        refused = [(self._telling.paths[uid], reason) for uid, reason in wrong.items() if uid in self._telling.paths]
        if refused:
            raise InvalidInputError(
                *(
                    FieldProblem(path, reason, "Reverse it, leave it out, or correct the times")
                    for path, reason in refused
                )
            )
        CIRCLES.inc(len(wrong))
        self._plan.edges = [edge for edge in self._plan.edges if edge.id not in wrong]
