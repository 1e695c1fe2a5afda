"""Builder of the write plan: placed drafts, passages, nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from prometheus_client import Counter

from vicw_core.graph.edge_factory import CALLER, EdgeFactory
from vicw_ingest.extraction.acyclic import ORDERED, rejected_edges
from vicw_ingest.extraction.caller import EdgeEnd
from vicw_ingest.extraction.linking.linker import EntityLinker
from vicw_ingest.extraction.linking.model import ItemExtraction
from vicw_ingest.extraction.linking.previous_turn import previous_turns
from vicw_ingest.identity.users import STATED_BY, USER, UserPersons
from vicw_ingest.plan.caller_extraction import CallerExtraction
from vicw_ingest.plan.drafts import ItemDraft, speaker_subtype
from vicw_ingest.plan.named_entities import NamedEntities
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.model.text_keys import text_key
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import chunk_uid


def item_point(item: Node, texts: Sequence[str]) -> Node:
    """Return an item with the point of its first passage, or without a point if it has no text of its own."""
    return replace(item, qdrant_id=chunk_uid(item.uid, 0) if texts else None)


def passages_of(item: Node, texts: Sequence[str], *, verbatim: bool) -> list[Node]:
    """Return an item's passages, in order. ``verbatim`` selects how text keys compare (``model.text_keys``)."""
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
            metadata={},
            arrival=None,
            flow_step=ordinal,  # a Chunk's position in its item
            own_step=None,
            flow_id=None,
        )
        for ordinal, text in enumerate(texts)
    ]


CYCLES = Counter("vicw_ingest_cycles_total", "Relations left out: a cause cannot follow its effect")


