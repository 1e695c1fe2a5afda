"""Work that is not left half-way when whoever awaits it is cancelled: a thread cannot be, and goes on unseen."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable


async def finish[T](work: Awaitable[T], *, hurry: Callable[[], None] | None = None) -> T:
    """Await ``work`` to its end even if the caller is cancelled meanwhile, then let the cancellation through.

    ``hurry`` is called at a cancellation, for work that can be told to end sooner.
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
    """Run ``work`` in a thread as ``asyncio.to_thread`` does, and be over no sooner than the thread is.

    For work on what the caller closes or lets go of at its end: a database that is closed while a thread uses it takes
    the whole process down.
    """
    return await finish(asyncio.to_thread(work, *args, **kwargs))
