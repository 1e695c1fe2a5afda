"""Background tasks that end with their owner, and work that runs to its end even if its caller is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack


def start_background_task(work: Coroutine[None, None, None], stack: AsyncExitStack, name: str) -> None:
    """Start ``work`` as a task with this name. Closing ``stack`` cancels it and waits for its end."""
    task = asyncio.create_task(work, name=name)

    async def stop() -> None:
        task.cancel()
        await asyncio.wait({task})

    stack.push_async_callback(stop)


async def finish[T](work: Awaitable[T], *, hurry: Callable[[], None] | None = None) -> T:
    """Await ``work`` to its end even if the caller is cancelled; then raise the cancellation.

    A cancellation calls ``hurry``, for work that can end sooner on request.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if hurry is not None:
            hurry()
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        raise


async def in_thread[**P, T](work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``work`` in a thread as ``asyncio.to_thread`` does, but return only when the thread's work has ended.

    For work on resources that the caller closes afterwards: closing a database while a thread uses it crashes the
    process.
    """
    return await finish(asyncio.to_thread(work, *args, **kwargs))
