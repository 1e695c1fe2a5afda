"""Nodes and edges of items: their own, those of what they name, and those extracted from them.

Everything is looked up first. Then each item's nodes and edges are built, and put together with the named entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from prometheus_client import Counter

from vicw_core.graph.edge_factory import CALLER, EdgeFactory
from vicw_ingest.extraction.acyclic import ORDERED, rejected_edges
from vicw_ingest.extraction.caller import EdgeEnd
from vicw_ingest.identity.users import STATED_BY, USER, UserPersons
from vicw_ingest.patch.stored_item import kept_fields
from vicw_ingest.plan.caller_extraction import CallerParts, caller_parts, item_ends
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.plan.linking.known_entities import KnownEntities
from vicw_ingest.plan.linking.linker import EntityLinker
from vicw_ingest.plan.linking.model import ItemExtraction
from vicw_ingest.plan.linking.previous_turn import previous_turns
from vicw_ingest.plan.named_entities import NamedEntities, find_subjects
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.core5 import GIVEN, speaker_subtype
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.model.extraction import PREVIOUS, TextExtraction
from vicw_shared.model.text_keys import text_key
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import chunk_uid

CYCLES = Counter("vicw_ingest_cycles_total", "Relations left out: a cause cannot follow its effect")


def item_point(item: Node, texts: Sequence[str]) -> Node:
    """Return an item with the point of its first passage, or without a point if it has no text of its own."""
    return replace(item, qdrant_id=chunk_uid(item.uid, 0) if texts else None)


def passages_of(
    item: Node, texts: Sequence[str], *, verbatim: bool, given: Mapping[str, object] | None = None
) -> list[Node]:
    """Return an item's passages, in order. ``verbatim`` selects how text keys compare (``model.text_keys``).

    ``given`` is kept beside the first one (``GIVEN``).
    """
    return [
        replace(
            item,
            uid=(uid := chunk_uid(item.uid, ordinal)),
            label=Label.CHUNK,
            name=item.name if len(texts) == 1 else f"{item.name} §{ordinal + 1}",
            title=None,
            text=text,
            text_key=text_key(text, verbatim=verbatim),
            qdrant_id=uid,
            content_hash=None,
            tags=(),
            trigger_phrases=(),
            bucket=None,
            metadata={GIVEN: given} if given and ordinal == 0 else {},
            arrival=None,
            flow_step=ordinal,  # a Chunk's position in its item
            own_step=None,
            flow_id=None,
        )
        for ordinal, text in enumerate(texts)
    ]


@dataclass(frozen=True, slots=True)
class PlannedGraph:
    """Nodes and edges to store, and the nodes created for each item, by its index in the request.

    ``created`` leaves out statements, because they are an item's own sentences.
    """

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    created: Mapping[int, Sequence[Node]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GraphBuilder:
    """Build the nodes and edges of items of the context ``root``, inside a transaction.

    A node that the rules know by its form alone gets no more links once it has ``hub_edges`` edges.
    """

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    root: Node
    hub_edges: int

    async def build(
        self,
        drafts: Sequence[ItemDraft],
        nodes: Mapping[int, Node],
        latest: Mapping[str, Node],
        extractions: Mapping[int, TextExtraction],
        pages: Iterable[Node],
    ) -> PlannedGraph:
        """Return the graph of new items: their ``nodes`` and ``extractions`` by draft index.

        ``latest`` are the stored items of the same ids, ``pages`` the nodes of those that are pages of a folder.
        Raises InvalidInputError for a caller's relation that makes a cause follow its effect.
        """
        by_uid = {nodes[draft.index].uid: extractions[draft.index] for draft in drafts if draft.index in extractions}
        about = await find_subjects(self.transaction, self.root, drafts)
        ends: Mapping[str, EdgeEnd] = {}
        if any(draft.item.extraction is not None for draft in drafts):
            ends = await item_ends(self.transaction, drafts, nodes, latest)
        previous: Mapping[str, Node] = {}
        if any(PREVIOUS in extraction.ends() for extraction in by_uid.values()):
            previous = await previous_turns(self.transaction, [nodes[draft.index] for draft in drafts], by_uid)
        speakers = {draft.item.speaker for draft in drafts if draft.item.speaker is not None}
        known = await self._known_entities(speakers, list(by_uid.values()), pages)
        users = {d.item.speaker for d in drafts if d.item.user is not None and d.item.speaker is not None}
        user_persons = await UserPersons.of(self.transaction, self.root, users) if users else UserPersons()
        by_key = {draft.key: nodes[draft.index] for draft in drafts}
        linker = EntityLinker(self.transaction, self.registry, self.now, known, by_key)
        named = NamedEntities(self.now, self.root)
        factory = EdgeFactory(self.registry, self.now)
        items = _ItemGraphs(factory, self.root, named, known, linker, user_persons, ends)
        item_extractions = []
        for draft in drafts:
            node = nodes[draft.index]
            text = by_uid.get(node.uid, TextExtraction())
            item_extractions.append(items.extraction(draft, node, text, previous.get(node.uid), about))
        parts = {draft.index: await items.of(draft, item) for draft, item in zip(drafts, item_extractions, strict=True)}
        new_items = {item_extraction.item.uid: item_extraction.item for item_extraction in item_extractions}
        return await self._finish(parts, named, new_items)

    async def build_extraction(self, item_extraction: ItemExtraction) -> PlannedGraph:
        """Return the graph of an extraction from an item that is already stored."""
        known = await self._known_entities((), [item_extraction.extraction], ())
        linker = EntityLinker(self.transaction, self.registry, self.now, known, {})
        named = NamedEntities(self.now, self.root)
        factory = EdgeFactory(self.registry, self.now)
        part = await _ItemGraphs(factory, self.root, named, known, linker).extracted(item_extraction)
        clashing = await named.drop_clashes(self.transaction)
        edges = [edge for edge in part.edges if clashing.isdisjoint((edge.source, edge.target))]
        return await self._finish(
            {0: replace(part, edges=edges)}, named, {item_extraction.item.uid: item_extraction.item}
        )

    async def _known_entities(
        self, speakers: Iterable[str], extractions: Sequence[TextExtraction], pages: Iterable[Node]
    ) -> KnownEntities:
        return await KnownEntities.look_up(
            self.transaction, self.now, self.root, self.hub_edges, speakers, extractions, pages
        )

    async def _finish(
        self, parts: Mapping[int, _ItemGraph], named: NamedEntities, items: Mapping[str, Node]
    ) -> PlannedGraph:
        """Put the items' ``parts``, by index, and the named entities together, under the names that the graph has."""
        names = await named.resolve_names(self.transaction)
        edges = names.edges([edge for part in parts.values() for edge in part.edges])
        paths = {uid: path for part in parts.values() for uid, path in part.paths.items()}
        edges = await self._without_cycles(edges, {**named.nodes, **items}, paths)
        nodes = [node for part in parts.values() for node in part.nodes]
        factory = EdgeFactory(self.registry, self.now)
        belongs = [factory.edge("BELONGS_TO", node.uid, self.root.uid) for node in named.nodes.values()]
        created = {index: names.nodes(part.created) for index, part in parts.items()}
        return PlannedGraph([*nodes, *named.nodes.values()], [*edges, *belongs], created)

    async def _without_cycles(
        self, edges: list[Edge], planned: Mapping[str, Node], paths: Mapping[str, str]
    ) -> list[Edge]:
        """Drop relations that make a cause follow its effect. Raises InvalidInputError if the caller gave one."""
        ordered = [edge for edge in edges if edge.type in ORDERED]
        if not ordered:
            return edges
        ends = {uid for edge in ordered for uid in (edge.source, edge.target)}
        stored = await self.transaction.nodes(sorted(ends - planned.keys()))
        reasons = await rejected_edges(self.transaction, ordered, {**stored, **planned})
        from_caller = [(paths[uid], reason) for uid, reason in reasons.items() if uid in paths]
        if from_caller:
            raise InvalidInputError(
                *(
                    FieldProblem(path, reason, "Reverse it, leave it out, or correct the times")
                    for path, reason in from_caller
                )
            )
        CYCLES.inc(len(reasons))
        return [edge for edge in edges if edge.id not in reasons]


