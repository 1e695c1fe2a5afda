"""Graph store port: the source of truth.

A write is a function that runs inside one transaction under the context's lock, so that every engine can retry it as a
whole. The logic of chains and versions is outside the engines; an engine only looks up and puts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports.archive import GraphArchive
from vicw_shared.ports.audit import GraphAudit
from vicw_shared.ports.embedder import ModelChange, ModelIdentity, Models
from vicw_shared.ports.erasure import Erasures
from vicw_shared.ports.item_list import ItemListing
from vicw_shared.ports.items import ItemIndex, Uses
from vicw_shared.ports.names import NameIndex
from vicw_shared.ports.outbox import Outbox
from vicw_shared.ports.pending_extractions import PendingExtractions
from vicw_shared.ports.scan import Scans
from vicw_shared.ports.scope import Scope
from vicw_shared.ports.sleep import SleepLog
from vicw_shared.ports.term_counts import TermStatistics
from vicw_shared.ports.transaction import Direction, GraphTransaction, Receipt
from vicw_shared.ports.webhooks import Webhooks
from vicw_shared.ports.words import StoredWords

Spread = tuple[str, Direction]
"""An edge type and the direction in which it is followed."""


class Neighbour(NamedTuple):
    """One edge seen from ``origin``, with the node at its other end."""

    origin: str
    edge: Edge
    node: Node


class WeightedNeighbour(NamedTuple):
    """One edge seen from ``origin``, with those fields of the node at its other end that spreading needs.

    ``is_item`` separates callers' items from nodes derived from them; an item that is not ``is_live`` was replaced or
    taken back. No field may be shown before the node has passed the visibility check.
    """

    origin: str
    uid: str
    label: Label
    name: str
    is_item: bool
    weight: float
    is_live: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRef:
    """The fields of an item that ranking needs, so that hundreds of candidates are read cheaply.

    For a consolidated item ``uid`` is that of its Macro-Event, which replaces it in the graph, and ``part`` is its own.
    """

    uid: str
    label: Label
    context: str
    domain: str
    created_at: datetime
    speaker: str | None = None
    importance: float | None = None
    timestamp: datetime | None = None
    retired_at: datetime | None = None
    valid_to: datetime | None = None
    superseded_at: datetime | None = None
    expires_at: datetime | None = None
    is_macro: bool = False
    part: str | None = None

    @property
    def key(self) -> str:
        """Unique key of the item, consolidated or not."""
        return self.part or self.uid

    @classmethod
    def of(cls, node: Node) -> ItemRef:
        """Build the reference from a node that is already read."""
        return cls(**{name: getattr(node, name) for name in cls.__slots__ if name != "part"})


class TextHit(NamedTuple):
    """A Chunk found by its words; ``score`` > 0, higher is better, comparable within one answer only."""

    uid: str
    score: float


class GraphStore(Scans, NameIndex, ItemIndex, ItemListing, TermStatistics, Protocol):
    """The Core-5 graph of all tenants."""

    async def write[T](self, tenant: str, context: str, work: Callable[[GraphTransaction], Awaitable[T]]) -> T:
        """Run ``work`` in one transaction under the context's lock; it may run again after a conflict.

        When ``work`` returns, this commits, and returns once the commit is durable; when it raises, all is rolled back.
        SQLite has one writer at a time, for all contexts; Neo4j locks a record of the context.

        Raises StorageFullError (nothing was stored) or UnavailableError.
        """
        ...

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        """Return the tenant's nodes among ``uids``. Unknown uids are left out."""
        ...

    async def texts(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        """Return the texts of the tenant's nodes among ``uids`` that have one."""
        ...

    async def owners(self, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
        """Return the item, consolidated or not (``ItemRef.part``), that each Chunk proves. Unknown uids are left out.

        The speaker and time of a consolidated item come from its passage.
        """
        ...

    async def expand(
        self, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int, *, among: int | None = None
    ) -> list[Neighbour]:
        """Follow ``spreads`` one hop from ``uids``: at most ``limit`` edges per node and spread.

        Edges come spread by spread, the heaviest first in each. An unknown type yields none. A store without an index
        by weight reads at most ``among`` edges per node and spread (at least ``limit``; None: all).
        """
        ...

    async def weighted_neighbours(
        self, tenant: str, uids: Sequence[str], spread: Spread, limit: int, *, among: int | None = None
    ) -> list[WeightedNeighbour]:
        """Follow one spread as ``expand`` does, but read only few fields of each neighbour: for thousands of edges."""
        ...

    async def contexts(self, tenant: str) -> list[Node]:
        """Return the tenant's Context roots, by name."""
        ...

    async def find(self, scope: Scope, text: str, limit: int) -> list[TextHit]:
        """Return the Chunks with a text, or an item's names, tags and bucket (double weight), that best match ``text``.

        ``text`` is searched as plain words; nothing in it is query syntax. At most one hit per Chunk, best first.
        """
        ...

    async def close(self) -> None:
        """Release the engine. Safe to call twice."""
        ...


class StoreRecord(Protocol):
    """A store's metadata and its receipts."""

    async def store_id(self) -> str:
        """Return the id that the store got at creation: 32 hexadecimal digits."""
        ...

    async def models(self) -> Models:
        """Return the model, the change in progress and the rebuilding mark, read at one moment."""
        ...

    async def set_model(
        self, identity: ModelIdentity, change: ModelChange | None = None, *, holder: str | None = None
    ) -> bool:
        """Store the model and the change in progress (None: none) in one step.

        A different model has a different index, so the mark of a lost index is cleared. With a ``holder`` of the model
        change lock, the write succeeds only while no other holder has the lock; returns False if one has.
        """
        ...

    async def mark_rebuilding(self, since: datetime) -> None:
        """Mark the index of the model in use as incomplete, replacing an earlier mark."""
        ...

    async def clear_rebuilding(self, since: datetime) -> bool:
        """Clear the mark if it equals ``since``, to the microsecond; return whether it did."""
        ...

    async def lock_model_change(self, holder: str, *, seconds: float) -> bool:
        """Acquire or renew the model change lock; return False while another ``holder`` has it.

        It expires after ``seconds``; 0 releases it.
        """
        ...

    async def receipt(self, tenant: str, key: str) -> Receipt | None:
        """Return the receipt stored under ``key``, or None."""
        ...

    async def recent_receipts(self, tenant: str, prefix: str, since: datetime, *, limit: int) -> list[Receipt]:
        """Return up to ``limit`` receipts of a tenant, by a prefix of their keys, created since an instant."""
        ...

    async def forget_receipts(self, before: datetime, *, limit: int) -> int:
        """Remove receipts of all tenants created before an instant, ``limit`` at most; return how many."""
        ...


class Store(GraphStore, Protocol):
    """A graph and its parts. A use case that needs one part takes that part only."""

    @property
    def record(self) -> StoreRecord:
        """The store's metadata and receipts."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Pending writes of the vector store."""
        ...

    @property
    def pending_extractions(self) -> PendingExtractions:
        """Items pending extraction by a language model."""
        ...

    @property
    def audit(self) -> GraphAudit:
        """Read operations of consistency checks."""
        ...

    @property
    def archive(self) -> GraphArchive:
        """Read operations of an export."""
        ...

    @property
    def log(self) -> SleepLog:
        """Log and progress of the sleep cycle."""
        ...

    @property
    def erasures(self) -> Erasures:
        """Records of erasures in progress."""
        ...

    @property
    def uses(self) -> Uses:
        """Usage counts of items."""
        ...

    @property
    def words(self) -> StoredWords:
        """The version of the words of the full text, and their conversion."""
        ...

    @property
    def webhooks(self) -> Webhooks:
        """Receivers of events, and what they have yet to take."""
        ...
