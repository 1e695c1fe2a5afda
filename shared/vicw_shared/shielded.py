"""Work that runs to its end even if its caller is cancelled, such as that of a thread, which cannot be cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable


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
