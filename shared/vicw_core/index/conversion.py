"""Conversion of the words of an existing store to those of this program's analyser, while it serves.

Page by page: the sparse vectors of the passages' points, without embedding, then the words of their full text, with the
place up to which it has come. After a kill it goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

import structlog

from vicw_core.background import in_thread
from vicw_core.index.points import sparse_of
from vicw_shared.errors import VicwError
from vicw_shared.ports import Passages, PendingKind, PendingPoint, SparseVector, Store, VectorStore

_log = structlog.get_logger()
_PAGE = 64
_LOCK_SECONDS = 60.0
"""A process that dies while it converts keeps the others from going on for so long."""
_RETRY_SECONDS = 5.0


@dataclass(slots=True)
class WordConversion:
    """The conversion of a store; any number of processes may run it, one of them works.

    ``open_vectors`` returns the vectors of the index in use (None: the store has none). ``on_complete`` is awaited when
    this process has converted the last words.
    """

    graph: Store
    open_vectors: Callable[[], Awaitable[VectorStore | None]]
    on_complete: Callable[[], Awaitable[None]]
    retry_seconds: float = _RETRY_SECONDS
    page: int = _PAGE
    _holder: str = field(default_factory=lambda: uuid4().hex)

    async def run(self) -> None:
        """Convert until everything is converted. Errors are logged and the work is retried."""
        told = False
        while True:
            try:
                if await self.graph.words.converted() is None:
                    return
                if not told:
                    _log.info("the words of this store are of an earlier version; they are converted while it serves")
                    told = True
                if await self._is_done():
                    await self.on_complete()
                    _log.info("all words of this store are converted")
                    return
            except Exception as error:
                level = _log.warning if isinstance(error, VicwError) else _log.error
                level("the conversion of words failed, will be tried again", error=str(error))
            await asyncio.sleep(self.retry_seconds)

    async def _is_done(self) -> bool:
        """Convert as far as this process has the lock; return whether everything is converted."""
        words = self.graph.words
        if not await words.lock(self._holder, seconds=_LOCK_SECONDS):
            return False
        try:
            place = await words.converted()
            while place is not None and (page := await self.graph.audit.scan(Passages(), after=place, limit=self.page)):
                await self._convert_vectors(page)
                place = page[-1].point_id
                if not (
                    await words.renew([part.point_id for part in page], holder=self._holder)
                    and await words.lock(self._holder, seconds=_LOCK_SECONDS)
                ):
                    return False
            return await words.complete(holder=self._holder)
        finally:
            await words.lock(self._holder, seconds=0)

    async def _convert_vectors(self, page: Sequence[PendingPoint]) -> None:
        vectors = await self.open_vectors()
        if vectors is not None:
            await vectors.set_sparse(await in_thread(_sparse_vectors, page))


def _sparse_vectors(page: Sequence[PendingPoint]) -> dict[str, SparseVector]:
    return {part.point_id: sparse_of(part) for part in page if part.kind is PendingKind.UPSERT}
