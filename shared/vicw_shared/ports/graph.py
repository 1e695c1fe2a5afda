"""The port to the graph: the source of truth.

Writes run as a function inside one transaction that holds the context's lock, so that every engine can
retry it as a whole. The logic of sequences and versions is ours; an engine only looks up and puts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.names import MOST_NAMESAKES
from vicw_shared.ports.change import ModelChange, Models
from vicw_shared.ports.embedder import ModelIdentity
from vicw_shared.ports.erasing import ErasureNote
from vicw_shared.ports.items import ItemIndex
from vicw_shared.ports.names import NameIndex
from vicw_shared.ports.scope import Scope
from vicw_shared.ports.sleep import Step


class Direction(StrEnum):
    """Which way an edge is followed."""

    OUT = "out"
    IN = "in"


Spread = tuple[str, Direction]
"""An edge type and the way it is followed."""


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
class Neighbour:
    """One edge seen from ``origin``, with the node at its other end."""

    origin: str
    edge: Edge
    node: Node


@dataclass(frozen=True, slots=True)
class Lead:
    """One edge seen from ``origin``, with the little of the node at its other end that a spread goes by.

    ``is_item`` tells a caller's item from what was made of one. Nothing of it may be shown before the node was judged.
    """

    origin: str
    uid: str
    label: Label
    name: str
    is_item: bool
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRef:
    """What ranking needs of an item: no more is read of hundreds of candidates.

    Of a folded item ``uid`` is its Macro-Event's, which has its place in the graph, and ``part`` its own.
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
    expires_at: datetime | None = None
    is_macro: bool = False
    part: str | None = None

    @property
    def key(self) -> str:
        """What tells it from every other item, folded or not."""
        return self.part or self.uid

    @classmethod
    def of(cls, node: Node) -> ItemRef:
        """Return what ranking needs of a node that is read already."""
        return cls(**{name: getattr(node, name) for name in cls.__slots__ if name != "part"})


@dataclass(frozen=True, slots=True)
class TextHit:
    """A Chunk found by its words; ``score`` > 0, higher is better, comparable inside one answer only."""

    uid: str
    score: float


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

    async def named(
        self, names: Sequence[str], *, word: bool = False, limit: int = MOST_NAMESAKES
    ) -> dict[str, list[Node]]:
        """Return the context's live named things that are, or once were, called each of these folded ``names``.

        With ``word``: those of whose name it is one word, as "ana" is of "Ana Souza" (see ``model.names``). Whatever
        their subtype and whether merged or not; at most ``limit`` a name, which of more is the engine's choice.
        A name that nothing has is left out. What this transaction has put counts.
        """
        ...

    async def degrees(self, uids: Sequence[str]) -> dict[str, int]:
        """Return how many edges each of these nodes has, either way, BELONGS_TO and MERGED_INTO aside."""
        ...

    async def told_by(self, items: Sequence[str]) -> list[Edge]:
        """Return the edges that the extractions of these items (uids) told of: those whose property ``item`` is one."""
        ...

    async def folded(self, source_ids: Sequence[str]) -> dict[str, Node]:
        """Return, of each of the context's items with these ids that a Macro-Event stands for, the first passage.

        Of several versions that of the latest. It keeps what its item was (``folding.ledger``).
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

    async def log_step(self, step: Step) -> None:
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

    async def mark_import(self, mark: str) -> None:
        """Note how far an import into the store is, in place of what was noted before (``GraphArchive``)."""
        ...

    async def put_unread(self, items: Sequence[str]) -> None:
        """Have these items (uids) read by a language model, as if it had never been tried."""
        ...

    async def take_unread(self, item: str) -> bool:
        """Let nobody read this item any more; return whether it waited for that, dead or not."""
        ...


class GraphTransaction(Receipts, Lookups, Ordering, Puts, Protocol):
    """What a write may do, under its context's lock. Everything it did is rolled back if the work raises."""


class GraphStore(NameIndex, ItemIndex, Protocol):
    """The Core-5 graph of all tenants."""

    async def write[T](self, tenant: str, context: str, work: Callable[[GraphTransaction], Awaitable[T]]) -> T:
        """Run ``work`` in one transaction under the context's lock; it may run again after a conflict.

        Raises StorageFullError (nothing was stored) or UnavailableError.
        """
        ...

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        """Return the tenant's nodes that exist among ``uids``."""
        ...

    async def texts(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        """Return the texts of the nodes that exist and have one."""
        ...

    async def owners(self, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
        """Return the item that each Chunk proves, be it folded (``ItemRef.part``). Unknown uids are left out.

        Of what was said when, and by whom, the passage of a folded item knows.
        """
        ...

    async def expand(
        self, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int, *, among: int | None = None
    ) -> list[Neighbour]:
        """Follow ``spreads`` one hop from ``uids``: at most ``limit`` edges a node and spread.

        They come spread by spread, in each the heaviest first. Of an unknown type there are none. With ``among`` a
        store that has none of them in order need not look at all: at so many, or ``limit``, of a node and spread.
        """
        ...

    async def leads(
        self, tenant: str, uids: Sequence[str], spread: Spread, limit: int, *, among: int | None = None
    ) -> list[Lead]:
        """Follow one spread as ``expand`` does, and read no more than where it leads: for thousands of edges."""
        ...

    async def contexts(self, tenant: str) -> list[Node]:
        """Return the tenant's Context roots, by name."""
        ...

    async def find(self, scope: Scope, text: str, limit: int) -> list[TextHit]:
        """Return the Chunks whose text, or whose item's names, tags and bucket (double), best match ``text``.

        Its words are looked for, whatever they are: nothing in it is syntax. At most one hit a Chunk, best first.
        """
        ...

    async def close(self) -> None:
        """Release the engine. Safe to call twice."""
        ...


class StoreRecord(Protocol):
    """What a store knows of itself, and the answers that it remembers."""

    async def store_id(self) -> str:
        """Return the name that the store got when it was made: 32 hexadecimal digits."""
        ...

    async def model(self) -> ModelIdentity | None:
        """Return the identity of the model whose vectors stand beside this graph, or None."""
        ...

    async def models(self) -> Models:
        """Return the model, the change of it that is under way and the mark, as they were at one moment."""
        ...

    async def set_model(
        self, identity: ModelIdentity, change: ModelChange | None = None, *, holder: str | None = None
    ) -> bool:
        """Remember the model and the change that is under way (None: none), in one step.

        Another model than before has another index: the mark of a lost one goes. With a ``holder`` of the right to do
        so: only while no other has taken it; False if one has.
        """
        ...

    async def mark_rebuilding(self, since: datetime) -> None:
        """Remember that the index of the model in use lacks what the graph has, in place of an earlier mark."""
        ...

    async def clear_rebuilding(self, since: datetime) -> bool:
        """Forget the mark if it is this one, to the microsecond; return whether it was."""
        ...

    async def hold_change(self, holder: str, *, seconds: float) -> bool:
        """Take, or renew, the right to change the model; False while another ``holder`` has it.

        It runs out after ``seconds``; 0 gives it back.
        """
        ...

    async def receipt(self, tenant: str, key: str) -> Receipt | None:
        """Return what was remembered under ``key``, or None."""
        ...

    async def forget_receipts(self, before: datetime, *, limit: int) -> int:
        """Remove receipts of all tenants that were created before an instant, ``limit`` at most; return how many."""
        ...
