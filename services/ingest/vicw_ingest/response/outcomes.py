"""Outcome of each item of a request, with the nodes created for it, for the response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vicw_ingest.dedup.links import DuplicateLinks, linked_outcome, sources_of_copies
from vicw_ingest.dedup.model import DuplicateSource
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.secrets.request_scan import Masked
from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.wire.ingest import ExtractionState, IngestedItem, ItemStatus, NodeRef
from vicw_shared.wire.knowledge import LinkProblem

_FROM_ITEM = ("EVIDENCED_BY", "TAGGED", "ABOUT", "MENTIONS")
_TO_ITEM = "INITIATED"


def reference(node: Node) -> NodeRef:
    """Return the wire reference of a node."""
    return NodeRef(uid=node.uid, label=node.label, subtype=node.subtype, name=node.name)


async def created_nodes(transaction: GraphTransaction, items: Sequence[Node]) -> dict[str, list[Node]]:
    """Return the nodes created for each stored item, by the item's uid, passages first."""
    related: dict[str, list[str]] = {item.uid: [] for item in items}
    owner: dict[str, str] = {}
    for edge in await transaction.edges(list(related), [*_FROM_ITEM, _TO_ITEM]):
        if edge.type == _TO_ITEM and edge.target in related:
            related[edge.target].append(edge.source)
        elif edge.type != _TO_ITEM and edge.source in related:
            related[edge.source].append(edge.target)
            if edge.type == "EVIDENCED_BY":
                owner[edge.target] = edge.source
    for proof in await transaction.edges(list(owner), ["EVIDENCED_BY"]):
        if proof.source not in related:
            related[owner[proof.target]].append(proof.source)
    nodes = await transaction.nodes(list({uid for uids in related.values() for uid in uids}))
    shown = {uid: node for uid, node in nodes.items() if not node.is_statement}
    return {
        item: sorted((shown[uid] for uid in dict.fromkeys(uids) if uid in shown), key=_order)
        for item, uids in related.items()
    }


def _order(node: Node) -> tuple[bool, int, str]:
    return node.label is not Label.CHUNK, node.flow_step or 0, node.name


Links = Mapping[str, tuple[LinkProblem, ...]]
"""Unresolved links of pages, by the uids of the pages' items."""


@dataclass(frozen=True, slots=True)
class StoredItems:
    """Nodes that a transaction stored, by item index, and the ``latest`` versions that it found, by id."""

    nodes: Mapping[int, Node]
    latest: Mapping[str, Node]
    created: Mapping[int, Sequence[Node]]
    links: Links
    pending: frozenset[int]
    masked: Masked
    duplicate_links: DuplicateLinks

    async def outcomes(self, drafts: Sequence[ItemDraft], transaction: GraphTransaction) -> tuple[IngestedItem, ...]:
        """Return the outcome of each draft, in order."""
        unchanged = [self.latest[d.item.id] for d in drafts if d.item.id is not None and d.index not in self.nodes]
        created_before, sources_before = (
            await created_nodes(transaction, unchanged),
            await sources_of_copies(transaction, unchanged),
        )
        return tuple(self._outcome(draft, created_before, sources_before) for draft in drafts)

    def _outcome(
        self,
        draft: ItemDraft,
        created_before: Mapping[str, Sequence[Node]],
        sources_before: Mapping[str, Sequence[DuplicateSource]],
    ) -> IngestedItem:
        node = self.nodes.get(draft.index)
        previous = self.latest.get(draft.item.id) if draft.item.id is not None else None
        masked = self.masked.get(draft.index, ())
        if draft.index in self.duplicate_links.without_text | self.duplicate_links.dropped:
            return linked_outcome(draft, self.duplicate_links.duplicates[draft.index].sources, node, masked)
        if node is not None:
            status = ItemStatus.UPDATED if previous is not None and previous.retired_at is None else ItemStatus.CREATED
            created = self.created.get(draft.index, ())
        else:
            assert previous is not None
            if previous.uid in sources_before:
                return linked_outcome(draft, sources_before[previous.uid], previous, masked)
            node, status, created = previous, ItemStatus.UNCHANGED, created_before[previous.uid]
        return IngestedItem(
            id=draft.item.id,
            uid=node.uid,
            status=status,
            label=node.label,
            flow_id=node.flow_id,
            flow_step=node.flow_step,
            nodes=tuple(reference(made_node) for made_node in created),
            extraction=ExtractionState.PENDING if draft.index in self.pending & self.nodes.keys() else None,
            masked=masked,
            sources=self.duplicate_links.to_wire(draft.index) if draft.index in self.nodes else (),
            links=self.links.get(node.uid, ()),
        )
