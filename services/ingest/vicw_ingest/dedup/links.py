"""Links from duplicates to their sources inside a transaction, in place of stored text.

The item of a duplicate with an id is stored without passages, because relations may name it, and because it remains
its caller's item after its source is gone. A duplicate without an id is not stored at all.
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
    """Duplicates of a request with live sources.

    ``held`` are stored without text, ``dropped`` are not stored.
    """

    echoes: Duplicates
    held: frozenset[int] = frozenset()
    dropped: frozenset[int] = frozenset()

    @classmethod
    async def of(cls, echoes: Duplicates, transaction: GraphTransaction) -> DuplicateLinks:
        """Return the links without sources that were retired since the detection."""
        uids = {source.item.uid for echo in echoes.values() for source in echo.sources}
        if not uids:
            return cls(echoes)
        live = {uid for uid, node in (await transaction.nodes(sorted(uids))).items() if node.retired_at is None}
        left = {index: echo.only(live) for index, echo in echoes.items()}
        return cls({index: echo for index, echo in left.items() if echo is not None})

    async def after(self, back: Sequence[Node], transaction: GraphTransaction) -> DuplicateLinks:
        """Return the links after items were restored (``back``): these replace their Macro-Events as sources."""
        items = {item.source_id: item for item in back if item.source_id is not None}
        moved = {index: echo.moved(items) for index, echo in self.echoes.items()}
        return await DuplicateLinks.of(moved, transaction) if back else self

    @property
    def remainders(self) -> dict[int, str]:
        """Remaining texts of the items that repeat an answer, by item index."""
        return {index: echo.rest for index, echo in self.echoes.items() if echo.rest is not None}

    def judge(self, drafts: Iterable[ItemDraft], latest: Mapping[str, Node]) -> DuplicateLinks:
        """Return the links with ``held`` and ``dropped`` set. New content of a known item is always stored."""
        empty = [d for d in drafts if d.index in self.echoes and self.echoes[d.index].nothing_new]
        held = frozenset(d.index for d in empty if d.item.id is not None and d.item.id not in latest)
        return replace(self, held=held, dropped=frozenset(d.index for d in empty if d.item.id is None))

    def keep(self, drafts: Iterable[ItemDraft]) -> list[ItemDraft]:
        """Return the drafts to store, without the text of ``held`` items."""
        return [replace(d, passages=()) if d.index in self.held else d for d in drafts if d.index not in self.dropped]

    def edges(self, nodes: Mapping[int, Node], ties: EdgeFactory) -> list[Edge]:
        """Return the edges from the stored items of a request to their sources."""
        return [
            duplicate_edge(ties, nodes[index].uid, source, may_take_over=index in self.held)
            for index, echo in self.echoes.items()
            if index in nodes
            for source in echo.sources
            if (nodes[index].label, source.item.label) in ties.registry.get(DERIVED_FROM).pairs
        ]

    def to_wire(self, index: int) -> tuple[RepeatedItem, ...]:
        """Return the sources of an item in wire form."""
        echo = self.echoes.get(index)
        return tuple(source.to_wire for source in echo.sources) if echo is not None else ()


def duplicate_edge(ties: EdgeFactory, item: str, source: DuplicateSource, *, may_take_over: bool) -> Edge:
    """Return the edge from a duplicate to a source. Its weight is 0: the origin of a text makes no item stronger.

    ``may_take_over``: the duplicate takes over the text of a copied source once that is gone.
    """
    said: dict[str, object] = {HOW: source.how.value}
    if may_take_over and source.how is Repetition.COPY:
        said[PASSAGES] = list(source.passages)
    edge = ties.edge(DERIVED_FROM, item, source.item.uid, by=ECHO, item=item, source_item=ECHO, properties=said)
    return replace(edge, weight=0.0)


async def sources_of_copies(transaction: GraphTransaction, items: Sequence[Node]) -> dict[str, list[DuplicateSource]]:
    """Return the sources of the stored items without a text of their own, by uid."""
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
