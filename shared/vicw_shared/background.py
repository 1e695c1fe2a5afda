"""Work that goes on beside what is answered, and ends with what it belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack


def keep_doing(work: Coroutine[None, None, None], stack: AsyncExitStack, name: str) -> None:
    """Begin ``work`` as a task called ``name``; ``stack`` cancels it, and waits for its end, when it is closed."""
    task = asyncio.create_task(work, name=name)

    async def stop() -> None:
        task.cancel()
        await asyncio.wait({task})

    stack.push_async_callback(stop)
