"""The port to everything of one kind, page by page: one operation, and a description for each kind of record."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, override

from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.chain import ChainKey, next_key
from vicw_shared.ports.item_views import ItemView, PassageChange
from vicw_shared.ports.outbox import PendingPoint
from vicw_shared.ports.sleep import MaintenanceStep
from vicw_shared.text import fold

PAGE = 1000


class Scan[Record, Place]:
    """What is read. Records come in the order of their places, all of them while nothing is written."""

    def place(self, record: Record) -> Place:
        """Return where a record is: the next page begins behind it, even if the record is gone by then."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Nodes(Scan[Node, str]):
    """The nodes of a label, of all tenants, by uid."""

    label: Label

    @override
    def place(self, record: Node) -> str:
        return record.uid


@dataclass(frozen=True, slots=True)
class Passages(Scan[PendingPoint, str]):
    """The Chunks of all tenants by uid, as a claim would return them: UPSERT with what the payload says.

    A Chunk that proves no item is a DELETE. ``seq`` is 0: there is no claim, and nothing to settle.
    """

    @override
    def place(self, record: PendingPoint) -> str:
        return record.point_id


class EdgeEnds(NamedTuple):
    """An edge and the labels of its ends; None for a label: that end does not exist."""

    edge: Edge
    source: Label | None
    target: Label | None


@dataclass(frozen=True, slots=True)
class Edges(Scan[EdgeEnds, Edge]):
    """The edges of all tenants, in the engine's order."""

    @override
    def place(self, record: EdgeEnds) -> Edge:
        return record.edge


@dataclass(frozen=True, slots=True)
class Items(Scan[ItemView, str]):
    """A tenant's live items that are Events or Entities, by uid."""

    tenant: str
    label: Label

    @override
    def place(self, record: ItemView) -> str:
        return record.item.uid


@dataclass(frozen=True, slots=True)
class Changes(Scan[PassageChange, PassageChange]):
    """The latest changes of a tenant's passages from an instant on, by (``at``, ``uid``).

    A transaction's changes are seen when it ends, but carry the time at which they were made: a caller that asks again
    has to go back by what a transaction may take. What was stored before an engine noted changes has none.
    """

    tenant: str
    since: datetime

    @override
    def place(self, record: PassageChange) -> PassageChange:
        return record


@dataclass(frozen=True, slots=True)
class Flow:
    """A thread of a context."""

    tenant: str
    context: str
    flow_id: str


@dataclass(frozen=True, slots=True)
class Flows(Scan[Flow, Flow]):
    """The flows that have live items, in the engine's order: of all tenants, or ``within`` a tenant's context."""

    within: tuple[str, str] | None = None

    @override
    def place(self, record: Flow) -> Flow:
        return record


@dataclass(frozen=True, slots=True)
class Thread(Scan[Node, ChainKey]):
    """The live items of a flow, in the order of its NEXT chain."""

    flow: Flow

    @override
    def place(self, record: Node) -> ChainKey:
        return next_key(record)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedThings(Scan[Node, tuple[str, str]]):
    """A context's live named things, by folded name, then uid; without ``subtype`` no SLOTs.

    ``prefix`` is the folded beginning of the name. Names are told apart, and put in order, by their first NAME_PREFIX
    characters at least.
    """

    tenant: str
    context: str
    prefix: str = ""
    subtype: str | None = None

    @override
    def place(self, record: Node) -> tuple[str, str]:
        return fold(record.name), record.uid


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Scan[MaintenanceStep, MaintenanceStep]):
    """The steps of a task or of all, of a tenant or of all, the latest first."""

    tenant: str | None = None
    task: str | None = None

    @override
    def place(self, record: MaintenanceStep) -> MaintenanceStep:
        return record


class Scans(Protocol):
    """Everything that is stored, page by page."""

    async def scan[Record, Place](
        self, what: Scan[Record, Place], *, after: Place | None = None, limit: int = PAGE
    ) -> list[Record]:
        """Return the first ``limit`` records behind a place; None: from the beginning. At the end there are none."""
        ...


async def scan_pages[Record, Place](
    store: Scans, what: Scan[Record, Place], *, after: Place | None = None, limit: int = PAGE
) -> AsyncIterator[list[Record]]:
    """Yield page by page what is behind a place. What is dropped or put on the way shifts no page."""
    while page := await store.scan(what, after=after, limit=limit):
        after = what.place(page[-1])
        yield page
