"""Export port: reads the whole graph, context by context (docs/decisions/0027)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from vicw_shared.model import Edge, Node
from vicw_shared.ports.items import Use
from vicw_shared.ports.sleep import MaintenanceStep
from vicw_shared.ports.transaction import Counters, Receipt


class GraphSnapshot(Protocol):
    """The graph as an export reads it. A ``root`` is a Context node that ``roots`` returned.

    An engine with consistent snapshots shows the state at one moment. With any other engine, the data read of a context
    is consistent if its ``version`` is the same before and after.
    """

    async def roots(self) -> list[Node]:
        """Return the Context nodes of all tenants, by tenant, then context."""
        ...

    async def version(self, root: Node) -> int:
        """Return a number that changes with every transaction on this context and on the context ""."""
        ...

    async def members(self, root: Node) -> list[str]:
        """Return the uids of the root and of all nodes that belong to it, ascending."""
        ...

    async def nodes(self, root: Node, uids: Sequence[str]) -> dict[str, Node]:
        """Return the nodes of the root's tenant among ``uids``. Unknown uids are left out."""
        ...

    async def edges(self, root: Node, uids: Sequence[str], *, after: str | None, limit: int) -> list[Edge]:
        """Return up to ``limit`` edges out of these nodes of the root's tenant, by id, starting after ``after``.

        Edges of types that are no longer registered are included.
        """
        ...

    async def counters(self, root: Node, flows: Sequence[str]) -> Counters:
        """Return the counters of the root's context and of these flows."""
        ...

    async def pending_extractions(self, root: Node, items: Sequence[str]) -> set[str]:
        """Return which of these items (uids) are pending extraction by a language model, dead entries included."""
        ...

    async def uses(self, root: Node, items: Sequence[str]) -> dict[str, Use]:
        """Return the uses of these items (uids) of the root's tenant. Items without a use are left out."""
        ...

    async def receipts(self, tenant: str, *, after: Receipt | None, limit: int) -> list[Receipt]:
        """Return up to ``limit`` receipts of a tenant, ordered by creation time, then key, starting after ``after``.

        Receipts that an older program stored without their key are left out.
        """
        ...

    async def steps(self, *, before: MaintenanceStep | None, limit: int) -> list[MaintenanceStep]:
        """Return up to ``limit`` maintenance steps of all tenants, the latest first, starting behind ``before``."""
        ...


class GraphArchive(Protocol):
    """A graph that supports export and records the state of an import."""

    def snapshot(self) -> AbstractAsyncContextManager[GraphSnapshot]:
        """Open a snapshot for the duration of an export."""
        ...

    async def import_mark(self) -> str | None:
        """Return the mark that ``Puts.mark_import`` stored last, or None."""
        ...
