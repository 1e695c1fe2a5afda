"""Commit of one request in one graph transaction: versions, steps, chains, nodes, edges.

If the engine retries the transaction, everything here runs again from the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from vicw_core.graph.chains import Chains
from vicw_core.graph.edge_factory import EdgeFactory
from vicw_ingest.dedup.links import DuplicateLinks
from vicw_ingest.dedup.model import Duplicates
from vicw_ingest.knowledge.nodes import page_node
from vicw_ingest.knowledge.page_graph import ChangedPage, PageGraphWriter
from vicw_ingest.knowledge.pages import KnowledgePage
from vicw_ingest.plan.builder import WritePlan, WritePlanBuilder
from vicw_ingest.plan.caller_extraction import item_ends
from vicw_ingest.plan.drafts import ItemDraft, draft_items, event_time, infer_domain
from vicw_ingest.plan.flows import infer_flows
from vicw_ingest.response.outcomes import Links, StoredItems
from vicw_ingest.secrets.request_scan import Masked
from vicw_ingest.versions.history import History
from vicw_ingest.versions.restore import latest_versions, restore_before
from vicw_ingest.versions.retirement import Retirement
from vicw_ingest.versions.supersession import Supersession
from vicw_shared.domains import canonical
from vicw_shared.errors import StateConflictError
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.model.triggers import PROTECTED_TIERS, TIERS
from vicw_shared.ports import GraphTransaction, Receipt
from vicw_shared.telemetry.stages import Stages
from vicw_shared.uids import context_uid, item_uid
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, Tier

ingesting = Stages(
    "ingest", "Time of a stage of a write request; draft, plan, chain, store and supersede are parts of commit"
)
_RECEIPT_BATCH = 20
"""Receipts deleted per request: more than a request adds, and few enough for its transaction after any long pause."""


@dataclass(frozen=True, slots=True)
class Command:
    """A validated request of a tenant with its extractions, masked secrets, pages and duplicates, by item index.

    ``pending`` holds the indexes of items that a language model extracts later.
    ``receipt_key`` and ``fingerprint`` make the request idempotent. ``session_pause`` ends a chat's session.
    A node that the rules know by its form alone gets no more links once it has ``hub_edges`` edges.
    """

    tenant: str
    request: IngestRequest
    now: datetime
    chunk_chars: int
    registry: EdgeRegistry
    fingerprint: str
    receipt_key: str | None = None
    job: str | None = None
    receipt_hours: float = 24.0
    extractions: Mapping[int, TextExtraction] = field(default_factory=dict)
    pending: frozenset[int] = frozenset()
    session_pause: timedelta = timedelta(0)
    hub_edges: int = 2000
    masked: Masked = field(default_factory=dict)
    pages: Mapping[int, KnowledgePage] = field(default_factory=dict)
    duplicates: Duplicates = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Committed:
    """Response, and the item nodes whose points must be refreshed: new, retired, or described by a new edge.

    ``obsolete_points`` no longer belong to any node.
    """

    response: IngestResponse
    touched: tuple[str, ...]
    obsolete_points: tuple[str, ...] = ()


async def commit(command: Command, transaction: GraphTransaction) -> Committed:
    """Write the request's items and return their outcome. A repeated request returns its first outcome.

    Raises StateConflictError for an Idempotency-Key that belongs to another request.
    """
    if command.receipt_key is not None:
        receipt = await transaction.receipt(command.receipt_key)
        if receipt is not None:
            response = _replay(receipt, command)
            return Committed(response, tuple(item.uid for item in response.items))
    root = await _find_or_create_root(command, transaction)
    domain = canonical(command.request.domain) if command.request.domain is not None else root.domain
    duplicate_links = await DuplicateLinks.of(command.duplicates, transaction)
    with ingesting("draft"):
        drafts = draft_items(command.request, domain, command.chunk_chars, duplicate_links.remainders)
    hashes = {draft.item.id: draft.content_hash for draft in drafts if draft.item.id is not None}
    latest, restored = await latest_versions(transaction, command.registry, command.now, hashes)
    duplicate_links = (await duplicate_links.after_restore(restored.items, transaction)).classify(drafts, latest)
    fresh = duplicate_links.drafts_to_store(draft for draft in drafts if not _unchanged(draft, latest))
    if command.session_pause:
        fresh = await infer_flows(transaction, fresh, latest, command.now, command.session_pause)
    nodes = await _item_nodes(command, transaction, fresh, latest)
    plan, links = await _write(command, transaction, fresh, nodes, latest, root, duplicate_links)
    between = await restore_before(transaction, command.registry, command.now, list(nodes.values()), plan.edges)
    pending = command.pending - duplicate_links.without_text
    await transaction.queue_extractions([nodes[index].uid for index in sorted(pending & nodes.keys())])
    stored = StoredItems(nodes, latest, plan.created, links, pending, command.masked, duplicate_links)
    response = IngestResponse(
        context=root.name,
        context_uid=root.uid,
        domain=domain,
        job=command.job,
        items=await stored.outcomes(drafts, transaction),
    )
    await put_response_receipt(command, transaction, response)
    touched = {item.uid for item in response.items} | {node.uid for node in latest.values()} | plan.to_refresh
    touched |= {item.uid for item in (*restored.items, *between.items)}
    return Committed(response, tuple(touched), (*restored.deleted_points, *between.deleted_points))


def _replay(receipt: Receipt, command: Command) -> IngestResponse:
    if receipt.fingerprint != command.fingerprint:
        raise StateConflictError(
            "Idempotency-Key: was used for another request. Send a new key with a new request, the old key with the old"
        )
    return IngestResponse.model_validate(receipt.body)


async def put_response_receipt(command: Command, transaction: GraphTransaction, response: IngestResponse) -> None:
    """Store the response under the request's Idempotency-Key and job, if any, and delete some expired receipts."""
    keys = [key for key in (command.receipt_key, f"job:{command.job}" if command.job else None) if key is not None]
    if not keys:
        return
    body = response.model_dump(mode="json")
    for key in keys:
        await transaction.put_receipt(Receipt(key, command.fingerprint, command.now, body))
    expired_before = command.now - timedelta(hours=command.receipt_hours)
    await transaction.forget_receipts(expired_before, limit=_RECEIPT_BATCH)


