"""``/admin/vectors``: the vectors of a server's index, which no other process can open."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message

MOST_POINTS = 1000
"""Of one request."""


class VectorsRequest(Message):
    """Points, by their ids."""

    ids: tuple[Id, ...] = Field(max_length=MOST_POINTS, description="UUIDs of passages and statements")


class PointVectors(Message):
    """The vectors of those of the points that have one. ``model`` names the model, as indexes are named after it."""

    model: str
    vectors: dict[str, str] = Field(description="float32, little-endian, in Base64, by the point's id")
