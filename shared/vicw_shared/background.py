"""Background tasks that end with their owner."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack


def start_background_task(work: Coroutine[None, None, None], stack: AsyncExitStack, name: str) -> None:
    """Start ``work`` as a task with this name. Closing ``stack`` cancels it and waits for its end."""
    task = asyncio.create_task(work, name=name)

    async def stop() -> None:
        task.cancel()
        await asyncio.wait({task})

    stack.push_async_callback(stop)
