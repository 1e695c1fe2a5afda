"""Store port: one engine with the graph and a part for each kind of record beside it."""

from __future__ import annotations

from typing import Protocol

from vicw_shared.ports.archive import GraphArchive
from vicw_shared.ports.audit import GraphAudit
from vicw_shared.ports.erasure import Erasures
from vicw_shared.ports.graph import GraphStore, StoreRecord
from vicw_shared.ports.outbox import Outbox
from vicw_shared.ports.pending_extractions import PendingExtractions
from vicw_shared.ports.sleep import SleepLog
from vicw_shared.ports.uses import Uses


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
