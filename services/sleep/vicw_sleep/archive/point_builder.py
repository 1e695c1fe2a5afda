"""Build points from an export's vectors, as the indexer does, without embedding."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched, groupby
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from vicw_core.archive.reader import ArchiveReader
from vicw_core.archive.rows import NODES
from vicw_core.archive.uids import UidIndex
from vicw_core.index.points import lexical_point, point_of
from vicw_shared.model import Label
from vicw_shared.ports import Outbox, PendingKind, PendingPoint, Point, VectorStore
from vicw_shared.progress import Progress

_ITEMS = 100
_PASSAGES = 200
_IDS = 1000
_LEASE_SECONDS = 30.0
_RETRY_SECONDS = 1.0
_ITEM_LABELS = frozenset({Label.ENTITY, Label.EVENT})

type _Items = tuple[str, Sequence[str]]
"""A tenant, and some of its items."""


@dataclass(slots=True)
class PointBuilder:
    """Processes the outbox of imported items, as far as the export has their vectors. May be run again."""

    reader: ArchiveReader
    outbox: Outbox
    vectors: VectorStore
    progress: Progress
    _rows: UidIndex = field(default_factory=UidIndex)
    _arrays: list[NDArray[np.float32]] = field(default_factory=list)

    async def run(self) -> None:
        """Create the points of all passages, except those with a missing vector, which stay in the outbox."""
        self._load()
        done = 0
        files = [name for name, one in self.reader.manifest.node_files.items() if one.label in _ITEM_LABELS]
        total = self.reader.manifest.rows(files)
        blocked: list[_Items] = []
        for tenant, items in self._items(files):
            if not await self._build(tenant, items):
                blocked.append((tenant, items))
            done += len(items)
            self.progress("vectors", done, total)
        deadline = time.monotonic() + _LEASE_SECONDS
        while blocked and time.monotonic() < deadline:  # the lease of a killed worker lasts so long
            await asyncio.sleep(_RETRY_SECONDS)
            blocked = [batch for batch in blocked if not await self._build(*batch)]

    async def stored(self) -> int:
        """Return how many of the export's vectors the index has, whichever run stored them."""
        count = 0
        for collection in self.reader.embedded:
            ids, _ = self.reader.vectors(collection)
            for part in batched(ids, _IDS):
                count += len(await self.vectors.present(part))
        return count

    def _load(self) -> None:
        for number, collection in enumerate(self.reader.embedded):
            ids, vectors = self.reader.vectors(collection)
            self._arrays.append(vectors)
            self._rows.add(ids, [row * len(self.reader.embedded) + number for row in range(len(ids))])

    def _items(self, files: Sequence[str]) -> Iterator[_Items]:
        for name in files:
            items = (node for _, node in self.reader.rows(name, NODES) if node.content_hash is not None)
            for tenant, group in groupby(items, attrgetter("tenant")):
                for part in batched(group, _ITEMS):
                    yield tenant, [node.uid for node in part]

    async def _build(self, tenant: str, items: Sequence[str]) -> bool:
        """Create the points of these items' passages; return whether no other worker holds any of them.

        Entries without a vector are returned to the outbox, as are all entries if the index fails.
        """
        lacking: list[PendingPoint] = []
        claimed: Sequence[PendingPoint] = ()
        try:
            while claimed := await self.outbox.claim(_PASSAGES, seconds=_LEASE_SECONDS, items=items):
                points_by_id = {one.point_id: self._points(one) for one in claimed}
                lacking += [one for one in claimed if points_by_id[one.point_id] is None]
                claimed = [one for one in claimed if points_by_id[one.point_id] is not None]
                points = [point for one in claimed for point in points_by_id[one.point_id] or ()]
                await self.vectors.upsert(points)
                await self.outbox.acknowledge(claimed)
                claimed = ()
            return (await self.outbox.count_unindexed(tenant, items)).waiting <= len(lacking)
        finally:
            if returned := [*lacking, *claimed]:
                await self.outbox.postpone(returned, seconds=0)

    def _points(self, pending: PendingPoint) -> list[Point] | None:
        """Return the points of a passage and its statements, None if a vector is missing."""
        model = self.reader.manifest.model
        if pending.kind is not PendingKind.UPSERT or pending.chunk is None:
            return None
        if model is None or not model.has_vectors:
            return []  # a store without vectors needs no points
        parts = pending.parts
        rows = self._rows.find([part.point_id for part in parts])
        points = []
        for part, row in zip(parts, rows, strict=True):
            if part.chunk is not None and part.chunk.is_light:
                points.append(lexical_point(part))
            elif row >= 0:
                array = self._arrays[row % len(self._arrays)]
                points.append(point_of(part, np.array(array[row // len(self._arrays)])))
            else:
                return None
        return points
