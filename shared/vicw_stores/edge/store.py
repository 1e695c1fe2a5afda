"""EdgeVectorStore: Qdrant's engine in this process, as the embedded default's rebuildable index.

Edge is beta and holds the GIL in every call, so calls are kept short: updates go in small
parts, searches omit conditions without effect, ``optimize`` is never called online. Passages and statements have a
shard each: a condition to separate them would cost more than the search.
"""

from __future__ import annotations

import asyncio
import heapq
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import batched
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vicw_core.background import finish, in_thread
from vicw_shared.errors import DataDirError, UnavailableError
from vicw_shared.model import Label
from vicw_shared.ports import Point, ScoreQuery, SparseVector, VectorHit, VectorQuery
from vicw_shared.telemetry.engines import measured
from vicw_stores.conditions import LABEL
from vicw_stores.edge.rewrite import PART, IndexCopy
from vicw_stores.edge.shards import Shards

_CLEAN = "clean"
_QUIET_SECONDS = 5.0
"""Time without a search after which a rewriting goes on without a rest."""
_REST_FACTOR, _MAX_REST_SECONDS = 3.0, 1.0


@measured("edge")
class EdgeVectorStore:
    """VectorStore in a folder of the data directory."""

    def __init__(self, path: Path, size: int) -> None:
        """Open the index at ``path`` for vectors of ``size`` dimensions, creating it if missing.

        ``unclean`` is true if it was not closed properly, so that it has to be compared with the graph. It stays true
        when closed and reopened, until ``mark_compared`` is called.
        """
        self.path = path
        self._size = size
        self._copy: IndexCopy | None = None
        self._rewriting = asyncio.Lock()
        self._searched_at = float("-inf")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="edge")
        created = not self.exists(path)
        self.unclean = not created and not self.closed_cleanly(path)
        try:
            if created:
                self._create()
            self._shards: Shards | None = Shards(path, size)
        except Exception as error:
            raise DataDirError(
                f"The vector index {path} cannot be opened ({error}). `vicw reindex` builds it anew"
            ) from error
        (path / _CLEAN).unlink(missing_ok=True)

    def mark_compared(self) -> None:
        """Record that the index has been compared with the graph."""
        self.unclean = False

    @property
    def weighs_terms(self) -> bool:
        """Whether it is of an earlier program and multiplies by an IDF of its own; ``rewrite`` ends that."""
        return self._shards is not None and any(shard.weighs_terms for shard in self._shards)

    @staticmethod
    def exists(path: Path) -> bool:
        """Return whether there is an index at ``path``."""
        return Shards.exist(path)

    @staticmethod
    def closed_cleanly(path: Path) -> bool:
        """Return whether the index at ``path`` was closed properly, so that opening it replays no log."""
        return (path / _CLEAN).exists()

    @staticmethod
    def destroy(path: Path) -> None:
        """Remove an index that no process has open."""
        shutil.rmtree(path, ignore_errors=True)

    def _create(self) -> None:
        """Create the index beside its path, then move it: a kill midway leaves no incomplete index."""
        aside = self.path.with_name(f"{self.path.name}.new")
        shutil.rmtree(aside, ignore_errors=True)
        Shards.create(aside)
        shutil.rmtree(self.path, ignore_errors=True)
        aside.rename(self.path)

    async def upsert(self, points: Sequence[Point]) -> None:
        for label, shard_points in _by_label(points).items():
            for part in batched(shard_points, PART):
                await self._change([point.id for point in part], partial(_upsert, label=label, part=part))

    async def set_payload(self, payloads: Mapping[str, Mapping[str, object]]) -> None:
        def work(shards: Shards) -> None:
            for shard in shards:
                shard.set_payload(payloads)

        await self._change(payloads, work)

    async def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        for part in batched(vectors.items(), PART):
            await self._change([uid for uid, _ in part], partial(_set_sparse, vectors=dict(part)))

    async def delete(self, ids: Sequence[str]) -> None:
        def work(shards: Shards) -> None:
            for shard in shards:
                shard.delete(ids)

        await self._change(ids, work)

    async def search(self, query: VectorQuery) -> list[VectorHit]:
        self._searched_at = time.monotonic()
        if () in {query.scope.contexts, query.scope.domains, query.scope.items}:
            return []
        return await self._do(lambda shards: shard.search(query) if (shard := shards.get(query.label)) else [])

    async def score(self, queries: Sequence[ScoreQuery]) -> list[dict[str, float]]:
        def work(shards: Shards) -> list[dict[str, float]]:
            return [_scored(shards, query) for query in queries]

        return await self._do(work)

    async def dense(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        return await self._do(lambda shards: _merged([shard.dense(ids) for shard in shards]))

    async def terms(self, ids: Sequence[str]) -> dict[str, frozenset[int]]:
        # Statements have none.
        return await self._do(lambda shards: shard.terms(ids) if (shard := shards.get(Label.CHUNK)) else {})

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        def work(shards: Shards) -> dict[str, int]:
            return shard.domains(tenant, public=public) if (shard := shards.get(Label.CHUNK)) else {}

        return await self._do(work)

    async def payloads(self, ids: Sequence[str]) -> dict[str, Mapping[str, object]]:
        return await self._do(lambda shards: _merged([shard.payloads(ids) for shard in shards]))

    async def present(self, ids: Sequence[str]) -> set[str]:
        return await self._do(lambda shards: set().union(*(shard.present(ids) for shard in shards)))

    async def ids(self, *, after: str | None, limit: int) -> list[str]:
        def work(shards: Shards) -> list[str]:
            return list(heapq.merge(*(shard.ids(after, limit) for shard in shards)))[:limit]

        return await self._do(work)

    async def rewrite(self) -> None:
        """Write the index anew, so that no file of it has deleted data. Others may search and change it meanwhile.

        If the process dies midway, the old index remains, at its path or beside it, for ``recover``.
        """
        async with self._rewriting:
            copy = IndexCopy(self.path, self._size)
            try:
                await finish(self._do(partial(self._begin, copy)))
                began = time.monotonic()
                while await finish(self._do(copy.copy_part)):
                    await self._give_way(time.monotonic() - began)
                    began = time.monotonic()
                await finish(self._do(self._swap))
            finally:
                self._copy = None
                await in_thread(copy.discard)

    async def _give_way(self, seconds: float) -> None:
        """Rest after a part of a rewriting that took so long, if questions come: nothing else runs during a part."""
        if time.monotonic() - self._searched_at < _QUIET_SECONDS:
            await asyncio.sleep(min(_REST_FACTOR * seconds, _MAX_REST_SECONDS))

    def _begin(self, copy: IndexCopy, _: Shards) -> None:
        copy.create()
        self._copy = copy

    def _swap(self, shards: Shards) -> None:
        """Replace the open index by its copy. Nothing else runs in the thread meanwhile."""
        copy, self._copy = self._copy, None
        assert copy is not None
        copy.complete(shards)
        shards.close()
        try:
            copy.swap()
        finally:
            shards.open()

    async def close(self) -> None:
        if self._shards is not None:
            await self._do(Shards.close)
            self._shards = None
            if not self.unclean:
                (self.path / _CLEAN).touch()
        self._thread.shutdown()

    async def _change(self, ids: Iterable[str], work: Callable[[Shards], None]) -> None:
        """Change points; a copy that is being made of the index changes with it."""

        def changed(shards: Shards) -> None:
            work(shards)
            if self._copy is not None:
                self._copy.changed.update(ids)

        await self._do(changed)

    async def _do[T](self, work: Callable[[Shards], T]) -> T:
        shards = self._shards
        if shards is None:
            raise UnavailableError("vectors", "the store is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, shards)
        except Exception as error:
            raise UnavailableError("vectors", f"Qdrant Edge: {error}") from error


def _by_label(points: Sequence[Point]) -> dict[Label, list[Point]]:
    groups: dict[Label, list[Point]] = {}
    for point in points:
        groups.setdefault(Label(str(point.payload[LABEL])), []).append(point)
    return groups


def _upsert(shards: Shards, label: Label, part: Sequence[Point]) -> None:
    shards.made(label).upsert(part)


def _set_sparse(shards: Shards, vectors: Mapping[str, SparseVector]) -> None:
    if (shard := shards.get(Label.CHUNK)) is not None:
        shard.set_sparse(vectors)


def _scored(shards: Shards, query: ScoreQuery) -> dict[str, float]:
    """Score passages, then the remaining ids (few as a rule) as statements, which have no sparse vectors."""
    passages, statements = shards.get(Label.CHUNK), shards.get(Label.EVENT)
    scores = passages.score(query) if passages else {}
    remaining = [uid for uid in query.ids if uid not in scores] if query.dense is not None else []
    return scores | statements.score(replace(query, ids=remaining)) if remaining and statements else scores


def _merged[T](parts: Sequence[Mapping[str, T]]) -> dict[str, T]:
    return {uid: value for part in parts for uid, value in part.items()}
