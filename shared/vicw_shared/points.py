"""What is embedded of a passage or a statement, what BM25 sees of it, and the point that both make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vicw_shared.model import Label
from vicw_shared.payload import payload_of
from vicw_shared.ports import PendingPoint, Point
from vicw_shared.sparse import encode_document
from vicw_shared.wrapper import wrap


def wrapped(point: PendingPoint) -> str:
    """Return the text that is embedded for a passage or a statement: a passage of one sentence shares its vector."""
    assert point.chunk is not None
    assert point.item is not None
    told = point.told
    name = told.title or told.speaker
    return wrap(point.chunk.text or "", domain=point.item.domain, subtype=told.subtype, name=name)


def lexical(point: PendingPoint) -> str:
    """Return the text that BM25 sees of a passage: ``name or speaker: text``."""
    assert point.chunk is not None
    head = point.told.title or point.told.speaker
    return f"{head}: {point.chunk.text}" if head else point.chunk.text or ""


def light_point(part: PendingPoint) -> Point:
    """Return the point of a passage that is found by its words alone: nothing of it is embedded."""
    return Point(part.point_id, None, encode_document(lexical(part)), payload_of(part))


def point_of(part: PendingPoint, vector: NDArray[np.float32]) -> Point:
    """Return the point of a passage or of a statement; the latter's words are those of its passage, and found there."""
    assert part.chunk is not None
    sparse = encode_document(lexical(part)) if part.chunk.label is Label.CHUNK else None
    return Point(part.point_id, vector, sparse, payload_of(part))
