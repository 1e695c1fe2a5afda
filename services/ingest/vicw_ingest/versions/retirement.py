"""Retirement: take items, their passages and events, and everything that rests on these alone out of the present.

Nothing is erased: a retired node keeps its edges to other nodes of its item, so that the past stays readable
(docs/decisions/0002). Edges between live nodes have no end in time and are dropped. An event with other sources
follows these from then on. A named entity is retired once no edge joins it to a live node, unless a person has merged
or renamed it; a new mention revives it. An IS_PERSON edge keeps neither of its ends live.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_core.graph.canonical import MERGED_INTO, is_inferred
from vicw_core.graph.chains import Chains
from vicw_core.graph.dreams import dream_edges
from vicw_core.graph.edge_factory import DREAM
from vicw_ingest.dedup.inheritance import Inheritance
from vicw_ingest.identity.users import USER, drop_unsupported_users
from vicw_ingest.versions.shared_events import reattributed_events
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import DESCRIPTION, WEAK_TYPES
from vicw_shared.model.knowledge import BRIDGES, is_knowledge
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold_case


@dataclass(frozen=True, slots=True)
class Retired:
    """Result of retiring items: the ``edges`` that touched them, the ``dropped`` ones, and their ``neighbours``.

    Neighbours (uids) may have lost their last support: ``release`` checks the named entities among them once
    everything new is stored. ``heirs`` are duplicates that took over the text of a retired item.
    """

    edges: Sequence[Edge] = ()
    dropped: Sequence[Edge] = ()
    neighbours: frozenset[str] = frozenset()
    heirs: frozenset[str] = frozenset()

    @property
    def descriptions(self) -> set[tuple[str, object]]:
        """Pairs of an entity's uid and a description that the items gave it."""
        return {(edge.target, edge.properties[DESCRIPTION]) for edge in self.edges if DESCRIPTION in edge.properties}


