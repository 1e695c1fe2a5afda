"""Point builder: embeds passages, builds their points, and isolates texts that the embedder fails on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from vicw_core.index.points import lexical_point, point_of, wrapped
from vicw_shared.errors import FatalError, RetryableError, VicwError
from vicw_shared.ports import Embedder, Lane, PendingPoint, Point

_PATIENCE = 3
_MAX_COUNTED = 100_000
_ALIVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class BuiltPoints:
    """Points by entry id, and the entries whose text the embedder fails on, with the error message."""

    points: dict[str, list[Point]] = field(default_factory=dict)
    failed: list[tuple[PendingPoint, str]] = field(default_factory=list)


@dataclass(slots=True)
class PassagePointBuilder:
    """Builder of points. Raises a batch's error until repeated failures suggest that one of its texts is at fault."""

    embedder: Embedder
    _joint_failures: dict[str, int] = field(default_factory=dict)
    _embedded_at: float = float("-inf")

    async def make(self, pending: Sequence[PendingPoint]) -> BuiltPoints:
        """Return the points of these entries. Raises the embedder's error if no text is at fault."""
        try:
            result = BuiltPoints(await self._points(pending))
        except FatalError:
            raise  # an operator has to act: no text is at fault
        except VicwError as error:
            if isinstance(error, RetryableError) and not self._should_isolate(pending):
                raise  # the embedder may be down
            result = await self._one_by_one(pending, error)
        for point in pending:
            self._joint_failures.pop(point.point_id, None)
        return result

    def _should_isolate(self, pending: Sequence[PendingPoint]) -> bool:
        """Count a joint failure of these entries. Return whether to embed them one by one to find the cause."""
        if len(self._joint_failures) > _MAX_COUNTED:
            self._joint_failures.clear()
        for point in pending:
            self._joint_failures[point.point_id] = self._joint_failures.get(point.point_id, 0) + 1
        return any(self._joint_failures[point.point_id] > _PATIENCE or point.tries for point in pending)

    async def _points(self, pending: Sequence[PendingPoint]) -> dict[str, list[Point]]:
        parts_by_entry = {point.point_id: point.parts for point in pending}
        parts = [part for parts in parts_by_entry.values() for part in parts]
        light = {part.point_id for part in parts if part.chunk is not None and part.chunk.is_light}
        texts = {part.point_id: wrapped(part) for part in parts if part.point_id not in light}
        distinct = list(dict.fromkeys(texts.values()))
        rows = dict(zip(distinct, await self.embedder.embed(distinct, Lane.BULK), strict=True))
        self._embedded_at = time.monotonic()
        return {
            entry: [
                lexical_point(part) if part.point_id in light else point_of(part, rows[texts[part.point_id]])
                for part in parts
            ]
            for entry, parts in parts_by_entry.items()
        }

    async def _one_by_one(self, pending: Sequence[PendingPoint], error: VicwError) -> BuiltPoints:
        """Embed entries one by one, so that texts the embedder fails on do not block the others."""
        result = BuiltPoints()
        for point in pending:
            try:
                result.points.update(await self._points([point]))
            except VicwError as failure:
                result.failed.append((point, str(failure)))
                if len(result.failed) > _PATIENCE and self._is_embedder_down(failure, result):
                    raise
        if self._is_embedder_down(error, result):
            raise error
        return result

    def _is_embedder_down(self, error: VicwError, result: BuiltPoints) -> bool:
        """Return whether the embedder is down rather than a text at fault: nothing was embedded for a minute."""
        silent = time.monotonic() - self._embedded_at > _ALIVE_SECONDS
        return isinstance(error, RetryableError) and not result.points and silent
