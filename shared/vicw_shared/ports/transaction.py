"""What a write may do to the graph, inside its one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from vicw_shared.model import Edge, Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.names import MOST_NAMESAKES
from vicw_shared.ports.erasure import ErasureNote
from vicw_shared.ports.sleep import MaintenanceStep
from vicw_shared.ports.uses import Use


class Direction(StrEnum):
    """Which way an edge is followed."""

    OUT = "out"
    IN = "in"


@dataclass(frozen=True, slots=True)
class Counters:
    """The highest numbers given so far (0: none) under the context's lock."""

    arrival: int
    flow_steps: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Gap:
    """A place in a chain: ``count`` consecutive new keys go between two stored nodes (None: an end)."""

    before: str | None
    after: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A remembered answer: of an Idempotency-Key (``key``) or of a job (``key`` is its id)."""

    key: str
    fingerprint: str
    created_at: datetime
    body: Mapping[str, object]


class Receipts(Protocol):
    """Answers that a tenant gets again when it asks again."""

    async def receipt(self, key: str) -> Receipt | None:
        """Return what was remembered under ``key`` for this tenant, or None."""
        ...

    async def remember(self, receipt: Receipt) -> None:
        """Keep a receipt, replacing one of the same key."""
        ...

    async def forget_receipts(self, before: datetime, *, limit: int) -> None:
        """Remove the oldest of this tenant's receipts that were created before an instant, ``limit`` at most."""
        ...


class Lookups(Protocol):
    """What a write needs to know of what is stored."""

    async def nodes(self, uids: Sequence[str]) -> dict[str, Node]:
        """Return the nodes that exist among ``uids`` and belong to the transaction's tenant."""
        ...

    async def items(self, source_ids: Sequence[str]) -> dict[str, Node]:
        """Return the latest version (live or retired) of each of the context's items with these ids."""
        ...

    async def edges(self, uids: Sequence[str], types: Sequence[str], direction: Direction | None = None) -> list[Edge]:
        """Return all edges of these types that touch one of ``uids``, each once; of an unknown type there are none.

        With a ``direction``: only those that lead out of one of them, or into one.
        """
        ...

    async def named(self, names: Sequence[str], *, limit: int = MOST_NAMESAKES) -> dict[str, list[Node]]:
        """Return the context's live named things that are, or once were, called each of these folded ``names``.

        Whatever their subtype and whether merged or not; at most ``limit`` a name, which of more is the engine's
        choice. A name that nothing has is left out. What this transaction has put counts.
        """
        ...

    async def degrees(self, uids: Sequence[str]) -> dict[str, int]:
        """Return how many edges each of these nodes has, either way, BELONGS_TO and MERGED_INTO aside."""
        ...

    async def told_by(self, items: Sequence[str]) -> list[Edge]:
        """Return the edges that the extractions of these items (uids) told of: those whose property ``item`` is one."""
        ...

    async def consolidated(self, source_ids: Sequence[str]) -> dict[str, Node]:
        """Return, of each of the context's items with these ids that a Macro-Event stands for, the first passage.

        Of several versions that of the latest. It keeps what its item was (``consolidation.ledger``).
        """
        ...

    async def isolated(self, uids: Sequence[str]) -> set[str]:
        """Return which of these nodes no edge joins to a node that is not retired, ``UNHOLDING`` ones aside.

        What this transaction has put counts.
        """
        ...


class Ordering(Protocol):
    """Where new Events fall in the context's order. Right only under the context's lock."""

    async def counters(self, flows: Sequence[str]) -> Counters:
        """Return the counters of the context and of these flows."""
        ...

    async def gaps(self, flow: str | None, keys: Sequence[ChainKey]) -> list[Gap]:
        """Say where ascending ``keys`` fit into the stored NEXT chain of ``flow`` or HAPPENED_AFTER chain (None)."""
        ...

    async def latest(self, before: ChainKey, limit: int) -> list[Node]:
        """Return the context's items that stand right before a place in its HAPPENED_AFTER chain, the latest first."""
        ...


class Puts(Protocol):
    """What a write changes."""

    async def put_nodes(self, nodes: Sequence[Node]) -> None:
        """Insert or replace nodes. A Chunk that is not ``indexed`` becomes pending; so does its new payload."""
        ...

    async def put_edges(self, edges: Sequence[Edge]) -> None:
        """Insert edges of registered types; one with a known id keeps its ``created_at`` and ``created_by``.

        Those of a type that a payload repeats (``IN_PAYLOAD``) make the new payload of their source's
        Chunks pending. Raises UnknownTypeError for a type that is not registered, NotFoundError if an end does not
        exist.
        """
        ...

    async def drop_edges(self, edges: Sequence[Edge]) -> None:
        """Remove edges, with the same consequence for payloads. Those that are not there are ignored."""
        ...

    async def drop_nodes(self, uids: Sequence[str]) -> None:
        """Remove nodes with all edges that touch them, and what was to be done for them. Unknown ones are ignored.

        Their points in the vector store are nobody's then: who drops a passage deletes them, or the reconciler does.
        """
        ...

    async def hand_on_uses(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Have each of ``targets`` (uids) been shown as often, and as late, as any of ``sources`` was (``Uses``)."""
        ...

    async def raise_uses(self, uses: Mapping[str, Use]) -> None:
        """Have items (uids) been shown so often, and so late, at least (``Uses``). Unknown ones are ignored."""
        ...

    async def log_step(self, step: MaintenanceStep) -> None:
        """Keep a step of the sleep cycle, in place of one of the same id."""
        ...

    async def raise_counters(self, counters: Counters) -> None:
        """Count on from these numbers, where they are higher than the context's and its flows' own."""
        ...

    async def note_erasure(self, note: ErasureNote) -> None:
        """Keep a part of what is noted of an erasure, in place of one of the same number."""
        ...

    async def drop_receipts(self, keys: Sequence[str]) -> None:
        """Remove the tenant's receipts of these keys, and those that an older program stored without one."""
        ...

    async def drop_steps(self, ids: Sequence[str]) -> None:
        """Remove steps of the sleep cycle from its log."""
        ...

    async def drop_counters(self, flows: Sequence[str], *, arrivals: bool = False) -> None:
        """Have these flows of the context count from 1 again; with ``arrivals`` its items, too.

        Right only where nothing that was counted is left.
        """
        ...

    async def mark_import(self, mark: str | None) -> None:
        """Note how far an import into the store is, in place of what was noted before; None: none is."""
        ...

    async def put_unread(self, items: Sequence[str]) -> None:
        """Have these items (uids) read by a language model, as if it had never been tried."""
        ...

    async def take_unread(self, item: str) -> bool:
        """Let nobody read this item any more; return whether it waited for that, dead or not."""
        ...


class GraphTransaction(Receipts, Lookups, Ordering, Puts, Protocol):
    """What a write may do, under its context's lock. Everything it did is rolled back if the work raises."""
