"""Replace several Events by one Macro-Event in a single transaction: move their edges to it and delete their nodes.

Their passages stay as the Macro-Event's proof. The first passage of each source stores the source's ledger entry, so
that the consolidation can always be undone (``restore``). In both chains the Macro-Event takes the place of the last
source.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from vicw_core.consolidation.edge_transfer import CHAINS, EdgeTransfer, merge_parallel_edges
from vicw_core.consolidation.ledger import LedgerEntry, with_entry
from vicw_core.graph.chains import Chains
from vicw_core.graph.dreams import dream_edges, drop_dream_edges
from vicw_core.graph.edge_factory import EdgeFactory
from vicw_shared.errors import VicwError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.core5 import MACRO, SYSTEM_VERSION
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.model.erased_steps import runs_of
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import chunk_uid, context_uid, make_uid

MAKER = "consolidate"
"""``created_by`` of a Macro-Event's own edges."""


class ChangedError(VicwError):
    """A source has changed since it was read. The batch is skipped; the next run reads it again."""


@dataclass(frozen=True)
class ConsolidatedBatch:
    """A batch to consolidate: ``sources`` in the order of their flow, with their ``passages``, as they were read.

    ``texts`` are the passages of the summary; ``name`` is its display name. Of the sources' passages, those in
    ``heavy`` (uids) keep a vector of their own.
    """

    sources: Sequence[Node]
    passages: Sequence[Node]
    texts: Sequence[str]
    name: str
    heavy: Collection[str] = ()

    @cached_property
    def macro(self) -> Node:
        """The Macro-Event: fields combined from its sources, at the place of the last source."""
        last = self.sources[-1]
        uids = [source.uid for source in self.sources]
        uid = macro_uid(self.sources)
        speakers = {source.speaker for source in self.sources}
        weights = [source.importance for source in self.sources if source.importance is not None]
        return replace(
            last,
            uid=uid,
            name=self.name,
            title=None,
            subtype=MACRO,
            version=SYSTEM_VERSION,
            created_at=max(source.created_at for source in self.sources),
            qdrant_id=chunk_uid(uid, 0),
            speaker=last.speaker if len(speakers) == 1 else None,
            source=None,
            source_id=None,
            content_hash=make_uid(*uids, *self.texts),
            text_key=None,
            tags=tuple(dict.fromkeys(tag for source in self.sources for tag in source.tags)),
            importance=max(weights, default=None),
            trigger_phrases=tuple(dict.fromkeys(phrase for s in self.sources for phrase in s.trigger_phrases)),
            metadata={
                "sources": uids,
                "items": [uid for source in self.sources for uid in source.items],
                "ids": ids_of(self.sources),
                "steps": steps_of(self.sources),
                "level": 1 + max(map(level, self.sources)),
            },
            timestamp_inferred=any(source.timestamp_inferred for source in self.sources),
            indexed=True,
        )

    @property
    def summary(self) -> list[Node]:
        """The passages of the summary; their vectors are stored already."""
        macro = self.macro
        return [
            replace(
                macro,
                uid=(uid := chunk_uid(macro.uid, ordinal)),
                label=Label.CHUNK,
                text=text,
                qdrant_id=uid,
                content_hash=None,
                tags=(),
                bucket=None,
                trigger_phrases=(),
                metadata={},
                arrival=None,
                flow_id=None,
                flow_step=ordinal,
                own_step=None,
            )
            for ordinal, text in enumerate(self.texts)
        ]


def macro_uid(sources: Sequence[Node]) -> str:
    """Return the uid of the Macro-Event of these Events; it does not depend on the summary."""
    last = sources[-1]
    return make_uid(last.tenant, last.context, MACRO, *(source.uid for source in sources))


def level(event: Node) -> int:
    """Return an Event's level of consolidation: 0 for a caller's Event, 1 more than its sources for a Macro-Event."""
    value = event.metadata.get("level") if event.is_macro else 0
    return value if isinstance(value, int) else 0


def ids_of(events: Sequence[Node]) -> list[str]:
    """Return the callers' ids of these Events, for a Macro-Event those of its sources; the uid of one without id."""
    ids: list[str] = []
    for event in events:
        stored = event.metadata.get("ids") if event.is_macro else None
        ids += map(str, stored) if isinstance(stored, list) else [event.source_id or event.uid]
    return ids


def steps_of(events: Sequence[Node]) -> list[list[int]]:
    """Return the flow steps of these Events, for a Macro-Event those of its sources, as runs [first, last]."""
    steps: set[int] = set()
    for event in events:
        covered = event.metadata.get("steps") if event.is_macro else None
        if isinstance(covered, list):
            steps.update(step for first, last in covered for step in range(first, last + 1))
        elif event.flow_step is not None:
            steps.add(event.flow_step)
    return runs_of(steps)


