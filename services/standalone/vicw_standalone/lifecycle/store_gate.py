"""Whether the stores are open: requests that come earlier wait for that."""

from __future__ import annotations

import asyncio
import contextlib

from vicw_shared.errors import UnavailableError

_PATIENCE_SECONDS = 10.0


class StoreGate:
    """The gate before the stores: it opens once they are open, or never."""

    def __init__(self) -> None:
        self.is_open = False
        self._is_decided = asyncio.Event()

    def open(self) -> None:
        """Let all requests go on: the stores are open."""
        self.is_open = True
        self._is_decided.set()

    def end(self) -> None:
        """Let requests that still wait be refused: the stores are being closed."""
        self._is_decided.set()

    async def wait(self) -> None:
        """Wait until the stores are open or are closed, 10 s at most: who asks a server at once need not ask twice."""
        if not self.is_open:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_decided.wait(), _PATIENCE_SECONDS)

    def require(self) -> None:
        """Raise UnavailableError until the stores are open."""
        if not self.is_open:
            raise UnavailableError("stores", "they are being opened; send the request again in a moment")
