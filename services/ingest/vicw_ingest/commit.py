"""Commit stage: write a plan into the transaction that made it.

In this order:

1. earlier versions are retired, and the chains are cut where new Events belong
2. nodes, and with each Chunk its outbox entry; the counters of the context and its flows rise with new Events
3. edges, those of the chains among them
4. pages join their folders; what lost its last support with an earlier version is retired
5. claims about the same attribute supersede each other
6. Macro-Events that a late Event splits are restored
7. the items that a language model extracts later are queued
8. the response is made, and kept as a receipt if the request has an Idempotency-Key or is a job

Nothing is durable yet at the end of ``commit``: ``GraphStore.write``, which runs it, commits the transaction when it
returns. If the engine retries the transaction, planning and everything here run again from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from vicw_core.graph.chains import Chains
from vicw_core.graph.edge_factory import EdgeFactory
from vicw_ingest.knowledge.page_graph import PageGraphWriter
from vicw_ingest.plan.service import WritePlan
from vicw_ingest.response.outcomes import Links, outcomes
from vicw_ingest.secrets.request_scan import Masked
from vicw_ingest.telemetry import ingesting
from vicw_ingest.versions.history import History
from vicw_ingest.versions.restore import restore_chain_around
from vicw_ingest.versions.retirement import Retired, Retirement
from vicw_ingest.versions.supersession import Supersession, stated_edges
from vicw_shared.errors import StateConflictError
from vicw_shared.model import Edge, EdgeRegistry, Label
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.ports import GraphTransaction, Receipt
from vicw_shared.wire.ingest import IngestResponse

_RECEIPT_BATCH = 20
"""Receipts deleted per request: more than a request adds, and few enough for its transaction after any long pause."""


@dataclass(frozen=True, slots=True)
class ReceiptKeys:
    """How a request's response is kept: under its Idempotency-Key (``key``) and its ``job``, for ``hours``."""

    fingerprint: str
    now: datetime
    hours: float
    key: str | None = None
    job: str | None = None

    async def replayed(self, transaction: GraphTransaction) -> Committed | None:
        """Return what an earlier request with the same Idempotency-Key committed, or None.

        Raises StateConflictError for an Idempotency-Key that belongs to another request.
        """
        receipt = await transaction.receipt(f"key:{self.key}") if self.key is not None else None
        if receipt is None:
            return None
        if receipt.fingerprint != self.fingerprint:
            raise StateConflictError(
                "Idempotency-Key: was used for another request. Send a new key with a new request, the old key with "
                "the old"
            )
        response = IngestResponse.model_validate(receipt.body)
        return Committed(response, tuple(item.uid for item in response.items))

    async def put(self, transaction: GraphTransaction, response: IngestResponse) -> None:
        """Store the response, and delete some expired receipts. Without a key and a job, nothing happens."""
        keys = [f"key:{self.key}"] if self.key is not None else []
        keys += [f"job:{self.job}"] if self.job is not None else []
        if not keys:
            return
        body = response.model_dump(mode="json")
        for key in keys:
            await transaction.put_receipt(Receipt(key, self.fingerprint, self.now, body))
        await transaction.forget_receipts(self.now - timedelta(hours=self.hours), limit=_RECEIPT_BATCH)


@dataclass(frozen=True, slots=True)
class Committed:
    """Response, and the item nodes whose points must be refreshed: new, retired, or described by a new edge.

    ``obsolete_points`` no longer belong to any node.
    """

    response: IngestResponse
    touched: tuple[str, ...]
    obsolete_points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stored:
    """What was stored beside the plan: unresolved links of pages, and the items whose payloads must be refreshed."""

    edges: Sequence[Edge]
    links: Links = field(default_factory=dict)
    to_refresh: frozenset[str] = frozenset()


async def commit(
    plan: WritePlan,
    receipts: ReceiptKeys,
    transaction: GraphTransaction,
    registry: EdgeRegistry,
    *,
    masked: Masked,
    pending: frozenset[int],
) -> Committed:
    """Write a plan, in the order above. The caller's ``GraphStore.write`` makes it durable when this returns.

    ``masked`` are the secrets that were masked, ``pending`` the items that a model extracts later.
    """
    stored = await _store(plan, transaction, registry, receipts.now)
    nodes = plan.items.nodes
    between = await restore_chain_around(transaction, registry, receipts.now, list(nodes.values()), stored.edges)
    pending &= nodes.keys() - plan.duplicate_links.without_text
    if pending:
        await transaction.queue_extractions([nodes[index].uid for index in sorted(pending)])
    response = IngestResponse(
        context=plan.root.name,
        context_uid=plan.root.uid,
        domain=plan.domain,
        job=receipts.job,
        items=await outcomes(plan, transaction, links=stored.links, masked=masked, pending=pending),
    )
    await receipts.put(transaction, response)
    restored = (*plan.restored.items, *between.items)
    touched = {item.uid for item in response.items} | {node.uid for node in plan.items.latest.values()}
    touched |= stored.to_refresh | {item.uid for item in restored}
    return Committed(response, tuple(touched), (*plan.restored.deleted_points, *between.deleted_points))


async def _store(plan: WritePlan, transaction: GraphTransaction, registry: EdgeRegistry, now: datetime) -> _Stored:
    replaced, retired, carried = plan.items.replaced, Retired(), list[Edge]()
    with ingesting("chain"):
        if replaced:
            carried, retired = await History(transaction, registry, now).replace(replaced)
        events = [node for node in plan.items.nodes.values() if node.label is Label.EVENT]
        chain_edges = await Chains(transaction, registry, now).place(events) if events else []
    nodes = plan.graph.nodes
    edges = [*plan.graph.edges, *chain_edges, *carried]
    edges += plan.duplicate_links.edges(plan.items.nodes, EdgeFactory(registry, now))
    with ingesting("store"):
        await transaction.put_nodes(nodes)  # queues the points of Chunks in the outbox, and raises the counters
        await transaction.put_edges(edges)  # queues the payloads of an item's Chunks for TAGGED and ABOUT
        links: Links = {}
        if plan.pages.changed or plan.pages.former:
            pages = PageGraphWriter(transaction, registry, now, plan.root)
            links = await pages.write(plan.pages.changed, plan.pages.former)
        if retired.neighbours:
            uids, ids = {node.uid for node in nodes}, {edge.id for edge in edges}
            await Retirement(transaction, registry, now).retire_unsupported(
                retired, plan.root.context, stored_nodes=uids, stored_edges=ids
            )
    to_refresh = {edge.source for edge in (*edges, *retired.dropped) if edge.type in IN_PAYLOAD} | retired.heirs
    with ingesting("supersede"):
        slots = {node.uid for node in nodes if node.subtype == ATTRIBUTE} | retired.neighbours
        supersession = Supersession(transaction, registry, now)
        if slots:
            to_refresh |= await supersession.apply(slots)
        if replaced_items := {edge.target for edge in stated_edges(carried) if edge.type == "SUPERSEDES"}:
            to_refresh |= await supersession.date_items((await transaction.nodes(sorted(replaced_items))).values())
    return _Stored(edges, links, frozenset(to_refresh))
