"""The port to one engine: the graph, with a part for each kind of thing that is kept beside it."""

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
    """A graph and its parts. A use case that needs one part takes that part alone."""

    @property
    def record(self) -> StoreRecord:
        """What the store knows of itself."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Which points lag behind the graph."""
        ...

    @property
    def unread(self) -> PendingExtractions:
        """What a language model has still to read."""
        ...

    @property
    def audit(self) -> GraphAudit:
        """What a check reads."""
        ...

    @property
    def archive(self) -> GraphArchive:
        """What an export reads."""
        ...

    @property
    def log(self) -> SleepLog:
        """What the sleep cycle did, and how far it is."""
        ...

    @property
    def erasures(self) -> Erasures:
        """The erasures that are under way."""
        ...

    @property
    def uses(self) -> Uses:
        """How often items were shown."""
        ...
