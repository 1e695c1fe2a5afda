"""Transaction port: the operations of a write inside its graph transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from vicw_shared.model import Edge, Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.names import MAX_NAMESAKES
from vicw_shared.ports.erasure import ErasurePart
from vicw_shared.ports.items import Use
from vicw_shared.ports.sleep import MaintenanceStep


class Direction(StrEnum):
    """Direction in which an edge is followed."""

    OUT = "out"
    IN = "in"


@dataclass(frozen=True, slots=True)
class Counters:
    """The highest numbers assigned so far (0: none) under the context's lock."""

    arrival: int
    flow_steps: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Gap:
    """A place in a chain: ``count`` consecutive new keys belong between two stored nodes (None: an end)."""

    before: str | None
    after: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A stored answer: of an Idempotency-Key (``key``) or of a job (``key`` is its id)."""

    key: str
    fingerprint: str
    created_at: datetime
    body: Mapping[str, object]


class Receipts(Protocol):
    """Stored answers, returned again when a tenant repeats a request."""

    async def receipt(self, key: str) -> Receipt | None:
        """Return the receipt stored under ``key`` for this tenant, or None."""
        ...

    async def put_receipt(self, receipt: Receipt) -> None:
        """Store a receipt, replacing one with the same key."""
        ...

    async def forget_receipts(self, before: datetime, *, limit: int) -> None:
        """Remove the oldest of this tenant's receipts created before an instant, ``limit`` at most."""
        ...


class Lookups(Protocol):
    """Read operations of a write."""

    async def nodes(self, uids: Sequence[str]) -> dict[str, Node]:
        """Return the nodes of the transaction's tenant among ``uids``. Unknown uids are left out."""
        ...

    async def items(self, source_ids: Sequence[str]) -> dict[str, Node]:
        """Return the latest version (live or retired) of each of the context's items with these ids."""
        ...

    async def edges(self, uids: Sequence[str], types: Sequence[str], direction: Direction | None = None) -> list[Edge]:
        """Return all edges of these types that touch one of ``uids``, each once; an unknown type yields none.

        With a ``direction``: only edges that lead out of one of them, or into one.
        """
        ...

    async def named(self, names: Sequence[str], *, limit: int = MAX_NAMESAKES) -> dict[str, list[Node]]:
        """Return the context's live named nodes with each of these case-folded ``names`` as a name or earlier name.

        Includes every subtype, and merged nodes. At most ``limit`` per name; the engine chooses which are left out.
        Names without a match are left out. Nodes that this transaction has put are included.
        """
        ...

    async def degrees(self, uids: Sequence[str]) -> dict[str, int]:
        """Return the number of edges of each of these nodes, in both directions, except the types in UNCOUNTED."""
        ...

    async def edges_from_items(self, items: Sequence[str]) -> list[Edge]:
        """Return the edges extracted from these items: those with one of these uids as property ``item``."""
        ...

    async def consolidated(self, source_ids: Sequence[str]) -> dict[str, Node]:
        """Return the first passage of each of the context's consolidated items with these ids.

        Of several versions it returns that of the latest. The passage keeps its item's fields
        (``consolidation.ledger``).
        """
        ...

    async def isolated(self, uids: Sequence[str]) -> set[str]:
        """Return the nodes without an edge to a node that is not retired, ``WEAK_TYPES`` edges aside.

        Changes that this transaction has put are included.
        """
        ...


class Ordering(Protocol):
    """The place of new Events in the context's order. Correct only under the context's lock."""

    async def counters(self, flows: Sequence[str]) -> Counters:
        """Return the counters of the context and of these flows."""
        ...

    async def gaps(self, flow: str | None, keys: Sequence[ChainKey]) -> list[Gap]:
        """Return where ascending ``keys`` fit into the stored NEXT chain of ``flow`` or HAPPENED_AFTER chain (None)."""
        ...

    async def latest(self, before: ChainKey, limit: int) -> list[Node]:
        """Return the context's last ``limit`` items before a place in its HAPPENED_AFTER chain, the latest first."""
        ...


class Puts(Protocol):
    """Write operations of a transaction."""

    async def put_nodes(self, nodes: Sequence[Node]) -> None:
        """Insert or replace nodes; what the vector store has to follow is queued in the same transaction.

        Each Chunk gets an outbox entry (``Outbox``): of its point if it is not ``indexed`` (UPSERT), else of its
        payload alone (PAYLOAD). A full write that is pending stays one. An Event's ``arrival`` and ``flow_step`` raise
        the counters of the context and its flow (``Ordering.counters``).
        """
        ...

    async def put_edges(self, edges: Sequence[Edge]) -> None:
        """Insert edges of registered types; an edge with a stored id keeps its ``created_at`` and ``created_by``.

        An edge of a type that payloads repeat (``IN_PAYLOAD``, as TAGGED and ABOUT) queues outbox entries for the
        payloads (PAYLOAD) of its source's Chunks, in the same transaction.
        Raises UnknownTypeError for a type that is not registered, MissingRecordError if an end does not exist.
        """
        ...

    async def drop_edges(self, edges: Sequence[Edge]) -> None:
        """Remove edges, with the same effect on payloads as ``put_edges``. Unknown edges are ignored."""
        ...

    async def drop_nodes(self, uids: Sequence[str]) -> None:
        """Remove nodes with all their edges and their pending work. Unknown nodes are ignored.

        Their points in the vector store become orphans, which the caller or the reconciler deletes.
        """
        ...

    async def transfer_uses(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Give each of ``targets`` (uids) the highest use count and latest use of all ``sources`` (``Uses``)."""
        ...

    async def raise_uses(self, uses: Mapping[str, Use]) -> None:
        """Raise the uses of items (uids) to at least these counts and times (``Uses``). Unknown items are ignored."""
        ...

    async def log_step(self, step: MaintenanceStep) -> None:
        """Store a step of the sleep cycle, replacing one with the same id."""
        ...

    async def raise_counters(self, counters: Counters) -> None:
        """Raise the counters of the context and its flows to these numbers, where these are higher."""
        ...

    async def record_erasure(self, note: ErasurePart) -> None:
        """Store a part of the record of an erasure, replacing one with the same number."""
        ...

    async def drop_receipts(self, keys: Sequence[str]) -> None:
        """Remove the tenant's receipts with these keys, and receipts that an older program stored without a key."""
        ...

    async def drop_steps(self, ids: Sequence[str]) -> None:
        """Remove steps of the sleep cycle from its log."""
        ...

    async def drop_counters(self, flows: Sequence[str], *, arrivals: bool = False) -> None:
        """Restart the numbering of these flows of the context at 1; with ``arrivals`` that of its items, too.

        Correct only when no numbered node remains.
        """
        ...

    async def mark_import(self, mark: str | None) -> None:
        """Store the progress mark of an import, replacing an earlier one; None: no import is in progress."""
        ...

    async def queue_extractions(self, items: Sequence[str]) -> None:
        """Queue these items (uids) for extraction by a language model, with no failed tries."""
        ...

    async def dequeue_extraction(self, item: str) -> bool:
        """Remove an item from the pending extractions; return whether it was pending, dead or not."""
        ...


class GraphTransaction(Receipts, Lookups, Ordering, Puts, Protocol):
    """Operations of a write, under its context's lock. All changes are rolled back if the work raises."""
