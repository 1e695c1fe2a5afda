"""Going through the log of the sleep cycle, page by page (design: "Sleep cycle")."""

from __future__ import annotations

from collections.abc import AsyncIterator

from vicw_shared.ports import SleepLog, Step

_PAGE = 500


async def step_pages(log: SleepLog, tenant: str | None = None, *, task: str | None = None) -> AsyncIterator[list[Step]]:
    """Yield the steps of a task or of all, of a tenant or of all, the latest first and 500 at a time.

    Whoever drops or changes steps on the way misses none. Raises what the engine raises.
    """
    page: list[Step] = []
    while page := await log.steps(tenant, task=task, before=page[-1] if page else None, limit=_PAGE):
        yield page