@dataclass(slots=True)
class WritePlan:
    """Everything a request writes: nodes, edges, the nodes made per item, and nodes whose payload must be refreshed.

    ``created`` leaves out statements, because they are an item's own sentences. ``to_refresh`` holds uids.
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    created: dict[int, list[Node]] = field(default_factory=dict)
    to_refresh: set[str] = field(default_factory=set)


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
        self._edge_factory = EdgeFactory(registry, now)
        self._named_entities = NamedEntities(transaction, now, root)
        self._caller_extraction = CallerExtraction(self._named_entities, self._edge_factory, {})
        self._plan = WritePlan()
        self._user_persons = UserPersons()
        self._linker = EntityLinker(transaction, registry, now, root, hub_edges)

    def add_pages(self, pages: Iterable[Node]) -> None:
        """Link names equal to a page's file to that page, in preference to any other known entity."""
        self._linker.known_entities.pages |= {fold_case(page.source): page for page in pages if page.source is not None}

    async def plan(
        self,
        drafts: Sequence[ItemDraft],
        nodes: Mapping[int, Node],
        ends: Mapping[str, EdgeEnd],
        extractions: Mapping[int, TextExtraction],
    ) -> WritePlan:
        """Return the write plan of all drafts.

        ``ends`` are the items that relations may name, ``extractions`` are by draft index.
        Raises InvalidInputError for a caller's relation that makes a cause follow its effect.
        """
        about = await self._named_entities.subjects(drafts)
        self._caller_extraction.ends = ends
        self._linker.request_items = {draft.key: nodes[draft.index] for draft in drafts}
        item_extractions = await self._item_extractions(drafts, nodes, about, extractions)
        for draft, item_extraction in zip(drafts, item_extractions, strict=True):
            await self._add_item(draft, item_extraction)
        return await self._finish(item_extractions)

    async def add(self, item_extraction: ItemExtraction) -> WritePlan:
        """Return the write plan of an extraction from an item that is already stored."""
        await self._linker.known_entities.look_up((), [item_extraction.extraction])
        self._copy_visibility(await self._add_extraction(item_extraction), item_extraction)
        clashing = await self._named_entities.drop_clashes()
        self._plan.edges = [edge for edge in self._plan.edges if clashing.isdisjoint((edge.source, edge.target))]
        return await self._finish([item_extraction])

    async def _finish(self, item_extractions: Sequence[ItemExtraction]) -> WritePlan:
        replacements = await self._named_entities.resolve_names()
        self._plan.edges = replacements.edges(self._plan.edges)
        self._plan.created = {index: replacements.nodes(created) for index, created in self._plan.created.items()}
        await self._drop_cycles(
            {item_extraction.item.uid: item_extraction.item for item_extraction in item_extractions}
        )
        named = self._named_entities.nodes.values()
        self._plan.nodes += named
        self._plan.edges += [self._edge_factory.edge("BELONGS_TO", node.uid, self._root.uid) for node in named]
        return self._plan

    async def _item_extractions(
        self,
        drafts: Sequence[ItemDraft],
        nodes: Mapping[int, Node],
        about: Mapping[str, Node],
        extractions: Mapping[int, TextExtraction],
    ) -> list[ItemExtraction]:
        """Return each item with its passages, extraction, speaker, previous turn and ``about`` entities."""
        by_uid = {nodes[draft.index].uid: extractions[draft.index] for draft in drafts if draft.index in extractions}
        previous = await previous_turns(self._transaction, [nodes[draft.index] for draft in drafts], by_uid)
        speakers = {draft.item.speaker for draft in drafts if draft.item.speaker is not None}
        await self._linker.known_entities.look_up(speakers, list(by_uid.values()))
        user_speakers = {d.item.speaker for d in drafts if d.item.user is not None and d.item.speaker is not None}
        self._user_persons = await UserPersons.of(self._transaction, self._root, user_speakers)
        return [
            ItemExtraction(
                item := item_point(nodes[draft.index], draft.passages),
                passages_of(item, draft.passages, verbatim=draft.verbatim),
                by_uid.get(item.uid, TextExtraction()),
                speaker=self._speaker_of(draft),
                previous=previous.get(item.uid),
                about=[
                    about.get(name) or self._named_entities.name(Label.ENTITY, "person", name)
                    for name in draft.item.about
                ],
            )
            for draft in drafts
        ]

    async def _add_item(self, draft: ItemDraft, item_extraction: ItemExtraction) -> None:
        item, chunks, about = item_extraction.item, item_extraction.chunks, item_extraction.about
        self._plan.nodes += [item, *chunks]
        created = self._plan.created[draft.index] = list(chunks)
        for node in (item, *chunks):
            self._plan.edges.append(self._edge_factory.edge("BELONGS_TO", node.uid, self._root.uid))
        self._plan.edges += [self._edge_factory.edge("EVIDENCED_BY", item.uid, chunk.uid) for chunk in chunks]
        if item_extraction.speaker is not None:
            self._plan.edges.append(self._edge_factory.edge("INITIATED", item_extraction.speaker.uid, item.uid))
            created.append(item_extraction.speaker)
        created += self._add_user(draft, item_extraction)
        tags = [("tag", tag) for tag in draft.item.tags]
        tags += [("bucket", draft.item.bucket)] if draft.item.bucket is not None else []
        for subtype, name in tags:
            concept = self._named_entities.name(Label.CONCEPT, subtype, name)
            self._plan.edges.append(self._edge_factory.edge("TAGGED", item.uid, concept.uid, by=CALLER))
            created.append(concept)
        self._plan.edges += [self._edge_factory.edge("ABOUT", item.uid, person.uid, by=CALLER) for person in about]
        extracted, edges = self._caller_extraction.of(draft, item, chunks)
        self._plan.edges += edges
        extracted += await self._add_extraction(item_extraction)
        self._copy_visibility(extracted, item_extraction)
        created += [*about, *(node for node in extracted if not node.is_statement)]

    def _copy_visibility(self, nodes: Sequence[Node], item_extraction: ItemExtraction) -> None:
        """Give each Event of an item the item's ``ABOUT`` edges, so that the same people may see it."""
        events = [node for node in nodes if node.label is Label.EVENT]
        self._plan.edges += [
            self._edge_factory.edge("ABOUT", event.uid, person.uid, by=CALLER, item=item_extraction.item.uid)
            for event in events
            for person in item_extraction.about
        ]

    def _speaker_of(self, draft: ItemDraft) -> Node | None:
        """Return the speaker of an item. With a user's id, a speaker is not linked to a person of a longer name."""
        name = draft.item.speaker
        if name is None:
            return None
        if draft.item.user is not None and not self._user_persons.has_name(name):
            person = self._named_entities.name(Label.ENTITY, speaker_subtype(name), name)
            self._user_persons.introduce(person)
            self._linker.known_entities.introduce(person)
        return self._speaker(name)

    def _add_user(self, draft: ItemDraft, item_extraction: ItemExtraction) -> list[Node]:
        if draft.item.user is None:
            return []
        user = self._named_entities.name(Label.ENTITY, USER, draft.item.user)
        self._plan.edges.append(self._edge_factory.edge(STATED_BY, item_extraction.item.uid, user.uid))
        if item_extraction.speaker is not None and draft.item.speaker is not None:
            known_entities = self._linker.known_entities
            person = self._user_persons.person(
                user, draft.item.speaker, item_extraction.speaker, known_entities.canonical_uid
            )
            if person is not None:
                self._plan.edges.append(self._edge_factory.edge(IS_PERSON, user.uid, person.uid))
        return [user]

    def _speaker(self, name: str) -> Node:
        node = self._linker.known_entities.person(name, speaker_subtype(name))
        return self._named_entities.put(node)

    async def _add_extraction(self, item_extraction: ItemExtraction) -> list[Node]:
        result = await self._linker.link(item_extraction)
        for node in (*result.entities, *result.slots, *result.events):
            self._named_entities.put(node)
        self._plan.edges += result.edges
        return list({node.uid: node for node in (*result.entities, *result.events)}.values())

    async def _drop_cycles(self, items: Mapping[str, Node]) -> None:
        """Drop relations that make a cause follow its effect. Raises InvalidInputError if the caller gave one."""
        ordered = [edge for edge in self._plan.edges if edge.type in ORDERED]
        if not ordered:
            return
        ends = {uid for edge in ordered for uid in (edge.source, edge.target)}
        planned = {**self._named_entities.nodes, **items}
        stored = await self._transaction.nodes(sorted(ends - planned.keys()))
        reasons = await rejected_edges(self._transaction, ordered, {**stored, **planned})
        from_caller = [
            (self._caller_extraction.paths[uid], reason)
            for uid, reason in reasons.items()
            if uid in self._caller_extraction.paths
        ]
        if from_caller:
            raise InvalidInputError(
                *(
                    FieldProblem(path, reason, "Reverse it, leave it out, or correct the times")
                    for path, reason in from_caller
                )
            )
        CYCLES.inc(len(reasons))
        self._plan.edges = [edge for edge in self._plan.edges if edge.id not in reasons]
