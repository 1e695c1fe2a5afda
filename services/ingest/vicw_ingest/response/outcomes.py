"""Outcome of each item of a request, for the response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vicw_ingest.dedup.links import DuplicateLinks, linked_outcome, sources_of_copies
from vicw_ingest.dedup.model import DuplicateSource
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.response.created_nodes import created_nodes, reference
from vicw_ingest.secrets.request_scan import Masked
from vicw_shared.model import Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.wire.ingest import ExtractionState, IngestedItem, ItemStatus
from vicw_shared.wire.knowledge import LinkProblem

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