async def _find_or_create_root(command: Command, transaction: GraphTransaction) -> Node:
    uid = context_uid(command.tenant, command.request.context)
    stored = (await transaction.nodes([uid])).get(uid)
    if stored is not None:
        return stored
    root = Node(
        uid=uid,
        label=Label.CONTEXT,
        tenant=command.tenant,
        context=command.request.context,
        name=command.request.context,
        subtype="context",
        domain=infer_domain(command.request),
        created_at=command.now,
    )
    await transaction.put_nodes([root])
    return root


def _unchanged(draft: ItemDraft, latest: Mapping[str, Node]) -> bool:
    stored = latest.get(draft.item.id) if draft.item.id is not None else None
    return stored is not None and stored.retired_at is None and stored.content_hash == draft.content_hash


async def _item_nodes(
    command: Command, transaction: GraphTransaction, drafts: Sequence[ItemDraft], latest: Mapping[str, Node]
) -> dict[int, Node]:
    """Return the item node of each draft by index, with its version, time and steps."""
    counters = await transaction.counters(sorted({d.flow_id for d in drafts if d.flow_id is not None}))
    arrival, steps = counters.arrival, dict(counters.flow_steps)
    nodes: dict[int, Node] = {}
    for draft in drafts:
        previous = latest.get(draft.item.id) if draft.item.id is not None else None
        node = _item_node(command, draft, previous)
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


def _item_node(command: Command, draft: ItemDraft, previous: Node | None) -> Node:
    item = draft.item
    version = previous.version + 1 if previous is not None else 1
    timestamp, inferred = event_time(draft, previous.timestamp if previous else None, command.now)
    return Node(
        uid=item_uid(command.tenant, command.request.context, draft.key, version),
        label=draft.label,
        tenant=command.tenant,
        context=command.request.context,
        name=draft.name,
        title=item.name,
        subtype=draft.subtype,
        domain=draft.domain,
        created_at=command.now,
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


async def _write(
    command: Command,
    transaction: GraphTransaction,
    drafts: Sequence[ItemDraft],
    nodes: Mapping[int, Node],
    latest: Mapping[str, Node],
    root: Node,
    duplicate_links: DuplicateLinks,
) -> tuple[WritePlan, Links]:
    """Retire old versions, place Events in their chains, store nodes and edges.

    Returns the executed plan, and the unresolved links of pages by the uids of the pages' items.
    """
    builder = WritePlanBuilder(transaction, command.registry, command.now, root, command.hub_edges)
    builder.add_pages([page_node(page, nodes[n], command.now) for n, page in command.pages.items() if n in nodes])
    with ingesting("plan"):
        ends = await item_ends(transaction, drafts, nodes, latest)
        extractions = {
            index: extraction
            for index, extraction in command.extractions.items()
            if index not in duplicate_links.without_text
        }
        plan = await builder.plan(drafts, nodes, ends, extractions)
    pairs = [(latest[d.item.id], nodes[d.index]) for d in drafts if d.item.id is not None and d.item.id in latest]
    chains = Chains(transaction, command.registry, command.now)
    retirement = Retirement(transaction, command.registry, command.now, chains)
    with ingesting("chain"):
        carried, retired = await History(transaction, command.registry, command.now, retirement).replace(pairs)
        chain_edges = await chains.place([node for node in nodes.values() if node.label is Label.EVENT])
    with ingesting("store"):
        await transaction.put_nodes(plan.nodes)
        plan.edges += [
            *chain_edges,
            *carried,
            *duplicate_links.edges(nodes, EdgeFactory(command.registry, command.now)),
        ]
        await transaction.put_edges(plan.edges)
        links = await _write_pages(command, transaction, drafts, nodes, latest, plan, root)
        stored_nodes, stored_edges = {node.uid for node in plan.nodes}, {edge.id for edge in plan.edges}
        await retirement.retire_unsupported(retired, root.context, stored_nodes=stored_nodes, stored_edges=stored_edges)
    with ingesting("supersede"):
        slots = {node.uid for node in plan.nodes if node.subtype == ATTRIBUTE} | retired.neighbours
        plan.to_refresh |= await Supersession(transaction, command.registry, command.now).apply(slots)
    plan.to_refresh |= {edge.source for edge in (*plan.edges, *retired.dropped) if edge.type in IN_PAYLOAD}
    plan.to_refresh |= retired.heirs
    return plan, links


async def _write_pages(
    command: Command,
    transaction: GraphTransaction,
    drafts: Sequence[ItemDraft],
    nodes: Mapping[int, Node],
    latest: Mapping[str, Node],
    plan: WritePlan,
    root: Node,
) -> Links:
    """Store pages in their folders. Items that are no longer pages leave their folders."""
    changed = [
        ChangedPage(command.pages[n], nodes[n], [node for node in plan.created[n] if node.label is Label.CHUNK])
        for n in sorted(command.pages.keys() & nodes.keys())
    ]
    no_pages = [d.item.id for d in drafts if d.index not in command.pages and d.item.id in latest]
    if not changed and not no_pages:
        return {}
    writer = PageGraphWriter(transaction, command.registry, command.now, root)
    return await writer.write(changed, [item for item in no_pages if item is not None])
