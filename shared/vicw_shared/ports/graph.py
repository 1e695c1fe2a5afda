"""The port to the graph: the source of truth.

Writes run as a function inside one transaction that holds the context's lock, so that every engine can
retry it as a whole. The logic of sequences and versions is ours; an engine only looks up and puts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports.change import ModelChange, Models
from vicw_shared.ports.embedder import ModelIdentity
from vicw_shared.ports.items import ItemIndex
from vicw_shared.ports.names import NameIndex
from vicw_shared.ports.scan import Scans
from vicw_shared.ports.scope import Scope
from vicw_shared.ports.transaction import Direction, GraphTransaction, Receipt

Spread = tuple[str, Direction]
"""An edge type and the way it is followed."""


class Neighbour(NamedTuple):
    """One edge seen from ``origin``, with the node at its other end."""

    origin: str
    edge: Edge
    node: Node


class WeightedNeighbour(NamedTuple):
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

    Of a consolidated item ``uid`` is its Macro-Event's, which has its place in the graph, and ``part`` its own.
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
        """What tells it from every other item, consolidated or not."""
        return self.part or self.uid

    @classmethod
    def of(cls, node: Node) -> ItemRef:
        """Return what ranking needs of a node that is read already."""
        return cls(**{name: getattr(node, name) for name in cls.__slots__ if name != "part"})


class TextHit(NamedTuple):
    """A Chunk found by its words; ``score`` > 0, higher is better, comparable inside one answer only."""

    uid: str
    score: float


class GraphStore(Scans, NameIndex, ItemIndex, Protocol):
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
        """Return the item that each Chunk proves, be it consolidated (``ItemRef.part``). Unknown uids are left out.

        Of what was said when, and by whom, the passage of a consolidated item knows.
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
    ) -> list[WeightedNeighbour]:
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
