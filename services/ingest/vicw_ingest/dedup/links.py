"""What becomes of echoes inside a transaction: edges to their sources, and no memory of their own.

An echo that has an id stays known by it: its item is stored without passages, since others may speak of it, and since
it is its caller's whatever becomes of the source. One without an id is not stored at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_ingest.dedup.model import Duplicates, DuplicateSource
from vicw_ingest.plan.drafts import ItemDraft
from vicw_shared.edge_factory import ECHO, EdgeFactory
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.wire.ingest import IngestedItem, ItemStatus, MaskedSecret, RepeatedItem, Repetition

DERIVED_FROM = "DERIVED_FROM"
PASSAGES, HOW = "passages", "how"
"""Properties of these edges: the passages (uids) that have the text of a copy, and how it repeats its source."""


@dataclass(frozen=True, slots=True)
class DuplicateLinks:
    """The echoes of a request whose sources are still there."""

    echoes: Duplicates
    held: frozenset[int] = frozenset()
    dropped: frozenset[int] = frozenset()

    @classmethod
    async def of(cls, echoes: Duplicates, transaction: GraphTransaction) -> DuplicateLinks:
        """Leave out sources that were retired since they were found."""
        uids = {source.item.uid for echo in echoes.values() for source in echo.sources}
        if not uids:
            return cls(echoes)
        live = {uid for uid, node in (await transaction.nodes(sorted(uids))).items() if node.retired_at is None}
        left = {index: echo.only(live) for index, echo in echoes.items()}
        return cls({index: echo for index, echo in left.items() if echo is not None})

    async def after(self, back: Sequence[Node], transaction: GraphTransaction) -> DuplicateLinks:
        """Return it after items were brought ``back``: they are the sources, and no more what stood for them."""
        items = {item.source_id: item for item in back if item.source_id is not None}
        moved = {index: echo.moved(items) for index, echo in self.echoes.items()}
        return await DuplicateLinks.of(moved, transaction) if back else self

    @property
    def remainders(self) -> dict[int, str]:
        """What is kept of the texts that repeat an answer, by their items' indexes."""
        return {index: echo.rest for index, echo in self.echoes.items() if echo.rest is not None}

    def judge(self, drafts: Iterable[ItemDraft], latest: Mapping[str, Node]) -> DuplicateLinks:
        """Return it with what becomes of those that say nothing new. The new content of a known item is stored."""
        empty = [d for d in drafts if d.index in self.echoes and self.echoes[d.index].nothing_new]
        held = frozenset(d.index for d in empty if d.item.id is not None and d.item.id not in latest)
        return replace(self, held=held, dropped=frozenset(d.index for d in empty if d.item.id is None))

    def keep(self, drafts: Iterable[ItemDraft]) -> list[ItemDraft]:
        """Return what is to be stored: without the text of those that are kept for their ids alone."""
        return [replace(d, passages=()) if d.index in self.held else d for d in drafts if d.index not in self.dropped]

    def edges(self, nodes: Mapping[int, Node], ties: EdgeFactory) -> list[Edge]:
        """Return what links the stored items of a request to their sources."""
        return [
            duplicate_edge(ties, nodes[index].uid, source, may_take_over=index in self.held)
            for index, echo in self.echoes.items()
            if index in nodes
            for source in echo.sources
            if (nodes[index].label, source.item.label) in ties.registry.get(DERIVED_FROM).pairs
        ]

    def to_wire(self, index: int) -> tuple[RepeatedItem, ...]:
        """Return the sources of an item as the wire has them."""
        echo = self.echoes.get(index)
        return tuple(source.to_wire for source in echo.sources) if echo is not None else ()


def duplicate_edge(ties: EdgeFactory, item: str, source: DuplicateSource, *, may_take_over: bool) -> Edge:
    """Return the edge from an echo to a source. It weighs nothing: where words come from makes none of them stronger.

    ``may_take_over``: the echo has the text of a copy again once the source is gone.
    """
    said: dict[str, object] = {HOW: source.how.value}
    if may_take_over and source.how is Repetition.COPY:
        said[PASSAGES] = list(source.passages)
    edge = ties.edge(DERIVED_FROM, item, source.item.uid, by=ECHO, item=item, source_item=ECHO, properties=said)
    return replace(edge, weight=0.0)


async def sources_of_copies(transaction: GraphTransaction, items: Sequence[Node]) -> dict[str, list[DuplicateSource]]:
    """Return the sources of those of these stored items that have no text of their own, by uid."""
    held = [item.uid for item in items if item.is_echo]
    edges = await transaction.edges(held, [DERIVED_FROM], Direction.OUT) if held else []
    own = [edge for edge in edges if edge.created_by == ECHO]
    nodes = await transaction.nodes(list({edge.target for edge in own}))
    found: dict[str, list[DuplicateSource]] = {}
    for edge in sorted(own, key=lambda edge: (edge.created_at, edge.id)):
        if edge.target in nodes:
            found.setdefault(edge.source, []).append(
                DuplicateSource(nodes[edge.target], Repetition(str(edge.properties[HOW])))
            )
    return found


def linked(
    draft: ItemDraft, sources: Sequence[DuplicateSource], node: Node | None, masked: tuple[MaskedSecret, ...]
) -> IngestedItem:
    """Return the outcome of an echo: its first source's uid, and its own place in its flow if it has one."""
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
