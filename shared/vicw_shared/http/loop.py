"""Event loop of a server: uvloop where available."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop factory, or None (asyncio's own) if uvloop is not installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