@dataclass(frozen=True, slots=True)
class _ItemGraph:
    """The nodes and edges of one item, without its named entities, and the nodes created for it.

    ``paths`` are the places in the request of the caller's relations, by edge id.
    """

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    created: Sequence[Node]
    paths: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ItemGraphs:
    """Build the graph of one item after the other. What they name is registered in ``named``."""

    factory: EdgeFactory
    root: Node
    named: NamedEntities
    known: KnownEntities
    linker: EntityLinker
    users: UserPersons = field(default_factory=UserPersons)
    ends: Mapping[str, EdgeEnd] = field(default_factory=dict)

    def extraction(
        self, draft: ItemDraft, node: Node, text: TextExtraction, previous: Node | None, about: Mapping[str, Node]
    ) -> ItemExtraction:
        """Return an item with its passages, extraction, speaker, previous turn and ``about`` entities."""
        item = item_point(node, draft.passages)
        return ItemExtraction(
            item,
            passages_of(item, draft.passages, verbatim=draft.verbatim, given=kept_fields(draft.item)),
            text,
            speaker=self._speaker(draft),
            previous=previous,
            about=[about.get(name) or self.named.name(Label.ENTITY, "person", name) for name in draft.item.about],
        )

    async def of(self, draft: ItemDraft, item_extraction: ItemExtraction) -> _ItemGraph:
        """Return the graph of an item and of its extractions, the caller's and the text's."""
        item, chunks, about = item_extraction.item, item_extraction.chunks, item_extraction.about
        edges = [self.factory.edge("BELONGS_TO", node.uid, self.root.uid) for node in (item, *chunks)]
        edges += [self.factory.edge("EVIDENCED_BY", item.uid, chunk.uid) for chunk in chunks]
        created = list(chunks)
        if item_extraction.speaker is not None:
            edges.append(self.factory.edge("INITIATED", item_extraction.speaker.uid, item.uid))
            created.append(item_extraction.speaker)
        if draft.item.user is not None:
            user = self.named.name(Label.ENTITY, USER, draft.item.user)
            edges += self._user_edges(user, draft, item_extraction)
            created.append(user)
        tags = [("tag", tag) for tag in draft.item.tags]
        tags += [("bucket", draft.item.bucket)] if draft.item.bucket is not None else []
        concepts = [self.named.name(Label.CONCEPT, subtype, name) for subtype, name in tags]
        edges += [self.factory.edge("TAGGED", item.uid, concept.uid, by=CALLER) for concept in concepts]
        edges += [self.factory.edge("ABOUT", item.uid, person.uid, by=CALLER) for person in about]
        given = CallerParts()
        if draft.item.extraction is not None:
            given = caller_parts(draft, draft.item.extraction, item, chunks, self.named, self.factory, self.ends)
        found = await self.extracted(item_extraction, given.nodes)
        created += [*concepts, *about, *given.nodes, *found.created]
        return _ItemGraph([item, *chunks], [*edges, *given.edges, *found.edges], created, given.paths)

    async def extracted(self, item_extraction: ItemExtraction, given: Sequence[Node] = ()) -> _ItemGraph:
        """Return the edges of what was extracted from an item, beside ``given`` nodes of the caller.

        Each of its Events has the item's ``ABOUT`` edges, so that the same people may see it.
        """
        linked = await self.linker.link(item_extraction)
        for node in (*linked.entities, *linked.slots, *linked.events):
            self.named.put(node)
        found = list({node.uid: node for node in (*linked.entities, *linked.events)}.values())
        edges = [
            *linked.edges,
            *(
                self.factory.edge("ABOUT", event.uid, person.uid, by=CALLER, item=item_extraction.item.uid)
                for event in (*given, *found)
                if event.label is Label.EVENT
                for person in item_extraction.about
            ),
        ]
        return _ItemGraph((), edges, [node for node in found if not node.is_statement])

    def _speaker(self, draft: ItemDraft) -> Node | None:
        """Return the speaker of an item. With a user's id, a speaker is not linked to a person of a longer name."""
        name = draft.item.speaker
        if name is None:
            return None
        if draft.item.user is not None and not self.users.has_name(name):
            person = self.named.name(Label.ENTITY, speaker_subtype(name), name)
            self.users.introduce(person)
            self.known.introduce(person)
        return self.named.put(self.known.person(name, speaker_subtype(name)))

    def _user_edges(self, user: Node, draft: ItemDraft, item_extraction: ItemExtraction) -> list[Edge]:
        edges = [self.factory.edge(STATED_BY, item_extraction.item.uid, user.uid)]
        if item_extraction.speaker is not None and draft.item.speaker is not None:
            speaker = item_extraction.speaker
            person = self.users.person(user, draft.item.speaker, speaker, self.known.canonical_uid)
            if person is not None:
                edges.append(self.factory.edge(IS_PERSON, user.uid, person.uid))
        return edges
