"""Lock of a store's model change: one run at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator

from vicw_shared.errors import StateConflictError, VicwError
from vicw_shared.ports import ModelChange, ModelIdentity, StoreRecord

_POLL_SECONDS = 0.5
_TAKEN = "Another `vicw reindex` is running on this store. Wait until it ends; if it was killed, wait 15 seconds"
_RUN_OUT = f"The lock for changing the model has expired. {_TAKEN}, then run it again"


class ChangeLock:
    """The lock for changing the model: renewed while it is held, expired after a kill."""

    def __init__(self, record: StoreRecord, seconds: float = 15.0) -> None:
        self._record = record
        self._seconds = seconds
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._until = float("-inf")

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Hold the lock; wait for that of a killed run to expire. Raises StateConflictError if another holds it."""
        last_try = time.monotonic() + 1.2 * self._seconds
        while not await self._take():
            if time.monotonic() > last_try:
                raise StateConflictError(_TAKEN)
            await asyncio.sleep(_POLL_SECONDS)
        task = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(VicwError):
                await self._record.lock_model_change(self._holder, seconds=0)

    def require(self) -> None:
        """Raise StateConflictError if the lock has expired: another run may hold it by now."""
        if time.monotonic() > self._until:
            raise StateConflictError(_RUN_OUT)

    async def set_model(self, identity: ModelIdentity, change: ModelChange | None = None) -> None:
        """Record the model and the change under the lock. Raises StateConflictError, as ``require`` does."""
        self.require()
        if not await self._record.set_model(identity, change, holder=self._holder):
            raise StateConflictError(_RUN_OUT)

    async def _take(self) -> bool:
        requested_at = time.monotonic()
        if not await self._record.lock_model_change(self._holder, seconds=self._seconds):
            return False
        self._until = requested_at + self._seconds
        return True

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / 5)
            with contextlib.suppress(VicwError):  # retried soon; ``require`` raises if it expires
                await self._take()
