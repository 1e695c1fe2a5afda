"""The port to what an export reads: all that the graph knows, context by context (docs/decisions/0027)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from vicw_shared.model import Edge, Node
from vicw_shared.ports.sleep import MaintenanceStep
from vicw_shared.ports.transaction import Counters, Receipt
from vicw_shared.ports.uses import Use


class GraphSnapshot(Protocol):
    """What an export reads. A ``root`` is a Context node, as ``roots`` returned it.

    An engine that can shows all of it as it was at one moment. Of one that cannot, what was read of a context is of one
    moment if its ``version`` was the same before and after.
    """

    async def roots(self) -> list[Node]:
        """Return the Context nodes of all tenants, by tenant, then context."""
        ...

    async def version(self, root: Node) -> int:
        """Return a number that every transaction on the context makes another, as does one on the context ""."""
        ...

    async def members(self, root: Node) -> list[str]:
        """Return the uids of the root and of all nodes that belong to it, ascending."""
        ...

    async def nodes(self, root: Node, uids: Sequence[str]) -> dict[str, Node]:
        """Return the nodes of the root's tenant that exist among ``uids``."""
        ...

    async def edges(self, root: Node, uids: Sequence[str], *, after: str | None, limit: int) -> list[Edge]:
        """Return up to ``limit`` edges out of these nodes of the root's tenant, by id, those after one.

        Those of types that nobody registers any more are among them.
        """
        ...

    async def counters(self, root: Node, flows: Sequence[str]) -> Counters:
        """Return the counters of the root's context and of these flows."""
        ...

    async def unread(self, root: Node, items: Sequence[str]) -> set[str]:
        """Return which of these items (uids) a language model has still to read, given up or not."""
        ...

    async def uses(self, root: Node, items: Sequence[str]) -> dict[str, Use]:
        """Return the uses of these items (uids) of the root's tenant; what was never shown is left out."""
        ...

    async def receipts(self, tenant: str, *, after: Receipt | None, limit: int) -> list[Receipt]:
        """Return up to ``limit`` receipts of a tenant, the oldest first, of one time by key: those after one.

        One that an older program stored without its key is left out.
        """
        ...

    async def steps(self, *, before: MaintenanceStep | None, limit: int) -> list[MaintenanceStep]:
        """Return what ``SleepLog.steps`` does, of all tenants."""
        ...


class GraphArchive(Protocol):
    """A graph that can be exported, and that knows what was imported into it."""

    def snapshot(self) -> AbstractAsyncContextManager[GraphSnapshot]:
        """Return what an export reads, for as long as it does."""
        ...

    async def import_mark(self) -> str | None:
        """Return what ``Puts.mark_import`` noted last, or None."""
        ...
