"""Plan stage: everything that a request writes, decided inside the transaction, under the context's lock.

It only reads, except that consolidated items which the request changes are restored first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from vicw_core.consolidation.restore import RestoredItems
from vicw_ingest.dedup.detector import Duplicates
from vicw_ingest.dedup.links import DuplicateLinks
from vicw_ingest.extraction.item_text import domain_of
from vicw_ingest.knowledge.nodes import page_node
from vicw_ingest.knowledge.page_graph import ChangedPage
from vicw_ingest.knowledge.pages import KnowledgePage
from vicw_ingest.patch.bases import Merged, keep_hashes, with_bases
from vicw_ingest.plan.builder import GraphBuilder, PlannedGraph
from vicw_ingest.plan.drafts import ItemDraft, PassageCutter, draft_items, event_time
from vicw_ingest.plan.flows import infer_flows
from vicw_ingest.telemetry import ingesting
from vicw_ingest.versions.restore import latest_versions
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.model.triggers import PROTECTED_TIERS, TIERS
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import context_uid, item_uid
from vicw_shared.wire.ingest import IngestRequest, Tier


@dataclass(frozen=True, slots=True)
class PlanRules:
    """Rules of planning: the pause that ends a chat's session, and edges that make a hub."""

    registry: EdgeRegistry
    session_pause: timedelta = timedelta(0)
    hub_edges: int = 2000


@dataclass(frozen=True, slots=True)
class PlanInput:
    """A checked request, and what was found in it: extractions, pages and duplicates, by item index.

    ``cutter`` has cut the texts, as far as what was read without the lock still holds.
    """

    tenant: str
    merged: Merged
    now: datetime
    extractions: Mapping[int, TextExtraction]
    pages: Mapping[int, KnowledgePage]
    duplicates: Duplicates
    cutter: PassageCutter

    @property
    def request(self) -> IngestRequest:
        """The request; all of its items are whole."""
        return self.merged.request


@dataclass(frozen=True, slots=True)
class PlannedItems:
    """All ``drafts`` of a request, the ``nodes`` of the new ones by index, and the ``latest`` stored versions by id."""

    drafts: Sequence[ItemDraft]
    nodes: Mapping[int, Node]
    latest: Mapping[str, Node]

    @property
    def replaced(self) -> list[tuple[Node, Node]]:
        """The stored and the new version of each item that has both."""
        new = {draft.item.id or "": self.nodes[draft.index] for draft in self.drafts if draft.index in self.nodes}
        return [(self.latest[key], node) for key, node in new.items() if key in self.latest]


