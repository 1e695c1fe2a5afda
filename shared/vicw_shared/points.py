"""Text to embed and text for BM25 of a passage or statement, and the point built from both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vicw_shared.model import Label
from vicw_shared.payload import payload_of
from vicw_shared.ports import PendingPoint, Point
from vicw_shared.sparse import encode_document
from vicw_shared.wrapper import wrap


def wrapped(point: PendingPoint) -> str:
    """Return the text to embed for a passage or statement: a passage of one sentence shares its vector."""
    assert point.chunk is not None
    assert point.item is not None
    source = point.text_source
    name = source.title or source.speaker
    return wrap(point.chunk.text or "", domain=point.item.domain, subtype=source.subtype, name=name)


def lexical(point: PendingPoint) -> str:
    """Return the BM25 text of a passage: ``name or speaker: text``."""
    assert point.chunk is not None
    head = point.text_source.title or point.text_source.speaker
    return f"{head}: {point.chunk.text}" if head else point.chunk.text or ""


def light_point(part: PendingPoint) -> Point:
    """Return the point of a passage without a dense vector: it is found by its words only."""
    return Point(part.point_id, None, encode_document(lexical(part)), payload_of(part))


def point_of(part: PendingPoint, vector: NDArray[np.float32]) -> Point:
    """Return the point of a passage or statement. A statement has no sparse vector: its passage has its words."""
    assert part.chunk is not None
    sparse = encode_document(lexical(part)) if part.chunk.label is Label.CHUNK else None
    return Point(part.point_id, vector, sparse, payload_of(part))