@dataclass(frozen=True, slots=True)
class Retirement:
    """Retire items inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime

    async def retire(self, items: Sequence[Node], ends: Mapping[str, datetime | None]) -> Retired:
        """Retire live items, and close the gaps in their chains.

        ``ends`` maps their uids to the end of their validity; None: they were wrong, and never true.
        """
        if not items:
            return Retired()
        uids = [item.uid for item in items]
        edges = await self.transaction.edges(uids, [t.name for t in self.registry])
        events = await self._retire_nodes(items, ends, edges)
        await Chains(self.transaction, self.registry, self.now).unlink(uids)
        item_edges = await self.transaction.edges_from_items(uids)
        history = {*uids, *events}
        dropped = [edge for edge in item_edges if history.isdisjoint((edge.source, edge.target))]
        await self.transaction.drop_edges(dropped)
        if shared := {edge.source for edge in dropped if edge.type == "EVIDENCED_BY"}:
            await self.transaction.put_nodes(await reattributed_events(self.transaction, shared))
        neighbours = {uid for edge in (*edges, *item_edges) for uid in (edge.source, edge.target)}
        if dreamt := dream_edges(edges):
            await self.transaction.drop_edges(dreamt)
            edges = [edge for edge in edges if edge.created_by != DREAM]
        heirs = await Inheritance(self.transaction, self.registry, self.now).apply(items, edges)
        return Retired(edges, dropped, frozenset(neighbours - history), heirs)

    async def _retire_nodes(
        self, items: Sequence[Node], ends: Mapping[str, datetime | None], edges: Iterable[Edge]
    ) -> set[str]:
        """Retire items, their passages, and the events without another proof. Return the uids of the events."""
        item_of = {e.target: e.source for e in edges if e.type == "EVIDENCED_BY" and e.source in ends}
        proofs = await self.transaction.edges(list(item_of), ["EVIDENCED_BY"])
        item_of |= {e.source: item_of[e.target] for e in proofs if e.source not in ends}
        nodes = await self.transaction.nodes(list(item_of))
        events = {node.uid for node in nodes.values() if node.label is Label.EVENT}
        events -= await self._proven_elsewhere(events, item_of)
        parts = [node for node in nodes.values() if node.label is Label.CHUNK or node.uid in events]
        retired = [replace(item, retired_at=self.now, valid_to=ends[item.uid]) for item in items]
        retired += [replace(node, retired_at=self.now, valid_to=ends[item_of[node.uid]]) for node in parts]
        await self.transaction.put_nodes(retired)
        return events

    async def _proven_elsewhere(self, events: Iterable[str], retiring: Mapping[str, str]) -> set[str]:
        """Return the events that a live passage of another item proves."""
        proofs = await self.transaction.edges(list(events), ["EVIDENCED_BY"], Direction.OUT)
        others = [proof for proof in proofs if proof.target not in retiring]
        passages = await self.transaction.nodes([proof.target for proof in others])
        return {proof.source for proof in others if passages[proof.target].retired_at is None}

    async def retire_unsupported(
        self, retired: Retired, context: str, *, stored_nodes: Collection[str] = (), stored_edges: Collection[str] = ()
    ) -> None:
        """Retire or redescribe the named entities of ``context`` next to the retired items.

        An entity without a live mention is retired. A description from a retired item is replaced by another item's,
        or removed. Call it after everything else is stored, with the uids of ``stored_nodes`` and the ids of
        ``stored_edges``. Entities of other contexts stay unchanged, because another lock protects them.
        """
        if not retired.neighbours:
            return
        nodes = (await self.transaction.nodes(list(retired.neighbours))).values()
        entities = {node.uid: node for node in nodes if is_named_node(node) and node.context == context}
        users = [entity for entity in entities.values() if fold_case(entity.subtype) == USER]
        unprotected = [
            uid
            for uid, entity in entities.items()
            if uid not in stored_nodes and (not entity.aliases or is_knowledge(entity))
        ]
        await self._drop_inferred_merges(unprotected)
        unsupported = await self.transaction.isolated(unprotected)
        await self.transaction.drop_edges(await self.transaction.edges(sorted(unsupported), BRIDGES))
        changed = [replace(entities[uid], retired_at=self.now) for uid in sorted(unsupported)]
        old_descriptions = retired.descriptions
        changed += await self._redescribed(
            [t for t in entities.values() if t.uid not in unsupported and (t.uid, t.text) in old_descriptions]
        )
        if changed:
            await self.transaction.put_nodes(changed)
        await drop_unsupported_users(self.transaction, users, unsupported, stored_edges)

    async def _drop_inferred_merges(self, entities: Collection[str]) -> None:
        """Drop inferred merges of these entities where no other edge joins them to a live node."""
        merges = await self.transaction.edges(sorted(entities), [MERGED_INTO])
        guesses = [edge for edge in merges if is_inferred(edge)]
        guessed = {end for edge in guesses for end in (edge.source, edge.target)} & set(entities)
        if not guessed:
            return
        types = [edge_type.name for edge_type in self.registry if edge_type.name not in WEAK_TYPES]
        edges = [edge for edge in await self.transaction.edges(sorted(guessed), types) if not is_inferred(edge)]
        ends = await self.transaction.nodes(sorted({end for edge in edges for end in (edge.source, edge.target)}))
        pairs = [pair for edge in edges for pair in ((edge.source, edge.target), (edge.target, edge.source))]
        unsupported = guessed - {
            uid for uid, neighbour in pairs if neighbour in ends and ends[neighbour].retired_at is None
        }
        await self.transaction.drop_edges([e for e in guesses if not unsupported.isdisjoint((e.source, e.target))])

    async def _redescribed(self, entities: Sequence[Node]) -> list[Node]:
        """Return the entities whose description changes, each with the first one that a live item gives, or None."""
        mentions = await self.transaction.edges([entity.uid for entity in entities], ["MENTIONS"], Direction.IN)
        describing = sorted((m for m in mentions if DESCRIPTION in m.properties), key=lambda m: (m.created_at, m.id))
        sources = await self.transaction.nodes(list({mention.source for mention in describing}))
        texts: dict[str, str] = {}
        for mention in describing:
            if sources[mention.source].retired_at is None:
                texts.setdefault(mention.target, str(mention.properties[DESCRIPTION]))
        return [replace(t, text=texts.get(t.uid)) for t in entities if t.text != texts.get(t.uid)]