@dataclass(frozen=True, slots=True)
class PlannedPages:
    """New and changed pages of knowledge folders, and the ids of the items that were pages and are none now."""

    changed: Sequence[ChangedPage]
    former: Sequence[str]


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Everything that a request writes. ``restored`` are the consolidated items that were restored for it."""

    root: Node
    domain: str
    items: PlannedItems
    graph: PlannedGraph
    pages: PlannedPages
    duplicate_links: DuplicateLinks
    restored: RestoredItems


async def plan_write(given: PlanInput, rules: PlanRules, transaction: GraphTransaction) -> WritePlan:
    """Return the plan.

    Raises InvalidInputError for names and relations that the graph contradicts, ChangedMeanwhileError if an item is not
    any more as it was when it was merged.
    """
    stored_root = await _stored_root(given, transaction)
    domain = domain_of(given.request, stored_root)
    root = stored_root or _new_root(given, domain)
    links = await DuplicateLinks.of(given.duplicates, transaction)
    with ingesting("draft"):
        drafts = keep_hashes(
            draft_items(given.request, domain, given.cutter, given.now, links.remainders), given.merged.bases
        )
    hashes = {draft.item.id: draft.content_hash for draft in drafts if draft.item.id is not None}
    latest, restored = await latest_versions(transaction, rules.registry, given.now, hashes)
    if given.merged.bases:
        latest, restored = await with_bases(
            given.merged.bases, drafts, latest, restored, transaction, rules.registry, given.now
        )
    links = (await links.after_restore(restored.items, transaction)).classify(drafts, latest)
    fresh = links.drafts_to_store(draft for draft in drafts if not _unchanged(draft, latest))
    if rules.session_pause:
        fresh = await infer_flows(transaction, fresh, latest, given.now, rules.session_pause)
    nodes = await _item_nodes(given, transaction, fresh, latest)
    with ingesting("plan"):
        builder = GraphBuilder(transaction, rules.registry, given.now, root, rules.hub_edges)
        extractions = {n: found for n, found in given.extractions.items() if n not in links.without_text}
        pages = [page_node(page, nodes[n], given.now) for n, page in given.pages.items() if n in nodes]
        graph = await builder.build(fresh, nodes, latest, extractions, pages)
    if stored_root is None:
        graph = replace(graph, nodes=[root, *graph.nodes])
    items = PlannedItems(drafts, nodes, latest)
    return WritePlan(root, domain, items, graph, _pages(given, items, graph), links, restored)


def _pages(given: PlanInput, items: PlannedItems, graph: PlannedGraph) -> PlannedPages:
    changed = [
        ChangedPage(page, items.nodes[n], [node for node in graph.created[n] if node.label is Label.CHUNK])
        for n, page in sorted(given.pages.items())
        if n in items.nodes
    ]
    replaced = [draft for draft in items.drafts if draft.index in items.nodes and draft.item.id in items.latest]
    return PlannedPages(changed, [draft.item.id or "" for draft in replaced if draft.index not in given.pages])


async def _stored_root(given: PlanInput, transaction: GraphTransaction) -> Node | None:
    uid = context_uid(given.tenant, given.request.context)
    return (await transaction.nodes([uid])).get(uid)


def _new_root(given: PlanInput, domain: str) -> Node:
    return Node(
        uid=context_uid(given.tenant, given.request.context),
        label=Label.CONTEXT,
        tenant=given.tenant,
        context=given.request.context,
        name=given.request.context,
        subtype="context",
        domain=domain,
        created_at=given.now,
    )


def _unchanged(draft: ItemDraft, latest: Mapping[str, Node]) -> bool:
    stored = latest.get(draft.item.id) if draft.item.id is not None else None
    return stored is not None and stored.retired_at is None and stored.content_hash == draft.content_hash


async def _item_nodes(
    given: PlanInput, transaction: GraphTransaction, drafts: Sequence[ItemDraft], latest: Mapping[str, Node]
) -> dict[int, Node]:
    """Return the item node of each draft by index, with its version, time and steps."""
    counters = await transaction.counters(sorted({d.flow_id for d in drafts if d.flow_id is not None}))
    arrival, steps = counters.arrival, dict(counters.flow_steps)
    nodes: dict[int, Node] = {}
    for draft in drafts:
        previous = latest.get(draft.item.id) if draft.item.id is not None else None
        node = _item_node(given, draft, previous)
        if node.label is Label.EVENT:
            live_version = previous if previous is not None and previous.retired_at is None else None
            if live_version is not None and live_version.arrival is not None:
                node = replace(node, arrival=live_version.arrival)
            else:
                arrival += 1
                node = replace(node, arrival=arrival)
            if live_version is not None and live_version.flow_step is not None and live_version.flow_id == node.flow_id:
                node = replace(node, flow_step=live_version.flow_step)
            elif node.flow_id is not None:
                steps[node.flow_id] += 1
                node = replace(node, flow_step=steps[node.flow_id])
        nodes[draft.index] = node
    return nodes


def _item_node(given: PlanInput, draft: ItemDraft, previous: Node | None) -> Node:
    item = draft.item
    version = previous.version + 1 if previous is not None else 1
    timestamp, inferred = event_time(draft, previous.timestamp if previous else None, given.now)
    return Node(
        uid=item_uid(given.tenant, given.request.context, draft.key, version),
        label=draft.label,
        tenant=given.tenant,
        context=given.request.context,
        name=draft.name,
        title=item.name,
        subtype=draft.subtype,
        domain=draft.domain,
        created_at=given.now,
        speaker=item.speaker,
        source=item.source,
        source_id=item.id,
        version=version,
        content_hash=draft.content_hash,
        text_key=draft.text_key,
        tags=item.tags,
        bucket=item.bucket,
        metadata=item.metadata,
        timestamp=timestamp,
        timestamp_inferred=inferred,
        expires_at=item.expires_at,
        flow_id=draft.flow_id,
        own_step=item.flow_step,
        sensitivity=item.sensitivity,
        portable=item.portable,
        importance=TIERS[item.importance] if isinstance(item.importance, Tier) else item.importance,
        protected=item.protected or item.importance in PROTECTED_TIERS,
        trigger_phrases=item.trigger_phrases,
    )
