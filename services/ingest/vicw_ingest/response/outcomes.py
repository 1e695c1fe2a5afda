"""Outcome of each item of a request, with the nodes created for it, for the response."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from vicw_core.language.statement_words import wish_to_forget
from vicw_ingest.dedup.detector import DuplicateSource
from vicw_ingest.dedup.links import linked_outcome, sources_of_copies
from vicw_ingest.identity.users import STATED_BY
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.plan.service import WritePlan
from vicw_ingest.secrets.request_scan import Masked
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.wire.ingest import ExtractionState, ForgetWish, IngestedItem, ItemStatus, MaskedSecret, NodeRef
from vicw_shared.wire.knowledge import LinkProblem

_FIELD_OF_EDGE = {"ABOUT": "about", STATED_BY: "user"}
_PLAIN_FIELDS = (
    "speaker",
    "flow_id",
    "tags",
    "bucket",
    "source",
    "metadata",
    "protected",
    "trigger_phrases",
    "expires_at",
)
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


async def outcomes(
    plan: WritePlan, transaction: GraphTransaction, *, links: Links, masked: Masked, pending: Collection[int]
) -> tuple[IngestedItem, ...]:
    """Return the outcome of each item of a stored plan, in order. Items in ``pending`` wait for a language model."""
    items = plan.items
    unchanged = [items.latest[d.item.id] for d in items.drafts if d.item.id is not None and d.index not in items.nodes]
    before = _Unchanged()
    if unchanged:
        before = _Unchanged(
            await created_nodes(transaction, unchanged), await sources_of_copies(transaction, unchanged)
        )

    merged = {items.nodes[d.index].uid for d in items.drafts if d.item.merge and d.index in items.nodes}
    whole = [(old, new) for old, new in items.replaced if new.uid not in merged]
    dropped = await dropped_fields(transaction, whole)

    def outcome(draft: ItemDraft) -> IngestedItem:
        secrets = masked.get(draft.index, ())
        node = items.nodes.get(draft.index)
        if draft.index in plan.duplicate_links.without_text | plan.duplicate_links.dropped:
            return linked_outcome(draft, plan.duplicate_links.duplicates[draft.index].sources, node, secrets)
        previous = items.latest.get(draft.item.id) if draft.item.id is not None else None
        if node is None:
            assert previous is not None
            return before.outcome(draft, previous, secrets, links.get(previous.uid, ()))
        is_update = previous is not None and previous.retired_at is None
        return IngestedItem(
            id=draft.item.id,
            uid=node.uid,
            status=ItemStatus.UPDATED if is_update else ItemStatus.CREATED,
            label=node.label,
            flow_id=node.flow_id,
            flow_step=node.flow_step,
            nodes=tuple(map(reference, plan.graph.created.get(draft.index, ()))),
            version=node.version,
            dropped=dropped.get(node.uid, ()),
            extraction=ExtractionState.PENDING if draft.index in pending else None,
            masked=secrets,
            sources=plan.duplicate_links.to_wire(draft.index),
            links=links.get(node.uid, ()),
        )

    return tuple(_with_wish(outcome(draft), draft) for draft in items.drafts)


def _with_wish(outcome: IngestedItem, draft: ItemDraft) -> IngestedItem:
    """Return the outcome, marked if its item asks to forget something: what it may mean is looked up with an answer."""
    return outcome if wish_to_forget(draft.item.text) is None else outcome.model_copy(update={"forget": ForgetWish()})


async def dropped_fields(
    transaction: GraphTransaction, replaced: Sequence[tuple[Node, Node]]
) -> dict[str, tuple[str, ...]]:
    """Return the fields that live earlier versions had and their new ones (by uid) lack: the caller left them out."""
    pairs = [(old, new) for old, new in replaced if old.retired_at is None]
    versions = [node.uid for pair in pairs for node in pair]
    edges = await transaction.edges(versions, ["ABOUT", STATED_BY], Direction.OUT) if pairs else []
    has = {(edge.source, _FIELD_OF_EDGE[edge.type]) for edge in edges if edge.source in versions}

    def fields(node: Node) -> dict[str, bool]:
        named = {name: bool(getattr(node, name)) for name in _PLAIN_FIELDS}
        return {
            "name": node.title is not None,
            **named,
            **{name: (node.uid, name) in has for name in _FIELD_OF_EDGE.values()},
            "timestamp": node.timestamp is not None and not node.timestamp_inferred,
            "flow_step": node.own_step is not None,
            "sensitivity": node.sensitivity is not Sensitivity.PUBLIC,
            "portable": not node.portable,
            "importance": node.importance is not None,
        }

    lost = {new.uid: (fields(old), fields(new)) for old, new in pairs}
    return {uid: tuple(name for name in old if old[name] and not new[name]) for uid, (old, new) in lost.items()}


@dataclass(frozen=True, slots=True)
class _Unchanged:
    """What earlier requests created for the unchanged items, and the sources of copies among them, by item uid."""

    created: Mapping[str, Sequence[Node]] = field(default_factory=dict)
    sources: Mapping[str, Sequence[DuplicateSource]] = field(default_factory=dict)

    def outcome(
        self, draft: ItemDraft, node: Node, masked: tuple[MaskedSecret, ...], links: tuple[LinkProblem, ...]
    ) -> IngestedItem:
        """Return the outcome of a draft that the stored ``node`` equals."""
        if node.uid in self.sources:
            return linked_outcome(draft, self.sources[node.uid], node, masked)
        return IngestedItem(
            id=draft.item.id,
            uid=node.uid,
            status=ItemStatus.UNCHANGED,
            label=node.label,
            flow_id=node.flow_id,
            flow_step=node.flow_step,
            nodes=tuple(map(reference, self.created[node.uid])),
            version=node.version,
            masked=masked,
            links=links,
        )