@dataclass(frozen=True, slots=True)
class Consolidator:
    """Consolidates inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime

    async def consolidate(self, batch: ConsolidatedBatch) -> Node:
        """Consolidate the batch and return the Macro-Event. Raises ChangedError before the first write."""
        macro, uids = batch.macro, [source.uid for source in batch.sources]
        await self._require_unchanged(batch)
        edges = await self.transaction.edges(uids, [t.name for t in self.registry])
        await self._require_all(uids, edges)
        _require_proofs(batch, edges)
        dreamt = dream_edges(edges)
        await drop_dream_edges(self.transaction, dreamt, self.now)
        edges = [edge for edge in edges if edge not in dreamt]
        extracted = [
            edge for edge in await self.transaction.edges_from_items(uids) if edge.id not in {e.id for e in edges}
        ]
        transfer = EdgeTransfer(self.registry, frozenset(uids), macro.uid)
        moved = merge_parallel_edges(
            moved_edge for edge in (*edges, *extracted) if (moved_edge := transfer.move(edge)) is not None
        )
        passages = self._with_entries(batch, [edge for edge in edges if edge.type not in CHAINS], extracted)
        chains = Chains(self.transaction, self.registry, self.now)
        await chains.unlink(uids)
        await self.transaction.drop_edges(extracted)
        await self.transaction.transfer_uses(uids, [macro.uid])
        await self.transaction.drop_nodes(uids)
        linked = await chains.place([macro])
        await self.transaction.put_nodes([macro, *batch.summary, *passages])
        await self.transaction.put_edges([*moved, *linked, *self._own_edges(macro, batch.summary)])
        return macro

    async def _require_unchanged(self, batch: ConsolidatedBatch) -> None:
        read = [*batch.sources, *batch.passages]
        stored = await self.transaction.nodes([node.uid for node in read])
        changed = [node.name for node in read if _without_indexed(stored.get(node.uid)) != _without_indexed(node)]
        if changed:
            raise ChangedError(f"changed since it was read: {', '.join(changed[:3])}")

    async def _require_all(self, uids: Sequence[str], edges: Sequence[Edge]) -> None:
        """Raise ChangedError if a source has edges of unregistered types, which cannot be read and would be lost."""
        degrees = await self.transaction.degrees(uids)
        ends = [end for edge in edges if edge.type != "BELONGS_TO" for end in {edge.source, edge.target}]
        if any(degrees.get(uid, 0) != ends.count(uid) for uid in uids):
            raise ChangedError("it has edges of a type that is not registered, which would be lost")

    def _with_entries(self, batch: ConsolidatedBatch, edges: Sequence[Edge], extracted: Sequence[Edge]) -> list[Node]:
        """Return the passages, the first passage of each source with the source's ledger entry."""
        passages = {passage.uid: passage for passage in batch.passages}
        lighter = {uid for uid, passage in passages.items() if uid not in batch.heavy and not passage.is_light}
        entries: dict[str, LedgerEntry] = {}
        parts: dict[str, str] = {}
        for source in batch.sources:
            item_edges = [edge for edge in edges if source.uid in {edge.source, edge.target}]
            light = [edge.target for edge in item_edges if edge.type == "EVIDENCED_BY" and edge.target in lighter]
            parts |= {edge.target: source.uid for edge in item_edges if edge.type == "EVIDENCED_BY"}
            item_edges += [edge for edge in extracted if edge.properties.get(SOURCE_ITEM) == source.uid]
            assert source.qdrant_id is not None
            entries[source.qdrant_id] = LedgerEntry(source, tuple(item_edges), tuple(sorted(light)))
        return [
            with_entry(passage, entries.get(uid), parts.get(uid), light=uid in lighter)
            for uid, passage in passages.items()
        ]

    def _own_edges(self, macro: Node, summary: Sequence[Node]) -> list[Edge]:
        """Return the edges that every item has: BELONGS_TO and EVIDENCED_BY."""
        factory, root = EdgeFactory(self.registry, self.now), context_uid(macro.tenant, macro.context)
        memberships = [factory.edge("BELONGS_TO", node.uid, root, by=MAKER) for node in (macro, *summary)]
        return [*memberships, *(factory.edge("EVIDENCED_BY", macro.uid, passage.uid, by=MAKER) for passage in summary)]


def _require_proofs(batch: ConsolidatedBatch, edges: Sequence[Edge]) -> None:
    """Raise ChangedError if the batch lacks a passage: it would neither be linked to its item nor store the ledger."""
    sources, read = ({node.uid for node in nodes} for nodes in (batch.sources, batch.passages))
    proofs = {edge.target for edge in edges if edge.type == "EVIDENCED_BY" and edge.source in sources}
    if proofs - read:
        raise ChangedError(f"{len(proofs - read)} of its passages were not read")


def _without_indexed(node: Node | None) -> Node | None:
    """Return the node without ``indexed``, whose change does not matter."""
    return replace(node, indexed=False) if node is not None else None
