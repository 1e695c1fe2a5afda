"""Points: text to embed, text for BM25, and the payload, a cache of the graph that the outbox rewrites."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.sparse import encode_document
from vicw_core.index.wrapper import wrap
from vicw_shared.clock import to_ms
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import LIGHT
from vicw_shared.ports import PendingPoint, Point
from vicw_shared.text import fold_case


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
    assert point.chunk is not None
    assert point.item is not None
    source = point.text_source
    name = source.title or source.speaker
    return wrap(point.chunk.text or "", domain=point.item.domain, subtype=source.subtype, name=name)


def _lexical(chunk: Node, source: Node) -> str:
    """Return the BM25 text of a passage: ``name or speaker: text``."""
    head = source.title or source.speaker
    return f"{head}: {chunk.text}" if head else chunk.text or ""


def lexical_point(part: PendingPoint) -> Point:
    """Return the point of a passage without a dense vector: it is found by its words only."""
    return _point(part, None)


def point_of(part: PendingPoint, vector: NDArray[np.float32]) -> Point:
    """Return the point of a passage or statement. A statement has no sparse vector: its passage has its words."""
    return _point(part, vector)


def _point(part: PendingPoint, vector: NDArray[np.float32] | None) -> Point:
    assert part.chunk is not None
    source = part.text_source
    has_words = vector is None or part.chunk.label is Label.CHUNK
    sparse = encode_document(_lexical(part.chunk, source)) if has_words else None
    return Point(part.point_id, vector, sparse, _payload(part, source))
