"""Links from duplicates to their sources inside a transaction, in place of stored text.

The item of a duplicate with an id is stored without passages, because relations may name it, and because it remains
its caller's item after its source is gone. A duplicate without an id is not stored at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_core.graph.edge_factory import DUPLICATE, EdgeFactory
from vicw_ingest.dedup.detector import Duplicates, DuplicateSource
from vicw_ingest.plan.drafts import ItemDraft
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.wire.ingest import IngestedItem, ItemStatus, MaskedSecret, RepeatedItem, Repetition

DERIVED_FROM = "DERIVED_FROM"
PASSAGES, HOW = "passages", "how"
"""Properties of these edges: the passages (uids) that have the text of a copy, and how it repeats its source."""


@dataclass(frozen=True, slots=True)
class DuplicateLinks:
    """Duplicates of a request with live sources.

    Items in ``without_text`` are stored without text; ``dropped`` ones are not stored.
    """

    duplicates: Duplicates
    without_text: frozenset[int] = frozenset()
    dropped: frozenset[int] = frozenset()

    @classmethod
    async def of(cls, duplicates: Duplicates, transaction: GraphTransaction) -> DuplicateLinks:
        """Return the links without sources that were retired since the detection."""
        uids = {source.item.uid for duplicate in duplicates.values() for source in duplicate.sources}
        if not uids:
            return cls(duplicates)
        live = {uid for uid, node in (await transaction.nodes(sorted(uids))).items() if node.retired_at is None}
        with_live_sources = {index: duplicate.only(live) for index, duplicate in duplicates.items()}
        return cls({index: duplicate for index, duplicate in with_live_sources.items() if duplicate is not None})

    async def after_restore(self, restored: Sequence[Node], transaction: GraphTransaction) -> DuplicateLinks:
        """Return the links after items were restored (``restored``): these replace their Macro-Events as sources."""
        items = {item.source_id: item for item in restored if item.source_id is not None}
        duplicates = {index: duplicate.with_restored(items) for index, duplicate in self.duplicates.items()}
        return await DuplicateLinks.of(duplicates, transaction) if restored else self

    @property
    def remainders(self) -> dict[int, str]:
        """Remaining texts of the items that repeat an answer, by item index."""
        return {index: duplicate.rest for index, duplicate in self.duplicates.items() if duplicate.rest is not None}

    def classify(self, drafts: Iterable[ItemDraft], latest: Mapping[str, Node]) -> DuplicateLinks:
        """Return the links with ``without_text`` and ``dropped`` set. New content of a known item is always stored."""
        empty = [d for d in drafts if d.index in self.duplicates and self.duplicates[d.index].nothing_new]
        without_text = frozenset(d.index for d in empty if d.item.id is not None and d.item.id not in latest)
        return replace(self, without_text=without_text, dropped=frozenset(d.index for d in empty if d.item.id is None))

    def drafts_to_store(self, drafts: Iterable[ItemDraft]) -> list[ItemDraft]:
        """Return the drafts to store, without the text of ``without_text`` items."""
        return [
            replace(d, passages=()) if d.index in self.without_text else d
            for d in drafts
            if d.index not in self.dropped
        ]

    def edges(self, nodes: Mapping[int, Node], edge_factory: EdgeFactory) -> list[Edge]:
        """Return the edges from the stored items of a request to their sources."""
        return [
            duplicate_edge(edge_factory, nodes[index].uid, source, may_take_over=index in self.without_text)
            for index, duplicate in self.duplicates.items()
            if index in nodes
            for source in duplicate.sources
            if (nodes[index].label, source.item.label) in edge_factory.registry.get(DERIVED_FROM).pairs
        ]

    def to_wire(self, index: int) -> tuple[RepeatedItem, ...]:
        """Return the sources of an item in wire form."""
        duplicate = self.duplicates.get(index)
        return tuple(source.to_wire for source in duplicate.sources) if duplicate is not None else ()


def duplicate_edge(edge_factory: EdgeFactory, item: str, source: DuplicateSource, *, may_take_over: bool) -> Edge:
    """Return the edge from a duplicate to a source. Its weight is 0: the origin of a text makes no item stronger.

    ``may_take_over``: the duplicate takes over the text of a copied source once that is gone.
    """
    properties: dict[str, object] = {HOW: source.how.value}
    if may_take_over and source.how is Repetition.COPY:
        properties[PASSAGES] = list(source.passages)
    edge = edge_factory.edge(
        DERIVED_FROM, item, source.item.uid, by=DUPLICATE, item=item, source_item=DUPLICATE, properties=properties
    )
    return replace(edge, weight=0.0)


async def sources_of_copies(transaction: GraphTransaction, items: Sequence[Node]) -> dict[str, list[DuplicateSource]]:
    """Return the sources of the stored items without a text of their own, by uid."""
    without_text = [item.uid for item in items if item.is_duplicate]
    edges = await transaction.edges(without_text, [DERIVED_FROM], Direction.OUT) if without_text else []
    links = [edge for edge in edges if edge.created_by == DUPLICATE]
    nodes = await transaction.nodes(list({edge.target for edge in links}))
    sources: dict[str, list[DuplicateSource]] = {}
    for edge in sorted(links, key=lambda edge: (edge.created_at, edge.id)):
        if edge.target in nodes:
            sources.setdefault(edge.source, []).append(
                DuplicateSource(nodes[edge.target], Repetition(str(edge.properties[HOW])))
            )
    return sources


def linked_outcome(
    draft: ItemDraft, sources: Sequence[DuplicateSource], node: Node | None, masked: tuple[MaskedSecret, ...]
) -> IngestedItem:
    """Return the outcome of a duplicate: its first source's uid, and its own position in its flow if it has one."""
    first = sources[0].item
    return IngestedItem(
        id=draft.item.id,
        uid=first.uid,
        status=ItemStatus.LINKED,
        label=first.label,
        flow_id=node.flow_id if node is not None else None,
        flow_step=node.flow_step if node is not None else None,
        nodes=(),
        masked=masked,
        sources=tuple(source.to_wire for source in sources),
    )
