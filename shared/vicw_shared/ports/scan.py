"""Scan port: pages through all records of one kind: one operation, and one Scan class per kind of record."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, override

from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.chain import ChainKey, next_key
from vicw_shared.ports.items import ItemView, PassageChange
from vicw_shared.ports.outbox import PendingPoint
from vicw_shared.ports.sleep import AUDIT, FEEDBACK, MaintenanceStep
from vicw_shared.text import fold_case

PAGE = 1000


class Scan[Record, Place]:
    """Description of a scan. Records come in the order of their places. Without concurrent writes none is missed."""

    def place(self, record: Record) -> Place:
        """Return a record's place. The next page begins behind it, even if the record no longer exists by then."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Nodes(Scan[Node, str]):
    """Nodes with a label, of all tenants, by uid."""

    label: Label

    @override
    def place(self, record: Node) -> str:
        return record.uid


@dataclass(frozen=True, slots=True)
class Passages(Scan[PendingPoint, str]):
    """Chunks of all tenants by uid, in the form of a claim: UPSERT with the payload's data.

    A Chunk that proves no item is a DELETE. ``seq`` is 0: there is no claim to acknowledge.
    """

    @override
    def place(self, record: PendingPoint) -> str:
        return record.point_id


class EdgeEnds(NamedTuple):
    """An edge and the labels of its ends; a label is None if that end does not exist."""

    edge: Edge
    source: Label | None
    target: Label | None


@dataclass(frozen=True, slots=True)
class Edges(Scan[EdgeEnds, Edge]):
    """Edges of all tenants, in the engine's order."""

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
    """Latest changes of a tenant's passages from ``since`` on, by (``at``, ``uid``).

    Changes become visible when their transaction ends, but carry the time at which they were made: a polling caller has
    to go back by the longest duration of a transaction. Passages stored before the engine recorded changes have none.
    """

    tenant: str
    since: datetime

    @override
    def place(self, record: PassageChange) -> PassageChange:
        return record


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of a context."""

    tenant: str
    context: str
    flow_id: str


@dataclass(frozen=True, slots=True)
class Flows(Scan[Flow, Flow]):
    """Flows with live items, in the engine's order: of all tenants, or ``within`` one (tenant, context)."""

    within: tuple[str, str] | None = None

    @override
    def place(self, record: Flow) -> Flow:
        return record


@dataclass(frozen=True, slots=True)
class FlowEvents(Scan[Node, ChainKey]):
    """Live items of a flow, in the order of its NEXT chain, or with ``descending`` from its end."""

    flow: Flow
    descending: bool = False

    @override
    def place(self, record: Node) -> ChainKey:
        return next_key(record)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedNodes(Scan[Node, tuple[str, str]]):
    """Live named nodes of a context, by case-folded name, then uid; of subtype ATTRIBUTE only if ``subtype`` names it.

    ``prefix`` is the case-folded beginning of the name. Names are distinguished and sorted by at least their first
    NAME_PREFIX characters.
    """

    tenant: str
    context: str
    prefix: str = ""
    subtype: str | None = None

    @override
    def place(self, record: Node) -> tuple[str, str]:
        return fold_case(record.name), record.uid


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Scan[MaintenanceStep, MaintenanceStep]):
    """Maintenance steps of one task or all but AUDIT and FEEDBACK, of one tenant or all, the latest first.

    ``with_feedback``: all but AUDIT. ``oldest_first``: in the other direction.
    """

    tenant: str | None = None
    task: str | None = None
    with_feedback: bool = False
    oldest_first: bool = False

    @property
    def left_out(self) -> tuple[str, ...]:
        """The tasks that a scan of all leaves out."""
        return (AUDIT,) if self.with_feedback else (AUDIT, FEEDBACK)

    @override
    def place(self, record: MaintenanceStep) -> MaintenanceStep:
        return record


class Scans(Protocol):
    """Pages through stored records."""

    async def scan[Record, Place](
        self, what: Scan[Record, Place], *, after: Place | None = None, limit: int = PAGE
    ) -> list[Record]:
        """Return the first ``limit`` records behind a place (None: from the beginning); [] at the end."""
        ...


async def scan_pages[Record, Place](
    store: Scans, what: Scan[Record, Place], *, after: Place | None = None, limit: int = PAGE
) -> AsyncIterator[list[Record]]:
    """Yield pages of the records behind a place. Writes and deletions during the scan shift no page."""
    while page := await store.scan(what, after=after, limit=limit):
        after = what.place(page[-1])
        yield page
