"""Open vector indexes of a process; the set changes when the store's embedding model changes.

The graph's record names the model (docs/decisions/0009). Readers poll it; writers check it after each claim. It also
says whether the index in use was lost and is being rebuilt (docs/decisions/0012).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import structlog
from prometheus_client import Gauge

from vicw_shared.clock import now, to_us
from vicw_shared.errors import ModelMismatchError, UnavailableError, VicwError
from vicw_shared.ports import Embedder, ModelIdentity, Models, Outbox, StoreRecord, VectorStore
from vicw_shared.settings import MAX_POLL_SECONDS

_log = structlog.get_logger()
REBUILDING = Gauge(
    "vicw_index_rebuilding",
    "1 while the index in use, which was lost, is being rebuilt",
    multiprocess_mode="livemostrecent",
)
_FOLLOW_SECONDS = 3 * MAX_POLL_SECONDS


@dataclass(frozen=True, slots=True)
class Index:
    """A vector store and the embedder of its vectors. ``query_prefix`` is prepended to a question."""

    model: ModelIdentity
    vectors: VectorStore
    embedder: Embedder
    query_prefix: str = ""


class Indexes:
    """Open indexes by the record. An index stays open until ``close``, so that running requests can finish with it."""

    def __init__(
        self,
        record: StoreRecord,
        opener: Callable[[ModelIdentity], Awaitable[Index]],
        *,
        poll_seconds: float = float("inf"),
    ) -> None:
        """``opener`` opens a model's index; it raises ModelMismatchError if no configured embedder has the model.

        Writers and ``follow`` read the record again when the last read is older than ``poll_seconds``.
        """
        self._record = record
        self._opener = opener
        self._poll_seconds = poll_seconds
        self._lock = asyncio.Lock()
        self._read_at = float("-inf")
        self._models = Models()
        self._open: dict[ModelIdentity, Index] = {}
        self._failure: VicwError | None = None
        self._read_index: Index | None = None
        self._first_read = asyncio.Event()

    @property
    def read_index(self) -> Index:
        """The index that answers questions: the one in use, or the last one that could be opened."""
        if self._read_index is None:
            raise UnavailableError("vectors", "no index is open")
        return self._read_index

    @property
    def is_open(self) -> bool:
        """Whether an index answers questions."""
        return self._read_index is not None

    @property
    def models(self) -> Models:
        """The record as of the last read."""
        return self._models

    @property
    def rebuilding(self) -> datetime | None:
        """The time since when the index in use is known to be incomplete; None: it is not."""
        return self._models.rebuilding

    @property
    def behind(self) -> str | None:
        """The reason why this process cannot open the index in use, as a sentence; None: it can."""
        return self._failure.detail if self._failure is not None else None

    async def open_vectors(self) -> VectorStore | None:
        """Return the vectors of the index that answers questions; None if the store has none."""
        return self.read_index.vectors if self.read_index.model.has_vectors else None

    async def write_index(self) -> Index:
        """Return the index in use, by the record, once ``open`` has ended.

        Raises UnavailableError if this process cannot open it.
        """
        if time.monotonic() - self._read_at > self._poll_seconds:
            await self.refresh()
        await self._first_read.wait()
        if self._failure is not None:
            raise UnavailableError("embedding", self._failure.detail) from self._failure
        return self.read_index

    async def acknowledge_index(self) -> Index:
        """Return the index that has to contain the points acknowledged from now on.

        Raises UnavailableError as ``write_index`` does, and while another index takes over.
        """
        index = await self.write_index()
        if (change := self._models.change) is not None and to_us(now()) < change.held_until:
            raise UnavailableError("vectors", f"the index of {change.model} takes over in a moment")
        return index

    def require_embedders(self) -> None:
        """Raise UnavailableError if no configured server has the model of the index in use.

        If the server is only down, it does not raise: stored text gets its vectors when the server is back.
        """
        if isinstance(self._failure, ModelMismatchError):
            raise UnavailableError("embedding", self._failure.detail) from self._failure

    async def open(self) -> None:
        """Read the record for the first time. Raises the errors of opening the index in use."""
        await self.refresh()
        if self._read_index is None:
            raise self._failure or UnavailableError("vectors", "the store knows of no model yet")

    async def refresh(self) -> None:
        """Read the record and follow it."""
        async with self._lock:
            looked_at = time.monotonic()
            models = await self._record.models()
            REBUILDING.set(models.rebuilding is not None)
            if models != self._models or self._failure is not None:
                await self._follow(models)
            self._read_at = looked_at
            self._first_read.set()

    async def follow(self) -> None:
        """Read the record periodically, forever."""
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                await self.refresh()
            except Exception as error:  # the last read stays valid until the record can be read
                _log.debug("the record of the model in use cannot be read", error=str(error))

    def forget(self, model: ModelIdentity) -> Index | None:
        """Remove and return a model's open index for the caller to close; None for the model in use."""
        return None if model == self._models.used else self._open.pop(model, None)

    async def close(self) -> None:
        """Close the vector stores; embedders belong to their owners. Safe to call twice."""
        while self._open:
            _, index = self._open.popitem()
            await index.vectors.close()

    async def _follow(self, models: Models) -> None:
        _log_rebuilding(self._models.rebuilding, models.rebuilding)
        before, self._models, self._failure = self._failure, models, None
        if models.used is None:
            return
        if models.used not in self._open:
            try:
                self._open[models.used] = await self._opener(models.used)
            except VicwError as error:
                if before is None:
                    _log.warning("cannot follow the change of the model", model=str(models.used), error=error.detail)
                self._failure = error
                return
        used = self._open[models.used]
        if used is not self._read_index:
            _log_switch(self._read_index, used)
            self._read_index = used


async def store_status(record: StoreRecord, outbox: Outbox, indexes: Indexes, tenant: str | None) -> dict[str, object]:
    """Return a store's status for clients: its id and the number of passages not yet indexed, of a tenant or all.

    For a lost index it adds the time since when it is being rebuilt. A count of 0 may then mean that no passage has
    been counted yet, so it becomes None.
    """
    waiting = (await outbox.backlog(tenant)).waiting
    facts: dict[str, object] = {"store": await record.store_id(), "passages_waiting": waiting}
    if indexes.rebuilding is not None:
        facts |= {"passages_waiting": waiting or None, "rebuilding": indexes.rebuilding.isoformat()}
    return facts


async def wait_for_followers(seconds: float = _FOLLOW_SECONDS) -> None:
    """Wait until all services have read the record in its state at this call, or a later one."""
    await asyncio.sleep(seconds)


def _log_switch(before: Index | None, after: Index) -> None:
    if before is not None:
        _log.info("the model in use has changed", before=str(before.model), now=str(after.model))


def _log_rebuilding(before: datetime | None, after: datetime | None) -> None:
    if after is not None and before is None:
        _log.warning(
            "the vector index was lost and is being rebuilt; until then, answers come from full text",
            since=after.isoformat(),
        )
    elif before is not None and after is None:
        _log.info("the vector index is complete again")
