"""Writes that a kill ends in the middle of a transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from vicw_shared.ports import GraphTransaction, MaintenanceStep


class _Killed:
    """A transaction that dies once it has logged a step."""

    def __init__(self, transaction: GraphTransaction) -> None:
        self._transaction = transaction

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    async def log_step(self, step: MaintenanceStep) -> None:
        await self._transaction.log_step(step)
        raise RuntimeError("killed")


def killed_at_step(write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return a graph's ``write`` whose transactions die once they have logged a step."""

    async def dying(tenant: str, context: str, work: Callable[[Any], Awaitable[Any]]) -> Any:
        return await write(tenant, context, lambda transaction: work(_Killed(transaction)))

    return dying
