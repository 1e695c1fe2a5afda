"""Points: text to embed, text for BM25, and the payload, a cache of the graph that the outbox rewrites.

``PassagePointBuilder`` embeds passages and isolates texts that the embedder fails on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.sparse import encode_document, headed
from vicw_core.index.wrapper import wrap
from vicw_shared.clock import to_ms
from vicw_shared.errors import FatalError, RetryableError, VicwError
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import LIGHT
from vicw_shared.ports import Embedder, Lane, PendingPoint, Point, SparseVector
from vicw_shared.text import fold_case

_PATIENCE = 3
_MAX_COUNTED = 100_000
_ALIVE_SECONDS = 60.0


def payload_of(point: PendingPoint) -> dict[str, object]:
    """Return the payload of a passage, or of a statement in its place. Fields that are None are left out.

    Tags, bucket and about come from the edges of its item, never from its properties; names are case-folded.
    """
    return _payload(point, point.text_source)


def _payload(point: PendingPoint, source: Node) -> dict[str, object]:
    chunk, item = point.chunk, point.item
    assert chunk is not None
    assert item is not None
    instants = {
        "timestamp": source.timestamp,
        "created_at": source.created_at,
        "retired_at": _first(item.retired_at, chunk.retired_at),
        "valid_to": _first(item.valid_to, chunk.valid_to),
        "superseded_at": _first(item.superseded_at, chunk.superseded_at),
        "expires_at": item.expires_at,
    }
    fields: dict[str, object] = {
        "tenant": item.tenant,
        "context": item.context,
        "domain": item.domain,
        "label": chunk.label.value,
        "subtype": source.subtype if chunk.label is Label.CHUNK else chunk.subtype,
        "node_id": chunk.uid,
        "item": item.uid,
        "item_label": item.label.value,
        "flow_id": item.flow_id,
        "tags": [fold_case(tag) for tag in point.tags] or None,
        "bucket": [fold_case(bucket) for bucket in point.buckets] or None,
        "sensitivity": item.sensitivity.value,
        "portable": int(item.portable),  # not a boolean: Edge cannot match one
        "about": [fold_case(name) for name in point.about] or None,
        "source_id": source.source_id,
        "name": source.name,
        "text": chunk.text,
        "importance": source.importance,
        LIGHT: 1 if chunk.is_light else None,
        **{field: to_ms(instant) for field, instant in instants.items() if instant is not None},
    }
    return {field: value for field, value in fields.items() if value is not None}


def _first(*instants: datetime | None) -> datetime | None:
    """Return the earliest known instant: a statement may end before its item does."""
    return min((instant for instant in instants if instant is not None), default=None)


def wrapped(point: PendingPoint) -> str:
    """Return the text to embed for a passage or statement: a passage of one sentence shares its vector."""
    return _wrapped(point, point.text_source)


def _wrapped(point: PendingPoint, source: Node) -> str:
    assert point.chunk is not None
    assert point.item is not None
    name = source.title or source.speaker
    return wrap(point.chunk.text or "", domain=point.item.domain, subtype=source.subtype, name=name)


def _sparse(chunk: Node, source: Node) -> SparseVector:
    return _encoded(headed(source.title or source.speaker, chunk.text or ""))


@lru_cache(maxsize=256)
def _encoded(text: str) -> SparseVector:
    """Encode a passage's words; they are counted soon after its point is made."""
    return encode_document(text)


def sparse_of(part: PendingPoint) -> SparseVector:
    """Return the sparse vector of a passage."""
    assert part.chunk is not None
    return _sparse(part.chunk, part.text_source)


def lexical_point(part: PendingPoint) -> Point:
    """Return the point of a passage without a dense vector: it is found by its words only."""
    return _point(part, part.text_source, None)


def point_of(part: PendingPoint, vector: NDArray[np.float32]) -> Point:
    """Return the point of a passage or statement. A statement has no sparse vector: its passage has its words."""
    return _point(part, part.text_source, vector)


def _point(part: PendingPoint, source: Node, vector: NDArray[np.float32] | None) -> Point:
    assert part.chunk is not None
    has_words = vector is None or part.chunk.label is Label.CHUNK
    sparse = _sparse(part.chunk, source) if has_words else None
    return Point(part.point_id, vector, sparse, _payload(part, source))


def terms_of(part: PendingPoint) -> tuple[int, ...]:
    """Return the distinct terms of a passage, as in its sparse vector; of one that is retired, or proves no item, none.

    These are counted: what a search for the present may find, and nothing twice.
    """
    chunk, item = part.chunk, part.item
    if chunk is None or item is None or chunk.retired_at is not None or item.retired_at is not None:
        return ()
    return _sparse(chunk, part.text_source).indices


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
        sources = {part.point_id: part.text_source for part in parts}
        texts = {part.point_id: _wrapped(part, sources[part.point_id]) for part in parts if part.point_id not in light}
        distinct = list(dict.fromkeys(texts.values()))
        rows = dict(zip(distinct, await self.embedder.embed(distinct, Lane.BULK), strict=True))
        self._embedded_at = time.monotonic()
        return {
            entry: [
                _point(part, sources[part.point_id], rows[texts[part.point_id]] if part.point_id in texts else None)
                for part in entry_parts
            ]
            for entry, entry_parts in parts_by_entry.items()
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
