"""Points out of the vectors of an export: what the indexer makes, with nothing embedded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched

import numpy as np
from numpy.typing import NDArray

from vicw_shared.archive.reading import ArchiveReader
from vicw_shared.archive.rows import NODES
from vicw_shared.archive.uids import UidIndex
from vicw_shared.model import Label
from vicw_shared.points import light_point, point_of
from vicw_shared.ports import Outbox, PendingKind, PendingPoint, Point, VectorStore
from vicw_shared.progress import Progress

_ITEMS = 100
_PASSAGES = 200
_LEASE_SECONDS = 120.0
_ITEM_LABELS = frozenset({Label.ENTITY, Label.EVENT})


@dataclass(slots=True)
class Pointing:
    """Works off the outbox of imported items, as far as the export has their vectors. It may be run again."""

    reader: ArchiveReader
    outbox: Outbox
    vectors: VectorStore
    progress: Progress
    _rows: UidIndex = field(default_factory=UidIndex)
    _arrays: list[NDArray[np.float32]] = field(default_factory=list)

    async def run(self) -> int:
        """Return how many points were made. A passage of which a vector is missing goes on waiting for it."""
        self._load()
        made, done = 0, 0
        files = [name for name, one in self.reader.manifest.node_files.items() if one.label in _ITEM_LABELS]
        total = self.reader.manifest.rows(files)
        for items in batched(self._items(files), _ITEMS):
            made += await self._of_items(items)
            done += len(items)
            self.progress("vectors", done, total)
        return made

    def _load(self) -> None:
        for number, collection in enumerate(self.reader.embedded):
            ids, vectors = self.reader.vectors(collection)
            self._arrays.append(vectors)
            self._rows.add(ids, [row * len(self.reader.embedded) + number for row in range(len(ids))])

    def _items(self, files: Sequence[str]) -> Iterator[str]:
        for name in files:
            yield from (node.uid for _, node in self.reader.rows(name, NODES) if node.content_hash is not None)

    async def _of_items(self, items: Sequence[str]) -> int:
        """Make the points of all passages of these items; give back what cannot be made."""
        made, lacking = 0, list[PendingPoint]()
        try:
            while claimed := await self.outbox.claim(_PASSAGES, seconds=_LEASE_SECONDS, items=items):
                points = {one.point_id: self._points(one) for one in claimed}
                lacking += [one for one in claimed if points[one.point_id] is None]
                ready = [one for one in claimed if points[one.point_id] is not None]
                whole = [point for one in ready for point in points[one.point_id] or ()]
                await self.vectors.upsert(whole)
                await self.outbox.settle(ready)
                made += len(whole)
        finally:
            if lacking:
                await self.outbox.postpone(lacking, seconds=0)
        return made

    def _points(self, pending: PendingPoint) -> list[Point] | None:
        """Return the points of a passage and of its statements, None if a vector is missing."""
        model = self.reader.manifest.model
        if pending.kind is not PendingKind.UPSERT or pending.chunk is None:
            return None
        if model is None or not model.has_vectors:
            return []  # a store without vectors: there is nothing to be made
        parts = pending.parts
        rows = self._rows.find([part.point_id for part in parts])
        points = []
        for part, row in zip(parts, rows, strict=True):
            if part.chunk is not None and part.chunk.is_light:
                points.append(light_point(part))
            elif row >= 0:
                array = self._arrays[row % len(self._arrays)]
                points.append(point_of(part, np.array(array[row // len(self._arrays)])))
            else:
                return None
        return points
